//! tokio's names, cct's tasks, time, channels and locks.
//!
//! A crate that was written for tokio, and needs neither its sockets nor its files, runs on cct unchanged
//! where this takes tokio's place (`[patch.crates-io]`). So its own channels and locks are scheduling
//! points, and its time is virtual.

pub use cct_executor::{
    join, main, pin, runtime, select, spawn, task, task_local, test, time, try_join,
};
#[cfg(feature = "signal")]
pub use cct_net::signal;
pub use cct_sync as sync;
