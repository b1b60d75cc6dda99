//! `tokio::io`: its own traits and utilities, and what of the rest a world has.
//!
//! - Streams in memory have scheduling points besides. What copies, and what is always ready, spends budget.
//! - What is written to [`stdout`] and [`stderr`] is printed as by `print!` and `eprint!`, so that the test
//!   harness captures it. As in tokio a write is on its way until a flush.
//! - [`stdin`] cannot be read, nor can [`unix::AsyncFd`] watch a descriptor: what comes from there is no
//!   decision of the world. Both say so in an error of the kind `Unsupported`.

mod always;
mod copy;
mod memory;
pub(crate) mod output;
mod standard;
#[cfg(unix)]
pub mod unix;

pub use always::{Empty, Repeat, Sink, empty, repeat, sink};
pub use cct_net::io::{Interest, Ready};
pub use copy::{copy, copy_bidirectional, copy_bidirectional_with_sizes, copy_buf};
pub use memory::{DuplexStream, SimplexStream, duplex, simplex};
pub use real_tokio::io::*;
pub use standard::{Stderr, Stdin, Stdout, stderr, stdin, stdout};
