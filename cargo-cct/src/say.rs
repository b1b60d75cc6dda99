//! What is said to the user, on standard error: cargo and the tests have standard output.

#![expect(
    clippy::print_stderr,
    clippy::print_stdout,
    reason = "a command-line program"
)]

use std::fmt::Display;

/// What goes on, or went on.
pub(crate) fn note(text: impl Display) {
    eprintln!("cargo cct: {text}");
}

/// An error with its causes, the last thing that is said.
pub(crate) fn error(error: &anyhow::Error) {
    eprintln!("cargo cct: error: {error:#}");
}

/// A result that was asked for.
pub(crate) fn result(text: impl Display) {
    println!("{text}");
}
