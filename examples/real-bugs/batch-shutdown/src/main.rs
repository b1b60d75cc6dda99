//! Runs the scenario for many seeds; see the `campaign` package.

use std::process::ExitCode;

fn main() -> ExitCode {
    campaign::main(env!("CARGO_PKG_NAME"), |checker| {
        checker.run(scenario::scenario)
    })
}
