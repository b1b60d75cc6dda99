//! `bugs --table NAME`: strategies against subjects, with the published figure beside each cell.

use super::tables::{self, Column, Metric, Table};
use super::{chosen, write_json};
use crate::measure::side_by_side;
use crate::measure::statistics::{at_most, mann_whitney, mean_and_deviation, median};
use crate::measure::trial::{Result as Outcome, Trial};
use crate::subjects::Subject;
use cct_executor::strategy::StrategySpec;
use clap::Args;
use serde::{Deserialize, Serialize};
use std::path::PathBuf;

/// Options of `bugs`.
#[derive(Args)]
pub(crate) struct Options {
    /// ql2, ql1, ql4, ndn, pct3, fse, rl, cubes, rl6 or small
    #[arg(long)]
    table: String,
    /// Subjects whose names contain this; may be given several times
    #[arg(long)]
    only: Vec<String>,
    /// Only these columns, by heading or as a strategy (`pct:d=5`); may be given several times
    #[arg(long)]
    strategy: Vec<String>,
    /// Run the repaired forms of the subjects, in which nothing must be found
    #[arg(long)]
    fixed: bool,
    /// Independent trials for each cell
    #[arg(long)]
    trials: Option<u64>,
    /// Schedules in each trial
    #[arg(long)]
    iterations: Option<u64>,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Trials that run at a time; all cores by default
    #[arg(long)]
    threads: Option<usize>,
    /// Write the figures to this file
    #[arg(long)]
    json: Option<PathBuf>,
}

/// The figures of a table, as they are written and compared.
#[derive(Serialize, Deserialize)]
pub(super) struct Figures {
    pub(super) table: String,
    pub(super) trials: u64,
    pub(super) iterations: u64,
    pub(super) seed: u64,
    pub(super) cells: Vec<Cell>,
}

/// One subject under one strategy.
#[derive(Serialize, Deserialize)]
pub(super) struct Cell {
    pub(super) subject: String,
    pub(super) column: String,
    pub(super) strategy: String,
    /// In the table's unit; `None` for "never".
    pub(super) value: Option<f64>,
    pub(super) deviation: Option<f64>,
    pub(super) published: Option<f64>,
    /// Against the first column: the p-value of a Mann-Whitney test.
    pub(super) p: Option<f64>,
    /// Of each trial: schedules until the bug, or states visited, or failing schedules.
    pub(super) sample: Vec<Option<f64>>,
    pub(super) steps_per_schedule: f64,
    pub(super) cut_share: f64,
    pub(super) nanoseconds_per_step: f64,
    /// Of processor time, in all trials.
    pub(super) seconds: f64,
}

/// Measures and prints a table.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let table = tables::by_name(&options.table)?;
    let mut subjects = chosen(&options.only, |subject| {
        subject.published.iter().any(|row| row.table == table.name)
    })?;
    subjects.retain(|subject| !options.fixed || subject.fixed.is_some());
    let columns = columns(table, &options.strategy)?;
    let trials = options.trials.unwrap_or(table.trials);
    let iterations = options.iterations.unwrap_or(table.iterations);
    if trials == 0 || iterations == 0 {
        return Err("--trials and --iterations must be at least 1".to_owned());
    }
    let mut jobs = Vec::new();
    for &subject in &subjects {
        for (_, strategy) in &columns {
            jobs.extend((0..trials).map(|number| Trial {
                subject,
                strategy: for_subject(strategy, subject),
                fixed: options.fixed,
                iterations,
                seed: options.seed,
                number,
                keep_going: matches!(table.metric, Metric::Share | Metric::Coverage),
            }));
        }
    }
    let results = side_by_side(&jobs, options.threads, Trial::run);
    let results = results.into_iter().collect::<Result<Vec<Outcome>, _>>()?;
    let mut cells = Vec::new();
    let mut outcomes = results.chunks(trials as usize);
    for subject in &subjects {
        let mut first: Option<Vec<f64>> = None;
        for (heading, strategy) in &columns {
            let cell = cell(
                table,
                subject,
                heading,
                strategy,
                outcomes.next().unwrap_or(&[]),
            );
            cells.push(against(cell, &mut first));
        }
    }
    let figures = Figures {
        table: table.name.to_owned(),
        trials,
        iterations,
        seed: options.seed,
        cells,
    };
    print(table, &figures, &subjects, &columns);
    if matches!(table.metric, Metric::Found | Metric::Schedules) {
        print_sums(&figures, &columns);
    }
    if table.name == "pct3" {
        print_bounds(&figures, &subjects);
    }
    options
        .json
        .as_ref()
        .map_or(Ok(()), |path| write_json(path, &figures))
}

