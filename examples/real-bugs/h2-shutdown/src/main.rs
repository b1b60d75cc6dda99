//! Runs the scenario for many seeds; see the `campaign` package.

use cct_executor::Granularity;
use std::process::ExitCode;

fn main() -> ExitCode {
    campaign::main(env!("CARGO_PKG_NAME"), |checker| {
        // Reads are scheduling points in the middle of h2's polls.
        checker
            .granularity(Granularity::Sync)
            .run(scenario::scenario)
    })
}
