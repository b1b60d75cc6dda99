//! Controlled concurrency testing for tokio-style Rust.

mod execution;
mod explore;
mod macros;
pub mod nondet;
mod raw;
pub mod report;
pub mod runtime;
pub mod shim;
pub mod strategy;
pub mod task;
pub mod time;
pub mod words;

#[doc(hidden)]
#[path = "private.rs"]
pub mod __private;

pub use cct_macros::test;
pub use explore::{Checker, FailureReport, Isolation, Report};
pub use nondet::observe;
pub use task::body::ScenarioResult;
pub use task::{cancellable, spawn};
pub use words::{Clock, Granularity, Limits, Seed};