/// The strategy with the depth of the subject's bug filled in.
fn for_subject(strategy: &str, subject: &Subject) -> String {
    let depth = subject.published("pct3", "d").unwrap_or(3.0);
    let mut filled = format!("{depth:.0}");
    // One of the two changes of this bug holds the main task back before it exits.
    if subject.published("pct3", "final wait").is_some() {
        filled.push_str(",final-wait=on");
    }
    strategy.replace("{d}", &filled)
}

/// Holds the measured share against PCT's bound `1 / (n k^(d-1))`, with the odds of seeing so little
/// if the bound holds.
fn print_bounds(figures: &Figures, subjects: &[&Subject]) {
    println!("\nPCT against its bound 1/(n k^(d-1)), n tasks, k steps (mean of the schedules)");
    for subject in subjects {
        let is_it = |cell: &&Cell| cell.subject == subject.name && cell.column == "PCT";
        let (Some(cell), Some(d)) = (
            figures.cells.iter().find(is_it),
            subject.published("pct3", "d"),
        ) else {
            continue;
        };
        let (n, k) = (f64::from(subject.workers), cell.steps_per_schedule);
        let bound = 1.0 / (n * k.powf(d - 1.0));
        let schedules = figures.trials * figures.iterations;
        let failing = cell.sample.iter().flatten().sum::<f64>() as u64;
        println!(
            "{:<24} d {d} n {n} k {k:.0}: measured {:.5}, bound {bound:.5}, odds {:.0e}  {}",
            subject.name,
            failing as f64 / schedules as f64,
            at_most(failing, schedules, bound),
            if failing as f64 >= bound * schedules as f64 {
                "holds"
            } else {
                "BELOW"
            }
        );
    }
}

/// What each strategy found over all subjects, and at what cost.
fn print_sums(figures: &Figures, columns: &[(String, String)]) {
    println!(
        "\nover all subjects: found at least once, trials that found, schedules and seconds for each"
    );
    for (heading, _) in columns {
        let own = || figures.cells.iter().filter(|cell| cell.column == *heading);
        let found = |cell: &Cell| cell.sample.iter().flatten().count();
        let subjects = own().filter(|cell| found(cell) > 0).count();
        let (bugs, trials) = own().fold((0, 0), |(bugs, trials), cell| {
            (bugs + found(cell), trials + cell.sample.len())
        });
        let budget = figures.iterations as f64;
        let schedules: f64 = own()
            .flat_map(|cell| &cell.sample)
            .map(|found| found.unwrap_or(budget))
            .sum();
        let seconds: f64 = own().map(|cell| cell.seconds).sum();
        let each = bugs.max(1) as f64;
        println!(
            "{heading:<16} {subjects:>3} of {}  {:>5.1} %  {:>9.0} schedules  {:>7.3} s",
            own().count(),
            100.0 * bugs as f64 / trials.max(1) as f64,
            schedules / each,
            seconds / each
        );
    }
}

fn columns(table: &Table, wanted: &[String]) -> Result<Vec<(String, String)>, String> {
    let own = |&(heading, strategy): &Column| (heading.to_owned(), strategy.to_owned());
    if wanted.is_empty() {
        return Ok(table.columns.iter().map(own).collect());
    }
    let find = |text: &String| {
        let known = table.columns.iter().find(|column| column.0 == text);
        match known {
            Some(column) => Ok(own(column)),
            None => StrategySpec::parse(text)
                .map(|spec| (text.clone(), spec.to_string()))
                .map_err(|error| error.to_string()),
        }
    };
    wanted.iter().map(find).collect()
}

