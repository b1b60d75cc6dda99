//! Runs ONE iteration: the step loop, the task table, wakers, timers, the clock, blocking,
//! quiescence, limits, teardown.
//!
//! Knows no strategy (only a [`Decider`]), no environment variable, no output.
//!
//! 1. One thread per execution, one step loop, one thread-local ([`world::WORLD`]).
//! 2. Time moves in one place ([`timers`], `Core::advance_to`).
//! 3. The core is never borrowed while user code runs.
//!
//! Read next: [`core`] (the tables), [`decide`] (the enabled set and the decision), [`step`] (the
//! loop), [`point`] (decisions inside polls), [`suspend`] (polls that stand still meanwhile),
//! [`close`] (teardown).

mod at_point;
pub(crate) mod atomics;
pub(crate) mod cancel;
pub(crate) mod choice;
pub(crate) mod close;
pub(crate) mod core;
pub(crate) mod decide;
pub(crate) mod decider;
mod fair;
pub(crate) mod futex;
pub(crate) mod group;
pub(crate) mod harvest;
pub(crate) mod helpers;
pub(crate) mod hooks;
pub(crate) mod last_words;
pub(crate) mod locals;
pub(crate) mod lone;
pub(crate) mod machine;
mod nested_groups;
pub(crate) mod nodes;
mod origins;
pub(crate) mod outsiders;
mod own_clocks;
pub(crate) mod panics;
pub(crate) mod paths;
mod pending;
pub(crate) mod point;
mod quiet;
pub(crate) mod record;
pub(crate) mod resources;
mod rests;
pub(crate) mod run;
pub(crate) mod runtimes;
pub(crate) mod sites;
pub(crate) mod sketch;
mod sleeps;
pub(crate) mod source;
mod spans;
pub(crate) mod spawn;
pub(crate) mod spin;
pub(crate) mod stacks;
mod stands;
pub(crate) mod standstill;
pub(crate) mod step;
pub(crate) mod strangers;
pub(crate) mod suspend;
mod sync_point;
pub(crate) mod system;
pub(crate) mod tasks;
pub(crate) mod thread_yield;
pub(crate) mod timers;
pub(crate) mod waker;
mod wakers;
pub(crate) mod waypoints;
pub(crate) mod world;
pub(crate) mod yields;

// For iterations that have a process of their own: `explore` has no door to `raw`.
#[cfg(unix)]
pub(crate) use crate::raw::fork;
pub(crate) use crate::raw::room;
pub(crate) use decider::{Decider, Stop};
pub(crate) use record::Detail;
