//! What a step costs, as a multiple of a bare poll loop that makes no choice and keeps no record.
//!
//! The same text of every workload runs on three executors in one process: the floor, tokio's
//! current-thread runtime with a paused clock, and cct with each strategy. Each of them runs in turns
//! with the floor, and ratios are taken between neighbours, so that a drift of the machine's speed
//! cancels out, and so that what one leaves of the heap's order is no other's. Tables show medians over
//! the repetitions.
//!
//! The floor has no cooperative budget, so the rows with a target run without it; under the budget,
//! which is on by default, a lock can be held over the end of a poll, as on tokio, and others queue.

mod cct;
mod floor;
mod hunt;
mod measure;
mod network;
mod on_tokio;

use cct_executor::strategy::StrategySpec;
use clap::Args;
use measure::{Row, median};
use serde::Serialize;

/// Size of a workload.
#[derive(Clone, Copy)]
pub(crate) struct Params {
    pub(crate) n: u64,
    pub(crate) m: u64,
    /// Points are the taking and giving back of a lock, instead of yields.
    pub(crate) lock_points: bool,
}

/// A workload with the targets it is held against: multiples of the floor.
struct Workload {
    name: &'static str,
    what: &'static str,
    params: Params,
    random: f64,
    pct: f64,
}

const fn workload(
    name: &'static str,
    what: &'static str,
    n: u64,
    m: u64,
    random: f64,
    pct: f64,
) -> Workload {
    Workload {
        name,
        what,
        params: Params {
            n,
            m,
            lock_points: false,
        },
        random,
        pct,
    }
}

const WORKLOADS: &[Workload] = &[
    workload("W1", "10 tasks x 1000 yields", 10, 1000, 4.0, 5.0),
    workload(
        "W2",
        "ping-pong of 1000 messages over mpsc(1)",
        2,
        1000,
        8.0,
        8.0,
    ),
    workload("W3", "8 tasks x 200 mutex increments", 8, 200, 25.0, 8.0),
    workload("W4", "20 producers x 50 unbounded sends", 20, 50, 8.0, 8.0),
    workload("W5", "100 tasks x 50 sleeps", 100, 50, 3.0, 3.0),
    workload("W6", "spawn and join 2000 tasks", 2000, 1, 3.0, 3.0),
    workload(
        "W7",
        "3 servers, 1 client, 200 calls over TCP",
        3,
        200,
        6.0,
        6.0,
    ),
    workload("W8", "empty body", 0, 0, 10.0, 10.0),
    workload("W10", "mutex increments, 10 tasks", 10, 160, 25.0, 8.0),
    workload("W10", "mutex increments, 100 tasks", 100, 16, 25.0, 8.0),
    workload("W10", "mutex increments, 1000 tasks", 1000, 16, 25.0, 8.0),
    workload(
        "W10",
        "mutex increments, 10000 tasks",
        10_000,
        16,
        25.0,
        8.0,
    ),
];

/// Options of `perf`.
#[derive(Args)]
pub(crate) struct Options {
    /// Only this workload (W1 to W11)
    #[arg(long)]
    filter: Option<String>,
    /// Print JSON instead of tables
    #[arg(long)]
    json: bool,
    /// Repetitions
    #[arg(long, default_value_t = 5, value_parser = clap::value_parser!(u32).range(1..))]
    reps: u32,
    /// Only the floor and these strategies in W1 to W8 and W10 (may be repeated)
    #[arg(long = "strategy", value_name = "STRATEGY")]
    strategies: Vec<String>,
}

impl Options {
    fn wants(&self, name: &str) -> bool {
        self.filter
            .as_ref()
            .is_none_or(|filter| filter.eq_ignore_ascii_case(name))
    }
}

#[derive(Serialize)]
struct Output {
    workload: String,
    what: String,
    rows: Vec<Row>,
}

/// Measures and prints.
pub(crate) fn run(options: &Options) -> Result<(), String> {
    let wanted: Vec<&Workload> = WORKLOADS.iter().filter(|w| options.wants(w.name)).collect();
    if wanted.is_empty() && !options.wants("W9") && !options.wants("W11") {
        let known = "W1 W2 W3 W4 W5 W6 W7 W8 W9 W10 W11";
        let filter = options.filter.as_deref().unwrap_or_default();
        return Err(format!(
            "no workload is called `{filter}`: expected one of {known}"
        ));
    }
    for strategy in &options.strategies {
        StrategySpec::parse(strategy).map_err(|error| error.to_string())?;
    }
    let mut outputs = Vec::new();
    for workload in wanted {
        let rows = measure::workload(workload, &options.strategies, options.reps as usize);
        if !options.json {
            print_table(workload, &rows);
        }
        let (name, what) = (workload.name.to_owned(), workload.what.to_owned());
        outputs.push(Output {
            workload: name,
            what,
            rows,
        });
    }
    let hunts = if options.wants("W9") {
        hunt::all(!options.json)
    } else {
        Vec::new()
    };
    let network = options
        .wants("W11")
        .then(|| network::all(options.reps as usize, !options.json));
    if options.json {
        let all = serde_json::json!({ "cost": outputs, "hunts": hunts, "network": network });
        println!(
            "{}",
            serde_json::to_string_pretty(&all).map_err(|e| e.to_string())?
        );
    }
    Ok(())
}

fn print_table(workload: &Workload, rows: &[Row]) {
    println!("\n{}: {}", workload.name, workload.what);
    println!(
        "  {:<28} {:>12} {:>9} {:>9} {:>9}",
        "executor", "us/iteration", "x floor", "least", "target"
    );
    for row in rows {
        let target = row.target.map_or(String::new(), |t| {
            format!("{t:>6}{}", if row.times_floor <= t { " ok" } else { " --" })
        });
        println!(
            "  {:<28} {:>12.2} {:>9.2} {:>9.2} {target:>9}",
            row.executor, row.us_per_iteration, row.times_floor, row.least_times_floor
        );
    }
}

/// Median of figures.
pub(crate) fn middle(figures: &mut [f64]) -> f64 {
    median(figures)
}
