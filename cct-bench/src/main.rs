//! Benchmarks of cct. `cct-bench perf [--filter W3] [--json] [--reps N]`.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program"
)]

mod perf;
mod subjects;

use std::process::ExitCode;

const USAGE: &str = "usage: cct-bench perf [--filter NAME] [--reps N] [--json]";

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let result = match args.next().as_deref() {
        Some("perf") => perf::Options::parse(args).and_then(|options| perf::run(&options)),
        Some(other) => Err(format!("unknown command `{other}`: expected perf")),
        None => Err("no command given".to_owned()),
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}\n{USAGE}");
            ExitCode::from(2)
        }
    }
}
