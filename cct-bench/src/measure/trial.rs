//! One trial: a fresh instance of a strategy drives a subject for a number of iterations.

use crate::subjects::{Probe, Subject};
use cct_executor::words::fingerprint::{hash_of, mix2};
use cct_executor::{Checker, Seed};

/// What to run.
#[derive(Clone, Debug)]
pub(crate) struct Trial {
    pub(crate) subject: &'static Subject,
    /// The strategy, as text.
    pub(crate) strategy: String,
    /// The repaired program.
    pub(crate) fixed: bool,
    pub(crate) iterations: u64,
    pub(crate) seed: u64,
    /// Its number among those of the same subject and strategy.
    pub(crate) number: u64,
    /// Explore past failures and count them.
    pub(crate) keep_going: bool,
}

/// What came out.
#[derive(Clone, Debug)]
pub(crate) struct Result {
    /// Schedules until the first failure, the failing one included.
    pub(crate) found_after: Option<u64>,
    /// Iterations that failed; at most one unless the trial kept going.
    pub(crate) failing: u64,
    pub(crate) iterations: u64,
    pub(crate) steps: u64,
    /// Iterations cut by a limit.
    pub(crate) cut: u64,
    /// Seconds spent searching.
    pub(crate) seconds: f64,
    /// Distinct states that the subject visited, by itself and by target.
    pub(crate) visited: u64,
    pub(crate) targets: Vec<u64>,
    /// Distinct abstract states after so many iterations.
    pub(crate) states_by_iteration: Vec<(u64, u64)>,
}

impl Trial {
    /// Runs it.
    ///
    /// # Errors
    /// If the strategy does not exist.
    pub(crate) fn run(&self) -> std::result::Result<Result, String> {
        let subject = self.subject;
        let scenario = match subject.fixed {
            Some(fixed) if self.fixed => fixed,
            _ => subject.scenario,
        };
        let probe = Probe::default();
        let theirs = probe.clone();
        let report = Checker::new()
            .name(subject.name)
            .use_environment(false)
            .strategy_text(&self.strategy)
            .iterations(self.iterations)
            .time_budget(None)
            .determinism_check(false)
            .await_check(false)
            .shrink(false)
            .workers(1)
            .seed(self.seed())
            .granularity(subject.granularity)
            .clock(subject.clock)
            .max_steps(subject.max_steps)
            .keep_going(self.keep_going)
            .run(move || scenario(theirs.clone()));
        if let Some(error) = report.error() {
            return Err(error.to_owned());
        }
        let (visited, targets) = probe.with(|visited| {
            let targets = visited.targets.iter().map(|t| t.len() as u64).collect();
            (visited.states.len() as u64, targets)
        });
        Ok(Result {
            found_after: report.failure().map(|failure| failure.iteration() + 1),
            failing: report.coverage.failing,
            iterations: report.iterations,
            steps: report.coverage.steps,
            cut: report.cut(),
            seconds: report.search.as_secs_f64(),
            visited,
            targets,
            states_by_iteration: report.coverage.states_by_iteration,
        })
    }

    /// The same for all strategies.
    fn seed(&self) -> Seed {
        let subject = hash_of(self.subject.name);
        Seed(mix2(mix2(self.seed, subject), self.number))
    }
}
