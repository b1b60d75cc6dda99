//! Runs one scenario for many seeds and tells how often, and how soon, it failed.
//!
//! Each package of `examples/real-bugs` has a binary that hands its scenario to [`main`]. One line
//! of JSON goes to standard output: the totals first, then one entry per seed. With `--report` it
//! prints the report of one failure instead, and replays it.

mod options;
mod runs;

pub use options::{Expect, Options};
pub use runs::{Campaign, Run};

use cct_executor::{Checker, Report};
use std::process::ExitCode;

/// Reads the options from the command line, runs the campaign, prints it, and fails when it did not
/// end as expected.
pub fn main(package: &str, run: impl Fn(Checker) -> Report) -> ExitCode {
    let mut words = std::env::args().skip(1).peekable();
    if words.next_if(|word| word == "--report").is_some() {
        return report(package, run);
    }
    let campaign = Options::parse(words).and_then(|options| Campaign::run(package, &options, run));
    match campaign {
        Ok(campaign) => {
            println!("{}", campaign.to_json());
            if campaign.as_expected() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(message) => {
            eprintln!("{package}: {message}");
            ExitCode::from(2)
        }
    }
}

/// Prints the report of the first failing schedule, and runs that schedule again from its token.
fn report(package: &str, run: impl Fn(Checker) -> Report) -> ExitCode {
    let checker = || Checker::new().name(package);
    let found = run(checker());
    print!("{}", found.text());
    let Some(failure) = found.failure() else {
        return ExitCode::FAILURE;
    };
    let again = run(checker().replay(failure.token.clone()));
    let same = again
        .failure()
        .is_some_and(|replayed| replayed.kind == failure.kind);
    println!(
        "\nrun again from the token: {}",
        if same {
            "the same failure"
        } else {
            "NOT the same"
        }
    );
    if same {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    }
}
