//! The tail of a long iteration: a random walk in the place of a strategy that is unfair.
//!
//! By priorities, two tasks that poll for each other and yield, or a request that is sent again at
//! each time limit, can go on for ever, as a third thing is never picked. Such an iteration would
//! show nothing but the step limit. The idea of a fair tail is Coyote's (P. Deligiannis et al.,
//! "Industrial-strength controlled concurrency testing for C# programs with Coyote", TACAS 2023).
//!
//! Does not: learn. A strategy is not asked in the tail, and what it guarantees holds before.

use super::draw;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, Pick, Seed};

/// Decisions before the tail, at least: half of the usual step limit. Few programs come near it, and
/// there is as much left to come to an end. Where the limit is higher, half of that.
pub(super) const HEAD: u64 = 50_000;

/// Takes the decisions after those of the head.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    stream: &'static str,
    generator: Generator,
    decisions: u64,
    /// How many decisions are the strategy's.
    head: u64,
}

impl Tail {
    /// One with a random stream of this name.
    pub(super) fn new(stream: &'static str) -> Tail {
        Tail {
            stream,
            generator: Seed(0).stream(stream),
            decisions: 0,
            head: u64::MAX,
        }
    }

    /// An iteration begins, with the usual head, or so many decisions if that is more.
    pub(super) fn begin(&mut self, iteration: &Iteration, least: u64) {
        self.begin_after(iteration, least.max(HEAD).max(iteration.max_steps / 2));
    }

    /// An iteration begins, with a head of so many decisions.
    pub(super) fn begin_after(&mut self, iteration: &Iteration, head: u64) {
        self.generator = iteration.seed.stream(self.stream);
        self.decisions = 0;
        self.head = head;
    }

    /// Counts a decision; whether it belongs to the tail.
    #[inline(always)]
    pub(super) fn has_come(&mut self) -> bool {
        self.decisions += 1;
        self.decisions > self.head
    }

    /// Decisions of this iteration so far.
    pub(super) fn decisions(&self) -> u64 {
        self.decisions
    }

    /// A decision of the tail.
    #[cold]
    pub(super) fn pick(&mut self, enabled: &EnabledSet<'_>) -> Pick {
        draw::any(&mut self.generator, enabled)
    }
}

#[cfg(test)]
mod tests {
    use super::HEAD;
    use crate::{Checker, spawn, task};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    /// Two tasks that poll for their turns, which come often.
    async fn pollers() {
        let turn = Arc::new(AtomicUsize::new(0));
        let tasks = [0, 1].map(|own| {
            let turn = turn.clone();
            spawn(async move {
                for round in 0..100 {
                    while turn.load(Ordering::Relaxed) != 2 * round + own {
                        task::yield_now().await;
                    }
                    turn.fetch_add(1, Ordering::Relaxed);
                }
            })
        });
        for task in tasks {
            task.await.unwrap();
        }
    }

    /// None of these iterations would end within the step limit otherwise.
    #[test]
    fn programs_that_poll_come_to_an_end() {
        for strategy in ["pos", "fest", "pct:d=3", "pct:d=1,patience=0", "pctcp:d=2"] {
            let checker = Checker::new().strategy_text(strategy).iterations(20);
            let report = checker.run(pollers);
            report.assert_passed();
            assert_eq!((report.iterations(), report.cut()), (20, 0), "{strategy}");
            let steps = report.coverage.steps;
            assert!(steps > 20 * HEAD, "{strategy}: {steps} steps");
        }
    }
}
