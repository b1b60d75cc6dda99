//! Processor time of one iteration, by executor.

use super::{Workload, cct, floor, on_tokio};
use cct_executor::Granularity;
use cpu_time::ProcessTime;
use serde::Serialize;
use std::time::Duration;

/// How long one measurement of one executor takes, about.
const BUDGET: Duration = Duration::from_millis(120);

/// Iterations of a measurement at least, so that what a run sets up once (threads, stacks) does not
/// pass for the cost of a step.
const ITERATIONS_MIN: u64 = 30;

/// One executor's figures.
#[derive(Serialize, Clone)]
pub(crate) struct Row {
    pub(crate) executor: String,
    pub(crate) us_per_iteration: f64,
    /// Median over the repetitions of the ratio to the floor.
    pub(crate) times_floor: f64,
    /// The least time of all repetitions, as a multiple of the floor's least.
    pub(crate) least_times_floor: f64,
    pub(crate) target: Option<f64>,
}

struct Runner<'a> {
    name: String,
    target: Option<f64>,
    /// Runs that many iterations, or more. Returns how many.
    run: Box<dyn Fn(u64) -> u64 + 'a>,
    iterations: u64,
    seconds: Vec<f64>,
}

/// Seconds of processor time, and what `f` returns.
fn time<T>(f: impl FnOnce() -> T) -> (f64, T) {
    let begin = ProcessTime::now();
    let result = f();
    (begin.elapsed().as_secs_f64(), result)
}

/// Measures one workload on all executors, or with these strategies.
pub(crate) fn workload(workload: &Workload, strategies: &[String], reps: usize) -> Vec<Row> {
    let (name, params) = (workload.name, workload.params);
    let kind = name.to_ascii_lowercase();
    let mut runners = vec![runner("floor", None, {
        let kind = kind.clone();
        move |k| {
            floor::iterate(&kind, params, k);
            k
        }
    })];
    if strategies.is_empty() {
        runners.push(runner("tokio current_thread", None, {
            let kind = kind.clone();
            move |k| {
                on_tokio::iterate(&kind, params, k);
                k
            }
        }));
    }
    for subject in subjects(workload, strategies) {
        let kind = kind.clone();
        runners.push(runner(&subject.name(), subject.target, move |k| {
            let settings = (subject.granularity, subject.budget);
            cct::iterate(&kind, params, &subject.strategy, settings, k)
        }));
    }
    let (floor, others) = runners.split_first_mut().expect("the floor");
    floor.calibrate();
    let rows: Vec<Row> = others
        .iter_mut()
        .map(|runner| {
            runner.calibrate();
            let floor: Vec<f64> = (0..reps)
                .map(|_| {
                    runner.measure();
                    floor.measure()
                })
                .collect();
            runner.row(&floor)
        })
        .collect();
    let all = floor.seconds.clone();
    std::iter::once(floor.row(&all)).chain(rows).collect()
}

/// A way in which cct runs.
struct Subject {
    strategy: String,
    granularity: Granularity,
    budget: bool,
    target: Option<f64>,
}

impl Subject {
    fn name(&self) -> String {
        let suffix = match (self.granularity, self.budget) {
            (Granularity::Await, _) => " (await)",
            (_, true) => " (with tokio's budget)",
            _ => "",
        };
        format!("cct {}{suffix}", self.strategy)
    }
}

/// The ways that are measured.
fn subjects(workload: &Workload, strategies: &[String]) -> Vec<Subject> {
    let plain = |strategy: &str| Subject {
        strategy: strategy.to_owned(),
        granularity: Granularity::Op,
        budget: false,
        target: match strategy {
            "random" => Some(workload.random),
            "pct:d=3" => Some(workload.pct),
            _ => None,
        },
    };
    if !strategies.is_empty() {
        return strategies.iter().map(|text| plain(text)).collect();
    }
    let mut subjects: Vec<Subject> = ["random", "pct:d=3", "pos", "urw", "ql"]
        .map(plain)
        .into_iter()
        .collect();
    subjects.push(Subject {
        granularity: Granularity::Await,
        target: matches!(workload.name, "W2" | "W3" | "W4").then_some(5.0),
        ..plain("random")
    });
    subjects.push(Subject {
        budget: true,
        target: None,
        ..plain("random")
    });
    subjects
}

fn runner<'a>(name: &str, target: Option<f64>, run: impl Fn(u64) -> u64 + 'a) -> Runner<'a> {
    Runner {
        name: name.to_owned(),
        target,
        run: Box::new(run),
        iterations: 1,
        seconds: vec![],
    }
}

impl Runner<'_> {
    /// Warms up, and finds how many iterations fill the budget.
    fn calibrate(&mut self) {
        loop {
            let (seconds, _) = time(|| (self.run)(self.iterations));
            if seconds >= BUDGET.as_secs_f64() / 8.0 {
                let scale = BUDGET.as_secs_f64() / seconds;
                self.iterations = ((self.iterations as f64 * scale) as u64).max(ITERATIONS_MIN);
                return;
            }
            self.iterations *= 4;
        }
    }

    /// Seconds of one iteration.
    fn measure(&mut self) -> f64 {
        let (seconds, runs) = time(|| (self.run)(self.iterations));
        let seconds = seconds / runs as f64;
        self.seconds.push(seconds);
        seconds
    }

    fn row(&mut self, floor: &[f64]) -> Row {
        let mut ratios: Vec<f64> = self.seconds.iter().zip(floor).map(|(a, b)| a / b).collect();
        let least = |seconds: &[f64]| seconds.iter().copied().fold(f64::INFINITY, f64::min);
        Row {
            least_times_floor: least(&self.seconds) / least(floor),
            executor: self.name.clone(),
            us_per_iteration: median(&mut self.seconds) * 1e6,
            times_floor: median(&mut ratios),
            target: self.target,
        }
    }
}

/// The middle one, or the lower of the two.
pub(crate) fn median(figures: &mut [f64]) -> f64 {
    figures.sort_unstable_by(f64::total_cmp);
    figures[(figures.len() - 1) / 2]
}
