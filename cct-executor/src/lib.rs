//! Controlled concurrency testing for tokio-style Rust.
//!
//! A test runs many times, each time in a new deterministic world. Which task goes on, whether a
//! timer fires, which future is cancelled, which branch `select!` polls first: every unknown is a
//! choice of a search strategy (see [`strategy`]). A schedule that fails becomes a token that brings
//! the same failure back, with an account of what happened.
//!
//! ```
//! use cct_executor::task::yield_now;
//! use cct_executor::{Checker, spawn};
//! use std::sync::Arc;
//! use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
//!
//! async fn sell(tickets: Arc<AtomicU32>) -> bool {
//!     if tickets.load(SeqCst) == 0 {
//!         return false;
//!     }
//!     yield_now().await; // stands for charging the card
//!     tickets.fetch_sub(1, SeqCst);
//!     true
//! }
//!
//! let report = Checker::new().run(|| async {
//!     let tickets = Arc::new(AtomicU32::new(1));
//!     let one = spawn(sell(tickets.clone()));
//!     let two = spawn(sell(tickets));
//!     assert!(!(one.await.unwrap() && two.await.unwrap()), "sold twice");
//! });
//! let failure = report.failure().expect("some schedule sells the ticket twice");
//! println!("{}", report.text());
//!
//! // The same schedule again. A user would write `CCT_REPLAY=c1-... cargo test`.
//! let token = failure.token.clone();
//! assert_eq!(token.to_string().parse(), Ok(token));
//! ```
//!
//! # Where to begin
//!
//! - [`#[test]`](macro@test) makes a test of an `async fn`; [`Checker`] does the same as a value.
//! - [`spawn`], [`task`], [`time`], [`select!`], [`join!`], [`try_join!`] and [`task_local!`] have
//!   tokio's names and semantics. Channels and locks are in the crate `cct-sync`.
//! - [`nondet`] draws values, [`cancellable`] lets the search cancel a future, [`always!`] and
//!   [`sometimes!`] state properties, [`observe()`] makes states differ.
//! - [`Granularity`] says where scheduling points lie, [`Clock`] when virtual time may move.
//! - [`strategy`] has the strategies, [`shim`] what primitives are built from, [`words`] the values
//!   that all of them share.
//!
//! `docs/reference.md` has every option, strategy and `CCT_*` variable; `ARCHITECTURE` says how it works.
//!
//! # What it does not do
//!
//! Networks and disks are in the crate `cct-net`. Primitives of `std` are no scheduling points
//! ([`nondet::point`] is one). The order of a `HashMap`, `rand` and the clocks of `std` follow from the
//! seed and virtual time on Linux only; elsewhere the determinism check finds it when they matter. Memory
//! is sequentially consistent. Threads and I/O of the operating system are not controlled; a wake-up from
//! there is reported.

mod execution;
mod explore;
mod macros;
pub mod node;
pub mod nondet;
pub mod observe;
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

pub use cct_macros::{main, test};
pub use execution::harvest::{Sightings, TimeLimit};
pub use explore::{
    AtAwait, Checker, Coverage, Departure, FailureReport, InOrder, Isolation, Origin, Report,
    Shortened, StoppedBy,
};
pub use observe::observe;
pub use task::body::ScenarioResult;
pub use task::{cancellable, spawn};
pub use words::{Clock, Granularity, Limits, Seed};
