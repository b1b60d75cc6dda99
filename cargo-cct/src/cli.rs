//! The command line: what there is to ask for.

use crate::commands;
use crate::doctor::doctor;
use crate::say;
use anyhow::Result;
use clap::error::ErrorKind;
use clap::{Args, CommandFactory as _, Parser, Subcommand};
use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

const NOTE: &str = "\
All take cargo's own options --manifest-path, --features, --target, --offline, --locked..., and
  --cct PATH    where a checkout of cct is, if not where this command was built from
  --atomics     build so that tasks also interleave at atomic operations, and so in locks and channels of other
                crates; on Linux

Variables such as CCT_ITERATIONS and CCT_STRATEGY are for the tests, and pass through.";

/// Tests of a project that uses tokio, under controlled concurrency, without a change to it.
#[derive(Parser)]
#[command(name = "cargo-cct", bin_name = "cargo cct", version, after_help = NOTE)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// `cargo test`, with cct in the place of tokio for all crates
    #[command(after_help = NOTE)]
    Test(ForCargo),
    /// The same with `cargo nextest`, of which the first argument is a command: `run`, most often
    #[command(after_help = NOTE)]
    Nextest(ForCargo),
    /// `cargo test` with one schedule only, that of a token from a report
    #[command(after_help = NOTE)]
    Replay {
        /// The token, or `@` and a file that holds one
        token: OsString,
        #[command(flatten)]
        rest: ForCargo,
    },
    /// Write the folder that stands in for tokio, for a `[patch]` in Cargo.toml
    Patch {
        /// The folder to write
        #[arg(long, value_name = "DIR")]
        out: PathBuf,
        #[command(flatten)]
        rest: ForCargo,
    },
    /// Say who reaches the real tokio, and what else a world does not control
    #[command(after_help = NOTE)]
    Doctor(ForCargo),
}

/// All that follows, cargo's options among it, as it stands.
#[derive(Args)]
struct ForCargo {
    /// What `cargo test` takes, the names of tests among it
    #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
    args: Vec<OsString>,
}

/// Does what the arguments ask for; what is returned is the exit code.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> Result<ExitCode> {
    let mut arguments: Vec<OsString> = arguments.collect();
    // Cargo calls `cargo-cct cct test`.
    if arguments.get(1).is_some_and(|argument| argument == "cct") {
        arguments.remove(1);
    }
    let cli = match Cli::try_parse_from(left_whole(arguments)) {
        Ok(cli) => cli,
        Err(error) => return Ok(refuse(&error)),
    };
    match cli.command {
        None => {
            Cli::command().print_help()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Test(rest)) => commands::test(rest.args, None),
        Some(Command::Nextest(rest)) => commands::nextest(rest.args),
        Some(Command::Replay { token, rest }) => commands::test(rest.args, Some(token)),
        Some(Command::Patch { out, rest }) => commands::patch(&out, rest.args),
        Some(Command::Doctor(rest)) => doctor(rest.args),
    }
}

/// Has what is cargo's taken as it stands. The parser would keep a `--` for itself, and what comes after it is for
/// the tests.
fn left_whole(mut arguments: Vec<OsString>) -> Vec<OsString> {
    // Options of ours stand in any order: before the token, as reports have it, or before the folder.
    if arguments.get(1).is_some_and(|command| command == "replay") {
        let mut token = 2;
        while let Some(words) = arguments.get(token).and_then(words_of_ours) {
            token += words;
        }
        if token < arguments.len() {
            arguments[2..=token].rotate_right(1);
        }
    }
    if arguments.get(1).is_some_and(|command| command == "patch") {
        let own = arguments.iter().position(|it| it == "--out");
        if let Some(at) = own.filter(|at| at + 1 < arguments.len()) {
            arguments[2..at + 2].rotate_right(2);
        }
    }
    let is = |at: usize, words: &[&str]| {
        let argument = arguments.get(at).and_then(|argument| argument.to_str());
        argument.is_some_and(|argument| words.contains(&argument))
    };
    let begin = match () {
        () if is(1, &["test", "nextest", "doctor"]) => 2,
        () if is(1, &["replay"]) => 3,
        () => return arguments,
    };
    let asks_for_help = (2..=begin).any(|at| is(at, &["-h", "--help"]));
    if arguments.len() > begin && !asks_for_help {
        arguments.insert(begin, "--".into());
    }
    arguments
}

