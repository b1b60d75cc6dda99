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
    Test(ForCargo),
    /// The same with one schedule only, that of a token from a report
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
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        Err(error) => return Ok(refuse(&error)),
    };
    match cli.command {
        None => {
            Cli::command().print_help()?;
            Ok(ExitCode::SUCCESS)
        }
        Some(Command::Test(rest)) => commands::test(rest.args, None),
        Some(Command::Replay { token, rest }) => commands::test(rest.args, Some(token)),
        Some(Command::Patch { out, rest }) => commands::patch(&out, rest.args),
        Some(Command::Doctor(rest)) => doctor(rest.args),
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

    #[test]
    fn whoever_asks_for_what_does_not_exist_is_told_what_does() {
        let text = unknown("tset").to_string();
        assert!(text.starts_with("there is no command `tset`"), "{text}");
        assert!(
            text.contains("`test`, `replay`, `patch`, `doctor`"),
            "{text}"
        );
    }
}
