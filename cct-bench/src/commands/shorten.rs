//! `shorten`: what is left of failing schedules when they have been shortened.
//!
//! A subject is searched with one strategy until its bug shows, once for each seed, and the schedule is
//! shortened as that of any test. Figures are medians over the seeds that found the bug.

use super::{chosen, write_json};
use crate::subjects::{Probe, Subject};
use cct_executor::{Checker, Report, Seed};
use clap::Args;
use serde::Serialize;
use std::path::PathBuf;

/// Options of `shorten`.
#[derive(Args)]
pub(crate) struct Options {
    /// Subjects whose names contain this; may be given several times
    #[arg(long)]
    only: Vec<String>,
    /// The strategy
    #[arg(long, default_value = "portfolio")]
    strategy: String,
    /// Seeds
    #[arg(long, default_value_t = 20)]
    trials: u64,
    /// Schedules in which the bug has to be found
    #[arg(long, default_value_t = 2_000)]
    iterations: u64,
    /// Write the figures to this file
    #[arg(long)]
    json: Option<PathBuf>,
}

/// One failing schedule.
struct Trial {
    decisions: u64,
    departed: u64,
    departures: u64,
    attempts: u64,
    milliseconds: u64,
    complete: bool,
}

#[derive(Serialize)]
struct Figures {
    subject: &'static str,
    /// Seeds that found the bug.
    found: u64,
    /// Decisions of the schedule that was found.
    decisions: u64,
    /// Departures of it from plain order.
    departed: u64,
    /// Departures that are left.
    departures: u64,
    /// The largest number that was left.
    most: u64,
    /// Schedules that were tried.
    attempts: u64,
    /// Wall-clock time, that of explaining the failure included.
    milliseconds: u64,
    /// How many searches were not cut short.
    complete: u64,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let subjects = chosen(&options.only, |subject| !subject.published.is_empty())?;
    println!(
        "{:<28} {:>5} {:>9} {:>8} {:>4} {:>4} {:>8} {:>5} {:>8}",
        "subject", "found", "decisions", "departed", "left", "most", "attempts", "ms", "complete"
    );
    let mut all = Vec::new();
    for subject in subjects {
        let seeds = 1..=options.trials;
        let trials: Vec<Trial> = seeds
            .filter_map(|seed| shortened(&report(options, subject, seed)))
            .collect();
        if !trials.is_empty() {
            let figures = figures(subject.name, &trials);
            print(&figures);
            all.push(figures);
        }
    }
    options
        .json
        .as_ref()
        .map_or(Ok(()), |path| write_json(path, &all))
}

fn report(options: &Options, subject: &'static Subject, seed: u64) -> Report {
    let scenario = subject.scenario;
    Checker::new()
        .name(subject.name)
        .use_environment(false)
        .strategy_text(&options.strategy)
        .iterations(options.iterations)
        .time_budget(None)
        .determinism_check(false)
        .await_check(false)
        .workers(1)
        .seed(Seed(seed))
        .granularity(subject.granularity)
        .clock(subject.clock)
        .max_steps(subject.max_steps)
        .run(move || scenario(Probe::default()))
}

fn shortened(report: &Report) -> Option<Trial> {
    let failure = report.failure()?;
    let short = failure.shortened.as_ref()?;
    let explained = report.elapsed.saturating_sub(report.search);
    Some(Trial {
        decisions: short.found.trace.decisions().len() as u64,
        departed: short.departures,
        departures: failure.departures.as_ref()?.len() as u64,
        attempts: short.attempts,
        milliseconds: u64::try_from(explained.as_millis()).unwrap_or(u64::MAX),
        complete: short.complete,
    })
}

fn figures(subject: &'static str, trials: &[Trial]) -> Figures {
    let median = |figure: fn(&Trial) -> u64| {
        let mut all: Vec<u64> = trials.iter().map(figure).collect();
        all.sort_unstable();
        all[all.len() / 2]
    };
    let most = trials.iter().map(|trial| trial.departures).max();
    Figures {
        subject,
        found: trials.len() as u64,
        decisions: median(|trial| trial.decisions),
        departed: median(|trial| trial.departed),
        departures: median(|trial| trial.departures),
        most: most.unwrap_or_default(),
        attempts: median(|trial| trial.attempts),
        milliseconds: median(|trial| trial.milliseconds),
        complete: trials.iter().filter(|trial| trial.complete).count() as u64,
    }
}

fn print(figures: &Figures) {
    let Figures {
        subject,
        found,
        decisions,
        departed,
        departures,
        most,
        attempts,
        milliseconds,
        complete,
    } = figures;
    println!(
        "{subject:<28} {found:>5} {decisions:>9} {departed:>8} {departures:>4} {most:>4} \
         {attempts:>8} {milliseconds:>5} {complete:>8}"
    );
}
