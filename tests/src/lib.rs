//! The contract suite: what tokio promises, written once and run against tokio and against ours.
//!
//! A contract is an `async fn(Log)`. It asserts, and it notes what it saw. Each file under
//! `contracts/` is included once for each side, and takes everything it tests from
//! `super::rt`. What it notes must be the same in every run, on all sides.
//!
//! The kind of a contract (see [`sync_contracts!`]) says for which schedules that holds:
//!
//! - `any`: for every schedule of a multi-threaded runtime, and whatever the clock does;
//! - `clock`: for every schedule, under a paused clock;
//! - `multi`: as `any`, but it blocks threads in ways only a multi-threaded runtime allows;
//! - `fifo`: only where tasks run in the order in which they were woken.

pub mod cct_side;
mod contract;
pub mod fuzz;
mod list;
mod log;
pub mod spawns;
pub mod tokio_side;
pub mod tools;

pub use log::Log;