fn cell(
    table: &Table,
    subject: &Subject,
    heading: &str,
    strategy: &str,
    outcomes: &[Outcome],
) -> Cell {
    let total = |f: fn(&Outcome) -> u64| outcomes.iter().map(f).sum::<u64>() as f64;
    let (iterations, steps) = (total(|o| o.iterations), total(|o| o.steps));
    let seconds: f64 = outcomes.iter().map(|outcome| outcome.seconds).sum();
    let sample: Vec<Option<f64>> = outcomes
        .iter()
        .map(|outcome| match table.metric {
            Metric::Found | Metric::Schedules => outcome.found_after.map(|n| n as f64),
            Metric::Share => Some(outcome.failing as f64),
            // Subjects with targets count the states in which the last one holds.
            Metric::Coverage if !subject.targets.is_empty() => {
                let last = outcome.targets.get(subject.targets.len() - 1);
                Some(last.copied().unwrap_or(0) as f64)
            }
            Metric::Coverage => Some(outcome.visited as f64),
        })
        .collect();
    let known: Vec<f64> = sample.iter().map(|x| x.unwrap_or(f64::INFINITY)).collect();
    let (value, deviation) = match table.metric {
        Metric::Found => (Some(sample.iter().flatten().count() as f64), None),
        Metric::Share => (Some(100.0 * total(|o| o.failing) / iterations), None),
        Metric::Schedules => (median(&known).filter(|n| n.is_finite()), None),
        Metric::Coverage => {
            let (mean, deviation) = mean_and_deviation(&known);
            (Some(mean), Some(deviation))
        }
    };
    let published = subject.published(table.name, heading);
    Cell {
        subject: subject.name.to_owned(),
        column: heading.to_owned(),
        strategy: strategy.to_owned(),
        value,
        deviation,
        published: published.filter(|value| value.is_finite()),
        p: None,
        sample,
        steps_per_schedule: steps / iterations,
        cut_share: total(|o| o.cut) / iterations,
        nanoseconds_per_step: seconds * 1e9 / steps,
        seconds,
    }
}

/// Tests a cell of coverages against the subject's first one.
fn against(mut cell: Cell, first: &mut Option<Vec<f64>>) -> Cell {
    let sample: Vec<f64> = cell.sample.iter().flatten().copied().collect();
    match first {
        Some(first) if cell.deviation.is_some() => cell.p = Some(mann_whitney(first, &sample)),
        Some(_) => {}
        None => *first = Some(sample),
    }
    cell
}

fn print(table: &Table, figures: &Figures, subjects: &[&Subject], columns: &[(String, String)]) {
    println!("{}", table.title);
    println!(
        "{} trials of {} schedules, seed {}; published figures in brackets\n",
        figures.trials, figures.iterations, figures.seed
    );
    let width = subjects.iter().map(|s| s.name.len()).max().unwrap_or(0);
    print!("{:<width$}", "");
    for (heading, _) in columns {
        print!(" {heading:>16}");
    }
    println!();
    for (subject, cells) in subjects
        .iter()
        .zip(figures.cells.chunks(columns.len().max(1)))
    {
        print!("{:<width$}", subject.name);
        for cell in cells {
            print!(" {:>16}", text(table.metric, cell));
        }
        println!();
    }
}

fn text(metric: Metric, cell: &Cell) -> String {
    let value = match (cell.value, metric) {
        (None, _) => "-".to_owned(),
        (Some(value), Metric::Share) => format!("{value:.3}"),
        (Some(value), Metric::Coverage) => {
            let mark = if cell.p.is_some_and(|p| p < 0.05) {
                "*"
            } else {
                ""
            };
            format!("{value:.0}\u{b1}{:.0}{mark}", cell.deviation.unwrap_or(0.0))
        }
        (Some(value), _) => format!("{value:.0}"),
    };
    match cell.published {
        Some(published) => format!("{value} ({published})"),
        None => value,
    }
}
