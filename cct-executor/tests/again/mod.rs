//! A test without an attribute, in a process of its own in which such tests are run.

use std::process::{Command, Output};

const VARIABLE: &str = "CCT_PLAIN_TESTS";

/// Runs a test of this program anew, with plain tests run in this way and these variables; or all whose names contain
/// this, if it ends so as no name does.
pub(crate) fn again(test: &str, how: &str, variables: &[(&str, &str)]) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("a test binary"));
    if !test.ends_with('_') {
        command.arg("--exact");
    }
    command.args([test, "--include-ignored", "--nocapture"]);
    command.env(VARIABLE, how);
    command.env("RUST_BACKTRACE", "0");
    command.envs(variables.iter().copied());
    command.output().expect("a process")
}

/// Whether this process was started by [`again`].
#[expect(
    clippy::disallowed_methods,
    reason = "what the process was started for"
)]
pub(crate) fn is_again() -> bool {
    std::env::var_os(VARIABLE).is_some()
}

/// What it printed.
pub(crate) fn said(output: &Output) -> String {
    let text = |bytes| String::from_utf8_lossy(bytes).into_owned();
    text(&output.stdout) + &text(&output.stderr)
}
