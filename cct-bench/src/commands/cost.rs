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
    /// Over those of them that are in table 2 of QL, if any are: small programs.
    times_random_ql2: Option<f64>,
    /// Subject, nanoseconds a step.
    nanoseconds: Vec<(String, f64)>,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let subjects = chosen(&options.only, |_| true)?;
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
    println!(
        "times random's time of a step: geometric mean over the subjects, and over those of table 2 of QL"
    );
    let mut costs = Vec::new();
    for (strategy, figures) in strategies.iter().zip(&least) {
        let of_subjects = subjects.iter().zip(figures.iter().zip(&least[0]));
        let mean = |among: &dyn Fn(&Subject) -> bool| {
            let of_these = of_subjects.clone().filter(|(subject, _)| among(subject));
            geometric_mean(of_these.map(|(_, (own, random))| own / random))
        };
        let times_random = mean(&|_| true).unwrap_or(f64::NAN);
        let times_random_ql2 = mean(&is_in_table_2);
        let of_table = times_random_ql2.map_or_else(String::new, |times| format!("{times:>6.2}"));
        println!("{strategy:<24} {times_random:>6.2} {of_table}");
        let names = subjects.iter().map(|subject| subject.name.to_owned());
        costs.push(Cost {
            strategy: strategy.clone(),
            times_random,
            times_random_ql2,
            nanoseconds: names.zip(figures.iter().copied()).collect(),
        });
    }
    println!("nanoseconds of a step, with each strategy");
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

fn is_in_table_2(subject: &Subject) -> bool {
    subject.published.iter().any(|row| row.table == "ql2")
}

fn geometric_mean(ratios: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = ratios.fold((0.0, 0), |(sum, count), ratio| {
        (sum + ratio.ln(), count + 1)
    });
    (count > 0).then(|| (sum / f64::from(count)).exp())
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
