//! `cargo cct test`, `cargo cct nextest` and `cargo cct replay`.

use crate::arguments::Arguments;
use crate::atomics;
use crate::interrupt;
use crate::profile;
use crate::say;
use crate::session::{Patched, Session};
use crate::unstable;
use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::io;
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
    let token = token.map(checked).transpose()?;
    let session = Session::open(Arguments::read(rest)?)?;
    let patched = session.patch()?;
    let mut command = cargo_test(what, &session, &patched)?;
    let taken = session.place.join("replay-taken");
    let is_replay = token.is_some();
    if let Some(token) = token {
        remove_if_there(&taken)?;
        command.env("CCT_REPLAY", token);
        command.env("CCT_REPLAY_TAKEN", &taken);
    }
    let status = session.cargo.run(command)?;
    patched.end()?;
    if let Some(code) = interrupt::code() {
        return Ok(code);
    }
    // Cargo is content where no test has the name that was given.
    if is_replay && status.success() && !taken.exists() {
        bail!(
            "no test has taken the token, so nothing was replayed: name the package and the test as the report's \
             command does"
        );
    }
    let is_run = what
        .last()
        .is_some_and(|last| last == "test" || last == "run");
    if status.success() && !is_replay && is_run && atomics::may_find_more(&session.arguments) {
        say::note(
            "in these runs tasks interleaved at tokio's operations; `cargo cct test --atomics` has them interleave at \
             locks of std, in other crates' channels and at atomics as well",
        );
    }
    Ok(code(status))
}

fn remove_if_there(file: &Path) -> Result<()> {
    match std::fs::remove_file(file) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("{} cannot be removed", file.display()))
        }
        _ => Ok(()),
    }
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
    } else {
        // Where cargo begins to look, also if it is told of a manifest elsewhere.
        if std::env::current_dir().is_ok_and(|folder| unstable::is_set(&folder)) {
            atomics::stand_between(&mut command)?;
            say::note(
                "`tokio_unstable` is not set for the compiler: what it asks tokio for, cct has none of",
            );
        }
        command.env("CARGO_TARGET_DIR", session.place.join("build"));
    }
    command.env("CCT_REPLAY_WITH", replay_with(&session.arguments));
    command.args(&session.arguments.passed_on);
    // The project's tests pass without us, so those that build a runtime themselves are not to fail.
    if !is_set("CCT_PLAIN_TESTS") {
        command.env("CCT_PLAIN_TESTS", "explore");
    }
    Ok(command)
}

/// What reports name before the token: with it a schedule is replayed by the same cct, in the same kind of build.
fn replay_with(arguments: &Arguments) -> OsString {
    let mut command = OsString::from("cargo cct replay");
    if arguments.atomics {
        command.push(" --atomics");
    }
    if let Some(folder) = &arguments.cct {
        command.push(" --cct ");
        command.push(folder);
    }
    command
}

#[expect(
    clippy::disallowed_methods,
    reason = "the user's own choice is passed on, and not looked at"
)]
fn is_set(variable: &str) -> bool {
    std::env::var_os(variable).is_some()
}

/// A token that may be one, before anything is built for it. Tests run in the folders of their packages, so a file
/// with a token needs its whole path.
fn checked(token: OsString) -> Result<OsString> {
    let file = token.to_str().and_then(|token| token.strip_prefix('@'));
    let Some(file) = file else {
        let begins = token.to_string_lossy();
        let begins = begins.trim_start().strip_prefix('c');
        let version = begins
            .and_then(|rest| rest.split_once('-'))
            .map(|(version, _)| version);
        if version.is_none_or(|version| version.parse::<u32>().is_err()) {
            bail!(
                "`{}` is no token: `cargo cct replay` takes first the token, which begins with `c1-`, or `@` and a \
                 file that holds it, and then what `cargo test` takes",
                token.to_string_lossy()
            );
        }
        return Ok(token);
    };
    let file = std::path::absolute(Path::new(file))
        .and_then(|file| std::fs::metadata(&file).map(|_| file))
        .with_context(|| format!("the file with the token cannot be read: {file}"))?;
    let mut whole = OsStr::new("@").to_owned();
    whole.push(file);
    Ok(whole)
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
    fn what_is_no_token_is_told_before_anything_is_built() {
        for wrong in ["a_test", "c-1", "cx-", ""] {
            let error = checked(wrong.into()).expect_err(wrong).to_string();
            assert!(
                error.starts_with(&format!("`{wrong}` is no token: ")),
                "{error}"
            );
        }
        let error = checked("@missing".into()).expect_err("no such file");
        assert!(
            error.to_string().ends_with("cannot be read: missing"),
            "{error}"
        );
        assert_eq!(checked("c1-abc".into()).expect("who knows"), "c1-abc");
    }

    #[test]
    fn nextest_needs_a_command_of_its_own() {
        for arguments in [vec![], vec!["--workspace".into()]] {
            let error = nextest(arguments).expect_err("which one?");
            assert!(error.to_string().contains("nextest run"), "{error}");
        }
    }
}
