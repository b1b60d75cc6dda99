//! Runs the scenario for many seeds; see the `campaign` package.

use cct_executor::Clock;
use std::process::ExitCode;

fn main() -> ExitCode {
    campaign::main(env!("CARGO_PKG_NAME"), |checker| {
        checker
            .clock(Clock::Racing(scenario::SLACK))
            .run(scenario::scenario)
    })
}
