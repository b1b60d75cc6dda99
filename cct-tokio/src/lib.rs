//! tokio's paths over cct's deterministic world: what is written for tokio is tested without a change.
//!
//! In the package under test:
//!
//! ```toml
//! [dependencies]
//! tokio = { package = "cct-tokio", version = "0.1" }
//! ```
//!
//! Every `tokio::` path then leads here, `#[tokio::test]` and `#[tokio::main]` included. Crates that come from
//! elsewhere keep the real tokio this way, of which only the parts that need no runtime work in a world. The
//! command `cargo cct test` puts this crate in the place of tokio for all crates of a program, and changes
//! nothing in it.
//!
//! ```
//! # extern crate cct_tokio as tokio;
//! use tokio::sync::oneshot;
//! use tokio::time::{Duration, timeout};
//!
//! #[tokio::main] // explored, as a `#[tokio::test]` is
//! async fn main() {
//!     let (answer, asked) = oneshot::channel();
//!     tokio::spawn(async move { answer.send(42) });
//!     assert_eq!(timeout(Duration::from_secs(1), asked).await, Ok(Ok(42)));
//! }
//! ```
//!
//! # What is whose
//!
//! - `task`, `time`, `runtime`, [`select!`], [`join!`] and the attributes are [`cct_executor`]'s, [`sync`] is
//!   [`cct_sync`], [`net`] and [`signal`] are [`cct_net`]'s. What differs from tokio is said there.
//! - [`fs`] is the machine's files. [`process`] starts processes of the machine's in tests that are run once; elsewhere it
//!   says what to do instead.
//! - The traits and utilities of [`io`] are tokio's own, so that streams are what other crates ask for. Its streams
//!   in memory have scheduling points, and cost budget as they do on tokio's runtimes.
//!
//! All features of tokio are on. What belongs to tokio's own insides, or shows what a world does not have
//! (dumps, hooks of threads, what takes `tokio_unstable`), does not exist.

pub mod fs;
pub mod io;
pub mod net;
mod pool;
pub mod process;
mod raw;
#[cfg(unix)]
mod watched;

#[doc(hidden)]
pub use cct_executor as __cct;
pub use cct_executor::{join, pin, runtime, select, spawn, task, task_local, time, try_join};
pub use cct_macros::{tokio_main as main, tokio_test as test};
pub use cct_net::signal;
pub use cct_sync as sync;
