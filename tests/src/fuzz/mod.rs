//! Random scripts of single operations, run on tokio and on ours.
//!
//! A script is a list of [`Act`]s, each three random bytes. The interpreters under `scripts/` are
//! compiled once for each side, as contracts are: they create futures, poll them with wakers that
//! tell who was woken, drop them, call everything that does not wait, and write down all that can be
//! seen after each act. Nobody says what is right: the two diaries must be equal.
//!
//! A script is one task, so there is nothing to choose and every granularity must agree; scripts that
//! spawn are compared [in one order](Worlds::Fifo). Where tokio leaves the order of wakes open the diary
//! is [in no order](Stage::in_no_order).
//!
//! [Sockets](Worlds::Net) of tokio are real ones. Between two acts both sides are given the time it takes
//! until what was sent has arrived and tasks have heard of it; what hangs on the sizes of the kernel's
//! buffers is not written down, and a script that differs is played again with more time.
//!
//! When diaries differ, acts are left out while they still do, and what is left is shown beside what
//! both sides wrote.

mod lent;
mod place;
mod script;
mod sides;
mod stage;
mod value;

pub use lent::{Home, Lent};
pub use place::Place;
pub use script::{Act, Script};
pub use sides::{Worlds, compare, settle_on_tokio};
pub use stage::{Stage, Turn, then};
pub use value::Value;
