//! `--atomics`: code that tells cct of each atomic operation.
//!
//! LLVM can put a call in the place of every atomic instruction, as its ThreadSanitizer needs it; `cct-interpose`
//! has what is called. The pass is asked for by options that a stable compiler takes. They are not for all
//! packages, so this program stands between cargo and the compiler (`RUSTC_WRAPPER`) and adds them to some calls
//! (`compiler`).

mod compiler;

pub(crate) use compiler::compile;

use crate::arguments::Arguments;
use crate::session::Session;
use anyhow::{Context as _, Result, bail};
use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Says to this program that cargo calls it in the place of the compiler; its value is another such program, which
/// the user has put there, or nothing.
const WRAPS: &str = "CARGO_CCT_WRAPS";
const WRAPPER: &str = "RUSTC_WRAPPER";
/// Says that code is to tell of its atomic operations. Names a library with what is called, for programs that cct is no part
/// of.
const PLAIN: &str = "CARGO_CCT_PLAIN";
const PLAIN_SOURCE: &str = "cct-executor/interpose/src/symbols/atomics/plain.rs";

/// Whether tests that have passed without may fail with it, on a system where there is any.
pub(crate) fn may_find_more(arguments: &Arguments) -> bool {
    let possible =
        cfg!(all(target_os = "linux", target_env = "gnu")) && arguments.targets.is_empty();
    possible && !arguments.atomics && arguments.runs_tests()
}

/// Has the crates of a build tell of their atomic operations, and the tests interleave them.
pub(crate) fn instrument(command: &mut Command, session: &Session) -> Result<()> {
    let host = session.cargo.host()?;
    let can = |target: &str| {
        let (linux, gnu) = (target.contains("-linux-"), target.ends_with("-gnu"));
        let known = ["x86_64-", "aarch64-"]
            .iter()
            .any(|arch| target.starts_with(arch));
        linux && gnu && known
    };
    match &session.arguments.targets[..] {
        [] if can(&host) => drop(command.args(["--target", &host])),
        [one] if one.to_str().is_some_and(can) => {}
        _ => bail!(
            "`--atomics` takes Linux with the GNU C library on x86-64 or AArch64, and one target at most"
        ),
    }
    stand_between(command)?;
    let plain = plain(session)?;
    let (name, flags) = doc_flags(&link_option(plain.as_os_str()));
    command.env(name, flags).env(PLAIN, plain);
    Ok(())
}

/// Has cargo call this program in the place of the compiler.
pub(crate) fn stand_between(command: &mut Command) -> Result<()> {
    let this = std::env::current_exe().context("cannot find this program")?;
    let before = variable(WRAPPER).unwrap_or_default();
    command.env(WRAPPER, this).env(WRAPS, before);
    Ok(())
}

/// An option for tests in documentation, which are linked without this program's help, after those that the user has
/// for them.
fn doc_flags(option: &OsStr) -> (&'static str, OsString) {
    let names = [
        ("CARGO_ENCODED_RUSTDOCFLAGS", "\u{1f}"),
        ("RUSTDOCFLAGS", " "),
    ];
    let given = |&(name, between)| Some((name, between, variable(name)?));
    let found = names.iter().find_map(given);
    let (name, between, mut flags) = found.unwrap_or((names[0].0, names[0].1, OsString::new()));
    if !flags.is_empty() {
        flags.push(between);
    }
    flags.push(option);
    (name, flags)
}

fn link_option(library: &OsStr) -> OsString {
    let mut option = OsString::from("-Clink-arg=");
    option.push(library);
    option
}

/// Has the library made for programs without cct.
fn plain(session: &Session) -> Result<PathBuf> {
    let folder = session.place.join("plain-atomics");
    std::fs::create_dir_all(&folder)
        .with_context(|| format!("cannot make the folder `{}`", folder.display()))?;
    let library = folder.join("libcct_plain_atomics.rlib");
    let compiler = variable("RUSTC").unwrap_or_else(|| "rustc".into());
    let mut command = Command::new(&compiler);
    command
        .args([
            "--edition=2024",
            "--crate-type=rlib",
            "--crate-name=cct_plain_atomics",
            "-O",
        ])
        .args(
            session
                .arguments
                .targets
                .iter()
                .flat_map(|target| [OsStr::new("--target"), target]),
        )
        .arg("-o")
        .arg(&library)
        .arg(session.root().join(PLAIN_SOURCE));
    let status = command
        .status()
        .with_context(|| format!("cannot run `{}`", Path::new(&compiler).display()))?;
    if !status.success() {
        bail!(
            "`{}` cannot compile `{PLAIN_SOURCE}` of cct",
            Path::new(&compiler).display()
        );
    }
    Ok(library)
}

#[expect(
    clippy::disallowed_methods,
    reason = "it is about the build; it has nothing to do with a world"
)]
pub(crate) fn variable(name: &str) -> Option<OsString> {
    std::env::var_os(name)
}
