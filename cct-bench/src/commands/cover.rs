//! `cover --subject NAME`: how the number of distinct states grows with the schedules.

use super::{chosen, write_json};
use crate::measure::side_by_side;
use crate::measure::statistics::mean_and_deviation;
use crate::measure::trial::{Result as Outcome, Trial};
use clap::Args;
use plotters::prelude::*;
use serde::Serialize;
use std::path::{Path, PathBuf};

/// Options of `cover`.
#[derive(Args)]
pub(crate) struct Options {
    /// The subject
    #[arg(long)]
    subject: String,
    /// The strategies; may be given several times
    #[arg(long, default_values = ["random", "pct:d=3", "pos", "ql", "bonus-max", "portfolio"])]
    strategy: Vec<String>,
    /// Independent trials for each strategy
    #[arg(long, default_value_t = 5)]
    trials: u64,
    /// Schedules in each trial
    #[arg(long, default_value_t = 10_000)]
    iterations: u64,
    /// Where all randomness comes from
    #[arg(long, default_value_t = 1)]
    seed: u64,
    /// Draw the curves into this SVG file
    #[arg(long)]
    plot: Option<PathBuf>,
    /// Write the figures to this file
    #[arg(long)]
    json: Option<PathBuf>,
}

/// The curve of one strategy: means over the trials.
#[derive(Serialize)]
struct Curve {
    strategy: String,
    /// Schedules, and distinct abstract states by then.
    states: Vec<(u64, f64)>,
    /// Distinct states that the subject itself counts, at the end: mean and deviation.
    visited: (f64, f64),
}

/// Measures, prints and draws.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let subjects = chosen(std::slice::from_ref(&options.subject), |_| true)?;
    let &[subject] = subjects.as_slice() else {
        let names: Vec<&str> = subjects.iter().map(|subject| subject.name).collect();
        let names = names.join(", ");
        return Err(format!(
            "`{}` is part of several names: {names}",
            options.subject
        ));
    };
    if options.trials == 0 || options.iterations == 0 {
        return Err("--trials and --iterations must be at least 1".to_owned());
    }
    let mut jobs = Vec::new();
    for strategy in &options.strategy {
        jobs.extend((0..options.trials).map(|number| Trial {
            subject,
            strategy: strategy.clone(),
            fixed: false,
            iterations: options.iterations,
            seed: options.seed,
            number,
            keep_going: true,
        }));
    }
    let results = side_by_side(&jobs, None, Trial::run);
    let results = results.into_iter().collect::<Result<Vec<Outcome>, _>>()?;
    let curves: Vec<Curve> = options
        .strategy
        .iter()
        .zip(results.chunks(options.trials as usize))
        .map(|(strategy, trials)| curve(strategy, trials))
        .collect();
    println!("{}: distinct states after so many schedules", subject.name);
    for curve in &curves {
        let points: Vec<String> = curve
            .states
            .iter()
            .filter(|(after, _)| *after >= 16)
            .map(|(after, states)| format!("{after}: {states:.0}"))
            .collect();
        println!("{:<24} {}", curve.strategy, points.join("  "));
        let (mean, deviation) = curve.visited;
        if mean > 0.0 {
            println!(
                "{:<24} counted by the subject: {mean:.1}, deviation {deviation:.1}",
                ""
            );
        }
    }
    if let Some(path) = &options.plot {
        draw(path, subject.name, &curves)
            .map_err(|error| format!("{}: {error}", path.display()))?;
    }
    options
        .json
        .as_ref()
        .map_or(Ok(()), |path| write_json(path, &curves))
}

fn curve(strategy: &str, trials: &[Outcome]) -> Curve {
    let points = trials
        .iter()
        .map(|t| t.states_by_iteration.len())
        .min()
        .unwrap_or(0);
    let states = (0..points).map(|i| {
        let sample: Vec<f64> = trials
            .iter()
            .map(|t| t.states_by_iteration[i].1 as f64)
            .collect();
        (
            trials[0].states_by_iteration[i].0,
            mean_and_deviation(&sample).0,
        )
    });
    let visited: Vec<f64> = trials.iter().map(|trial| trial.visited as f64).collect();
    Curve {
        strategy: strategy.to_owned(),
        states: states.collect(),
        visited: mean_and_deviation(&visited),
    }
}

fn draw(path: &Path, subject: &str, curves: &[Curve]) -> Result<(), Box<dyn std::error::Error>> {
    let points = || curves.iter().flat_map(|curve| &curve.states);
    let schedules = points().map(|point| point.0).max().unwrap_or(1) as f64;
    let states = points().map(|point| point.1).fold(1.0, f64::max);
    let area = SVGBackend::new(path, (800, 500)).into_drawing_area();
    area.fill(&WHITE)?;
    let mut chart = ChartBuilder::on(&area)
        .caption(format!("{subject}: distinct states"), ("sans-serif", 20))
        .margin(12)
        .x_label_area_size(40)
        .y_label_area_size(70)
        .build_cartesian_2d((1.0..schedules).log_scale(), 0.0..states * 1.05)?;
    chart
        .configure_mesh()
        .x_desc("schedules")
        .y_desc("distinct states")
        .draw()?;
    for (i, curve) in curves.iter().enumerate() {
        let colour = Palette99::pick(i).to_rgba();
        let line = curve
            .states
            .iter()
            .map(|&(after, states)| (after as f64, states));
        chart
            .draw_series(LineSeries::new(line, colour.stroke_width(2)))?
            .label(curve.strategy.clone())
            .legend(move |(x, y)| PathElement::new([(x, y), (x + 18, y)], colour.stroke_width(2)));
    }
    chart
        .configure_series_labels()
        .position(SeriesLabelPosition::UpperLeft)
        .background_style(WHITE.mix(0.8))
        .border_style(BLACK)
        .draw()?;
    area.present()?;
    Ok(())
}
