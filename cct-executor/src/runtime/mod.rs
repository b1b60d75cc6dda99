//! Runtimes and handles to them, under tokio's names.
//!
//! A scenario is a runtime itself, the world's: there is none to build for a test that is an
//! `async fn`. Code that builds its own, as a synchronous interface to an asynchronous library does,
//! builds it inside the world. Give its test the attribute and leave out the `async`:
//!
//! ```
//! use cct_executor::{Checker, runtime, task};
//!
//! // What `#[cct_executor::test] fn adds() { .. }` does with its body.
//! let report = Checker::new().iterations(20).run(|| async {
//!     let body = task::spawn_blocking(|| {
//!         let runtime = runtime::Builder::new_current_thread().enable_all().build().unwrap();
//!         let one = runtime.spawn(async { 1 });
//!         assert_eq!(runtime.block_on(one).unwrap(), 1);
//!     });
//!     body.await.unwrap();
//! });
//! report.assert_passed();
//! ```
//!
//! A program whose `main` has the attribute is a scenario itself, and run many times in one process. What it sets up for
//! all of the process fails the second time then. Such a failure, which does not come in a process of its own, is none:
//!
//! ```
//! use cct_executor::task::yield_now;
//! use std::sync::OnceLock;
//!
//! static NAME: OnceLock<&str> = OnceLock::new();
//!
//! #[cct_executor::main]
//! async fn main() {
//!     NAME.set("example").expect("a process has one name");
//!     yield_now().await;
//! }
//! ```
//!
//! Outside of worlds no runtime is built, unless `CCT_PLAIN_TESTS` asks for it: then code that builds one has a world
//! around it until its last runtime is dropped, and is run once, in plain order; with `explore` that comes after
//! processes that run the whole test in other orders. On Linux that goes for all threads but those that were started in a
//! world which is to be repeated; on other systems for those with a name, as harnesses give them to the threads of
//! tests; and not on Windows.

pub(crate) mod abroad;
mod builder;
mod built;
mod handle;
pub(crate) mod hooks;
mod local;
mod metrics;
mod shutdown;

pub use builder::Builder;
pub use built::Runtime;
pub use handle::{EnterGuard, Handle, Id, RuntimeFlavor, TryCurrentError};
pub use local::{LocalOptions, LocalRuntime};
pub use metrics::{RuntimeMetrics, worker_index};
pub use shutdown::is_rt_shutdown_err;
