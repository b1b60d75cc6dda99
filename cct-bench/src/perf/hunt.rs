//! W9: schedules and time until three classic bugs show, over 50 seeds.

use super::{Params, cct, middle};
use cct_executor::{Granularity, Seed};
use serde::Serialize;

const SEEDS: u64 = 50;
const ITERATIONS: u64 = 3_000;
const STRATEGIES: [&str; 8] = [
    "random",
    "pct:d=3",
    "pos",
    "urw",
    "surw",
    "pctcp:d=3",
    "fest",
    "portfolio",
];

/// One bug hunted by one strategy.
#[derive(Serialize)]
pub(crate) struct Hunt {
    bug: &'static str,
    points: &'static str,
    strategy: &'static str,
    found: u64,
    /// Median over the seeds; a seed without a find counts as never.
    median_schedules: Option<f64>,
    median_us: Option<f64>,
}

/// Hunts all bugs with all strategies.
pub(crate) fn all(print: bool) -> Vec<Hunt> {
    let bugs = [
        ("lost update", 3, 10),
        ("ABBA deadlock", 2, 8),
        ("order violation", 6, 6),
    ];
    let mut hunts = Vec::new();
    if print {
        println!("\nW9: schedules and time until the bug, median of {SEEDS} seeds");
        println!(
            "  {:<16} {:<6} {:<10} {:>9} {:>10} {:>9}",
            "bug", "points", "strategy", "found", "schedules", "us"
        );
    }
    for (bug, n, m) in bugs {
        for lock_points in [false, true] {
            for strategy in STRATEGIES {
                let hunt = hunt(bug, Params { n, m, lock_points }, strategy);
                if print {
                    let show = |x: Option<f64>| x.map_or("never".to_owned(), |x| format!("{x:.0}"));
                    println!(
                        "  {:<16} {:<6} {:<10} {:>6}/{SEEDS} {:>10} {:>9}",
                        hunt.bug,
                        hunt.points,
                        hunt.strategy,
                        hunt.found,
                        show(hunt.median_schedules),
                        show(hunt.median_us)
                    );
                }
                hunts.push(hunt);
            }
        }
    }
    hunts
}

fn hunt(bug: &'static str, params: Params, strategy: &'static str) -> Hunt {
    let (mut schedules, mut micros, mut found) = (Vec::new(), Vec::new(), 0);
    for seed in 0..SEEDS {
        let report = cct::checker(strategy, Granularity::Op)
            .seed(Seed(seed))
            .iterations(ITERATIONS)
            .run(move || async move {
                assert!(!cct::workloads::run(bug, params).await, "the bug showed");
            });
        match report.failure() {
            Some(failure) => {
                found += 1;
                schedules.push((failure.iteration() + 1) as f64);
                micros.push(report.search.as_secs_f64() * 1e6);
            }
            None => {
                schedules.push(f64::INFINITY);
                micros.push(f64::INFINITY);
            }
        }
    }
    let finite = |x: f64| x.is_finite().then_some(x);
    Hunt {
        bug,
        points: if params.lock_points { "lock" } else { "yield" },
        strategy,
        found,
        median_schedules: finite(middle(&mut schedules)),
        median_us: finite(middle(&mut micros)),
    }
}