/// How many words an option of ours takes, with its value, if it is one.
fn words_of_ours(option: &OsString) -> Option<usize> {
    match option.to_str()? {
        "--atomics" => Some(1),
        "--cct" => Some(2),
        option => option.starts_with("--cct=").then_some(1),
    }
}

/// Help and errors of use; whoever asks for what does not exist is told what does.
fn refuse(error: &clap::Error) -> ExitCode {
    use clap::error::ContextKind;
    match error.get(ContextKind::InvalidSubcommand) {
        Some(asked) if error.kind() == ErrorKind::InvalidSubcommand => {
            say::error(&unknown(&asked.to_string()));
        }
        _ => drop(error.print()),
    }
    ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2))
}

fn unknown(asked: &str) -> anyhow::Error {
    let command = Cli::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    let names: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    anyhow::anyhow!(
        "there is no command `{asked}`; there are {}: see `cargo cct --help`",
        names.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_definition_holds_together() {
        Cli::command().debug_assert();
    }

    /// What cargo gets.
    fn passed_on(arguments: &str) -> Vec<OsString> {
        let arguments = arguments.split(' ').map(OsString::from).collect();
        match Cli::parse_from(left_whole(arguments)).command {
            Some(
                Command::Test(rest)
                | Command::Nextest(rest)
                | Command::Patch { rest, .. }
                | Command::Doctor(rest)
                | Command::Replay { rest, .. },
            ) => rest.args,
            _ => panic!("another command"),
        }
    }

    #[test]
    fn what_is_for_the_tests_reaches_them() {
        for command in ["test", "nextest", "doctor", "replay c1-token"] {
            for rest in [
                "-- --nocapture",
                "name -- --exact",
                "--lib -- --exact -- x",
                "--lib",
            ] {
                let words: Vec<OsString> = rest.split(' ').map(OsString::from).collect();
                assert_eq!(passed_on(&format!("cargo-cct {command} {rest}")), words);
            }
            assert!(passed_on(&format!("cargo-cct {command}")).is_empty());
        }
        for patch in ["--out dir --cct ../cct", "--cct ../cct --out dir"] {
            let rest = passed_on(&format!("cargo-cct patch {patch}"));
            assert_eq!(rest, ["--cct", "../cct"]);
        }
        // As reports say it.
        let rest = passed_on("cargo-cct replay --atomics c1-token name -- --exact");
        assert_eq!(rest, ["--atomics", "name", "--", "--exact"]);
        let rest = passed_on("cargo-cct replay --atomics --cct ../cct c1-token name");
        assert_eq!(rest, ["--atomics", "--cct", "../cct", "name"]);
        let rest = passed_on("cargo-cct replay --cct=/cct c1-token -- --exact");
        assert_eq!(rest, ["--cct=/cct", "--", "--exact"]);
        for asked in [
            "cargo-cct test --help",
            "cargo-cct replay --help",
            "cargo-cct test -h",
        ] {
            let arguments = asked.split(' ').map(OsString::from).collect();
            let Err(help) = Cli::try_parse_from(left_whole(arguments)) else {
                panic!("{asked} is no help");
            };
            assert_eq!(help.kind(), ErrorKind::DisplayHelp, "{asked}");
            assert!(help.to_string().contains("--atomics"), "{help}");
        }
    }

    #[test]
    fn whoever_asks_for_what_does_not_exist_is_told_what_does() {
        let text = unknown("tset").to_string();
        assert!(text.starts_with("there is no command `tset`"), "{text}");
        assert!(
            text.contains("`test`, `nextest`, `replay`, `patch`, `doctor`"),
            "{text}"
        );
    }
}
