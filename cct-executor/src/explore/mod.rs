//! Runs MANY iterations: the checker, its workers, replay, the determinism check, the watchdog,
//! remembered failures. The only reader of `CCT_*` variables ([`env`]).
//!
//! (And once where nobody can run the code again: [`lone`].)
//!
//! Failure is a value: [`Checker::run`] returns a [`Report`], and only
//! [`Report::assert_passed`] panics.
//!
//! 1. The results of a run do not depend on the number of workers.
//! 2. Nothing here decides anything inside an iteration.

pub(crate) mod any_scenario;
pub(crate) mod apart;
mod at_await;
mod board;
mod campaign;
mod checker;
mod circling;
mod determinism;
mod driver;
mod endless;
pub(crate) mod env;
mod explain;
pub(crate) mod fn_main;
mod hang;
mod knowledge;
mod lasting;
pub(crate) mod lone;
mod patience;
mod processor;
pub(crate) mod regressions;
mod replay;
mod result;
mod same;
mod shrink;
pub(crate) mod started;
pub(crate) mod testcase;
mod trace_log;
mod unfinished;
mod watched;
mod worker;

/// What the names of threads begin with that run iterations, as others know them.
pub(crate) const THREAD_NAMES: &str = "cct-";

/// A thread that runs iterations. It has the name of this one, as a harness calls that after its test, and tests call
/// what is their own after their threads.
#[expect(
    clippy::disallowed_methods,
    reason = "outside of worlds, and nothing is decided by it"
)]
fn thread_of_test(what: &str) -> std::thread::Builder {
    let name = std::thread::current().name().map(str::to_owned);
    std::thread::Builder::new().name(name.unwrap_or_else(|| format!("{THREAD_NAMES}{what}")))
}

pub use checker::{Checker, Isolation};
pub use result::{
    AtAwait, Coverage, Departure, FailureReport, InOrder, Origin, Report, Shortened, StoppedBy,
};
