//! Benchmarks of cct: what a step costs, and how many schedules a strategy needs until the bug.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program"
)]

mod commands;
mod measure;
mod perf;
mod subjects;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// Benchmarks of cct.
#[derive(Parser)]
#[command(name = "cct-bench", version)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// What a step costs, as multiples of a bare poll loop.
    Perf(perf::Options),
    /// How often, or how soon, strategies find the bugs of the subjects, beside published figures.
    Bugs(commands::bugs::Options),
    /// How many distinct states strategies visit, as a curve over the schedules.
    Cover(commands::cover::Options),
    /// What a step costs with each strategy, as multiples of random, over the subjects.
    Cost(commands::cost::Options),
    /// What is left of failing schedules when they have been shortened.
    Shorten(commands::shorten::Options),
    /// What changed between two results that `bugs` wrote.
    Compare(commands::compare::Options),
    /// All subjects, with what they are.
    Subjects,
}

fn main() -> ExitCode {
    let result = match Cli::parse().command {
        Command::Perf(options) => perf::run(&options),
        Command::Bugs(options) => commands::bugs::run(&options),
        Command::Cover(options) => commands::cover::run(&options),
        Command::Cost(options) => commands::cost::run(&options),
        Command::Shorten(options) => commands::shorten::run(&options),
        Command::Compare(options) => commands::compare::run(&options),
        Command::Subjects => {
            commands::list_subjects();
            Ok(())
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}
