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
//! When diaries differ, acts are left out while they still do, and what is left is shown beside what
//! both sides wrote.

mod lent;
mod script;
mod sides;
mod stage;
mod value;

pub use lent::{Home, Lent};
pub use script::{Act, Script};
pub use sides::{Worlds, compare};
pub use stage::{Stage, Turn, then};
pub use value::Value;
