//! `cost`: the processor time of a step with each strategy, as a multiple of random's.
//!
//! All strategies take turns on each subject, one at a time, and a figure is the least of several
//! turns: what the machine does besides can only add. The subjects are run in their repaired forms,
//! for a failure costs some microseconds, most of them for the panic, and a strategy that finds the bug
//! more often would have them added to its steps.

use super::{chosen, write_json};
use crate::measure::trial::Trial;
use crate::subjects::Subject;
use clap::Args;
use cpu_time::ProcessTime;
use serde::Serialize;
use std::path::PathBuf;

/// Options of `cost`.
#[derive(Args)]
pub(crate) struct Options {
    /// Subjects whose names contain this; may be given several times
    #[arg(long)]
    only: Vec<String>,
    /// The strategies beside random; may be given several times
    #[arg(long, default_values = ["pct:d=3", "pct-psharp:d=3", "pos", "urw", "surw", "pctcp",
        "fest", "idb", "greedy", "ss:explorer=rtc", "ses:explorer=rtc", "ql", "bonus-max",
        "waypoint", "portfolio"])]
    strategy: Vec<String>,
    /// Turns
    #[arg(long, default_value_t = 5)]
    trials: u64,
    /// Schedules in each turn
    #[arg(long, default_value_t = 2_000)]
    iterations: u64,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Write the figures to this file
    #[arg(long)]
    json: Option<PathBuf>,
}

#[derive(Serialize)]
struct Cost {
    strategy: String,
    /// Geometric mean over the subjects.
    times_random: f64,
    /// Subject, nanoseconds a step.
    nanoseconds: Vec<(String, f64)>,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let subjects = chosen(&options.only, |subject| {
        subject.published.iter().any(|row| row.table == "ql2")
    })?;
    let mut strategies = vec!["random".to_owned()];
    strategies.extend(options.strategy.iter().cloned());
    let mut least = vec![vec![f64::INFINITY; subjects.len()]; strategies.len()];
    for (column, &subject) in subjects.iter().enumerate() {
        for turn in 0..options.trials {
            for (row, strategy) in strategies.iter().enumerate() {
                let figure = nanoseconds(options, subject, strategy, turn)?;
                least[row][column] = least[row][column].min(figure);
            }
        }
    }
    println!("nanoseconds a step, and times random (geometric mean over the subjects)");
    let mut costs = Vec::new();
    for (strategy, figures) in strategies.iter().zip(&least) {
        let logs = figures
            .iter()
            .zip(&least[0])
            .map(|(own, random)| (own / random).ln());
        let times_random = (logs.sum::<f64>() / subjects.len() as f64).exp();
        println!("{strategy:<24} {times_random:>6.2}");
        let names = subjects.iter().map(|subject| subject.name.to_owned());
        costs.push(Cost {
            strategy: strategy.clone(),
            times_random,
            nanoseconds: names.zip(figures.iter().copied()).collect(),
        });
    }
    for (column, subject) in subjects.iter().enumerate() {
        let figures: Vec<String> = least
            .iter()
            .map(|row| format!("{:.0}", row[column]))
            .collect();
        println!("{:<24} {}", subject.name, figures.join(" "));
    }
    options
        .json
        .as_ref()
        .map_or(Ok(()), |path| write_json(path, &costs))
}

fn nanoseconds(
    options: &Options,
    subject: &'static Subject,
    strategy: &str,
    turn: u64,
) -> Result<f64, String> {
    let start = ProcessTime::now();
    let result = Trial {
        subject,
        strategy: strategy.to_owned(),
        fixed: true,
        iterations: options.iterations,
        seed: options.seed,
        number: turn,
        keep_going: true,
    }
    .run()?;
    Ok(start.elapsed().as_secs_f64() * 1e9 / result.steps.max(1) as f64)
}
