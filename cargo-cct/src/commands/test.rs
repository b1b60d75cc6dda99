//! `cargo cct test`, `cargo cct nextest` and `cargo cct replay`.

use crate::arguments::Arguments;
use crate::atomics;
use crate::interrupt;
use crate::profile;
use crate::session::{Patched, Session};
use anyhow::{Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::Path;
use std::process::{Command, ExitCode, ExitStatus};

/// Runs `cargo test` with ours in the place of tokio. With a token, its schedule only.
pub(crate) fn test(arguments: Vec<OsString>, token: Option<OsString>) -> Result<ExitCode> {
    run(&["test".into()], arguments, token)
}

/// Runs a command of `cargo nextest` with ours in the place of tokio.
pub(crate) fn nextest(mut arguments: Vec<OsString>) -> Result<ExitCode> {
    let names_one = |first: &OsString| !first.to_string_lossy().starts_with('-');
    if !arguments.first().is_some_and(names_one) {
        bail!("nextest has commands of its own: say `cargo cct nextest run`");
    }
    let command = arguments.remove(0);
    run(&["nextest".into(), command], arguments, None)
}

fn run(what: &[OsString], rest: Vec<OsString>, token: Option<OsString>) -> Result<ExitCode> {
    let session = Session::open(Arguments::read(rest)?)?;
    let patched = session.patch()?;
    let mut command = cargo_test(what, &session, &patched)?;
    if let Some(token) = token {
        command.env("CCT_REPLAY", from_anywhere(token));
    }
    let status = session.cargo.run(command)?;
    patched.end()?;
    Ok(interrupt::code().unwrap_or_else(|| code(status)))
}

fn cargo_test(what: &[OsString], session: &Session, patched: &Patched<'_>) -> Result<Command> {
    let mut command = session.cargo.command(what);
    for option in profile::options(&session.project) {
        command.arg("--config").arg(option);
    }
    command.args(patched.options());
    // What was looked at a moment ago is what is built.
    if !session.arguments.locked {
        command.arg("--locked");
    }
    // Plain `cargo test` would run on tokio itself, and pass.
    if session.arguments.atomics {
        atomics::instrument(&mut command, session)?;
        command.env("CARGO_TARGET_DIR", session.place.join("build-atomics"));
        command.env("CCT_REPLAY_WITH", "cargo cct replay --atomics");
    } else {
        command.env("CARGO_TARGET_DIR", session.place.join("build"));
        command.env("CCT_REPLAY_WITH", "cargo cct replay");
    }
    command.args(&session.arguments.passed_on);
    // The project's tests pass without us, so those that build a runtime themselves are not to fail.
    if !is_set("CCT_PLAIN_TESTS") {
        command.env("CCT_PLAIN_TESTS", "explore");
    }
    Ok(command)
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user's own choice is passed on, and not looked at"
)]
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// Tests run in the folders of their packages, so a file with a token needs its whole path.
fn from_anywhere(token: OsString) -> OsString {
    let file = token.to_str().and_then(|token| token.strip_prefix('@'));
    match file.map(|file| std::path::absolute(Path::new(file))) {
        Some(Ok(path)) => {
            let mut whole = OsStr::new("@").to_owned();
            whole.push(path);
            whole
        }
        _ => token,
    }
}

/// Cargo's own code; as shells have it, where a signal has ended cargo.
fn code(status: ExitStatus) -> ExitCode {
    let code = status.code().and_then(|code| u8::try_from(code).ok());
    ExitCode::from(code.unwrap_or_else(|| signal(status)))
}

#[cfg(unix)]
fn signal(status: ExitStatus) -> u8 {
    use std::os::unix::process::ExitStatusExt as _;
    let signal = status.signal().and_then(|signal| u8::try_from(signal).ok());
    signal.map_or(101, |signal| signal.saturating_add(128))
}

#[cfg(not(unix))]
fn signal(_status: ExitStatus) -> u8 {
    101
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nextest_needs_a_command_of_its_own() {
        for arguments in [vec![], vec!["--workspace".into()]] {
            let error = nextest(arguments).expect_err("which one?");
            assert!(error.to_string().contains("nextest run"), "{error}");
        }
    }
}
