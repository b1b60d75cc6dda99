//! Runs one scenario for many seeds and tells how often, and how soon, it failed.
//!
//! Each package of `examples/real-bugs` has a binary that hands its scenario to [`main`]. One line
//! of JSON goes to standard output: the totals first, then one entry per seed.

mod options;
mod runs;

pub use options::{Expect, Options};
pub use runs::{Campaign, Run};

use cct_executor::{Checker, Report};
use std::process::ExitCode;

/// Reads the options from the command line, runs the campaign, prints it, and fails when it did not
/// end as expected.
pub fn main(package: &str, run: impl Fn(Checker) -> Report) -> ExitCode {
    let words = std::env::args().skip(1);
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
