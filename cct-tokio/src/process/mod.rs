//! `tokio::process`: processes of the machine, in tests that are run once.
//!
//! When a process of the machine writes and ends is no decision of the world, so tests that wait for one
//! cannot be deterministic. While a test is explored, starting one is an error of the kind `Unsupported`, which says
//! what to do: code under test that starts processes needs something that a test can put in their place. Processes of a
//! simulated system are nodes, see [`cct_executor::node`].
//!
//! A test that fails for this is run once instead, on Linux and with `cargo cct test`, as one in which threads take part
//! (see [`runtime`](cct_executor::runtime)): there processes are the machine's. What they do is looked for every
//! millisecond while nothing else goes on, and time is the machine's as long as one runs.

mod child;
mod command;
#[cfg(not(unix))]
mod nowhere;
#[cfg(unix)]
mod running;

pub use child::{Child, ChildStderr, ChildStdin, ChildStdout};
pub use command::Command;

#[cfg(not(unix))]
use nowhere::{Pipe, Running};
#[cfg(unix)]
use running::{Pipe, Running};
use std::io;

fn outside_of_the_world(what: impl std::fmt::Display) -> io::Error {
    cct_net::machine::was_asked_for(&what);
    cct_executor::shim::machine_is_refused(&what);
    let text = format!(
        "cct: {what} is not supported: processes of the machine are outside of a deterministic world. Give \
         the code under test a way to do without, such as a trait with a double for tests, or run what the \
         process does on a node of the world"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}
