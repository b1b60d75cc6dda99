//! `tokio::process`: commands, which can be put together and not run.
//!
//! When a process of the machine writes and ends is no decision of the world, so tests that wait for one
//! cannot be deterministic. Starting one is an error of the kind `Unsupported`, which says what to do:
//! code under test that starts processes needs something that a test can put in their place. Processes of a
//! simulated system are nodes, see [`cct_executor::node`].

mod child;
mod command;

pub use child::{Child, ChildStderr, ChildStdin, ChildStdout};
pub use command::Command;

use std::io;

fn outside_of_the_world(what: impl std::fmt::Display) -> io::Error {
    cct_net::machine::was_asked_for(&what);
    let text = format!(
        "cct: {what} is not supported: processes of the machine are outside of a deterministic world. Give \
         the code under test a way to do without, such as a trait with a double for tests, or run what the \
         process does on a node of the world"
    );
    io::Error::new(io::ErrorKind::Unsupported, text)
}
