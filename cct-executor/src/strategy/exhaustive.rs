//! Exhaustive search: every schedule, depth first.
//!
//! Stateless search as in P. Godefroid, "Model checking for programming languages using VeriSoft",
//! POPL 1997, without its reductions.
//!
//! Guarantee: if it ends without a divergence or a cut, every sequence of decisions that the
//! program admits was run exactly once; the run is then exhausted and the number is reported.
//!
//! How: the choices of the last iteration are kept as a stack. The next iteration repeats them up
//! to the last decision with a choice left, takes that one's next choice, and the first choice at
//! every decision after it. Data choices are decisions like any other; their weights mean nothing
//! here.
//!
//! Limits: the number of schedules grows exponentially, so this is for small programs. A program
//! that does not end is cut by a limit; its schedules are counted up to the cut, and nothing is
//! claimed about having explored all. A program that behaves differently under the same decisions
//! cannot be searched: the first difference is noted in [`adapted`](Strategy::adapted), the
//! decision is taken modulo the number of choices, and again nothing is claimed.
//!
//! Measured by the tests below, against closed forms: multinomial coefficients for independent
//! tasks, products for data choices.

use super::backtracking::Backtracking;
use super::spec::Entry;
use super::{Flow, Lanes, Strategy};
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};

/// Runs every schedule once.
#[derive(Clone, Debug, Default)]
pub struct Exhaustive {
    search: Backtracking,
}

impl Exhaustive {
    pub(super) const ENTRY: Entry = Entry {
        name: "exhaustive",
        help: "every schedule once, depth first; for small programs",
        parameters: &[],
        build: |_| Box::new(Exhaustive::new()),
    };

    /// Every schedule.
    pub fn new() -> Self {
        Self::default()
    }
}

impl Strategy for Exhaustive {
    fn describe(&self) -> String {
        Self::ENTRY.name.to_owned()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn systematic(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &Iteration) -> Flow {
        self.search.begin();
        if self.search.is_exhausted() {
            Flow::Exhausted
        } else {
            Flow::Continue
        }
    }

    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        enabled.pick(self.search.take(enabled.len() as u32) as usize)
    }

    fn end(&mut self, end: &IterationEnd) {
        self.search.end(&end.outcome);
    }

    fn explored_all(&self) -> Option<u64> {
        self.search.explored_all()
    }

    fn adapted(&self) -> String {
        self.search.divergence().unwrap_or_default().to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::words::Seed;
    use std::collections::BTreeSet;

    /// Explores everything; returns the schedules, asserting that no two are equal.
    fn explore(tasks: Vec<Vec<Do>>) -> BTreeSet<(Vec<u32>, Vec<u32>)> {
        let mut toy = Toy::new(tasks);
        let mut strategy = Exhaustive::new();
        let mut seen = BTreeSet::new();
        let mut runs = 0;
        while let Some(run) = toy.try_run(&mut strategy, Seed(3), runs) {
            runs += 1;
            assert!(
                seen.insert((run.order, run.values)),
                "a schedule was repeated"
            );
        }
        assert_eq!(strategy.explored_all(), Some(runs));
        assert_eq!(strategy.adapted(), "");
        seen
    }

    fn factorial(n: u64) -> u64 {
        (1..=n).product()
    }

    #[test]
    fn independent_tasks_have_multinomially_many_schedules() {
        for (tasks, steps) in [
            (1, 5),
            (2, 1),
            (2, 4),
            (2, 6),
            (3, 1),
            (3, 3),
            (4, 2),
            (6, 1),
        ] {
            for step in [Do::Step, Do::Yield] {
                let count = explore(vec![vec![step; steps as usize]; tasks as usize]).len() as u64;
                assert_eq!(
                    count,
                    factorial(tasks * steps) / factorial(steps).pow(tasks as u32)
                );
            }
        }
    }

    #[test]
    fn data_choices_multiply() {
        let values = vec![Do::Choose(3), Do::Weighted(&[1, 0, 7, 7]), Do::Choose(5)];
        assert_eq!(explore(vec![values]).len(), 3 * 4 * 5);
        // Two tasks of two steps, one choice of three values in each task.
        let task = vec![Do::Step, Do::Choose(3)];
        assert_eq!(explore(vec![task; 2]).len(), 6 * 3 * 3);
    }

    #[test]
    fn critical_sections_are_atomic() {
        // Four blocks in the order of the locks' being taken: 4! / (2! 2!). Between taking the lock
        // and giving it back the other task can only step up to its own lock.
        let task = vec![Do::Lock(0), Do::Step, Do::Unlock(0)];
        assert_eq!(explore(vec![task.clone(); 2]).len(), 2);
        assert_eq!(explore(vec![[task.clone(), task].concat(); 2]).len(), 6);
    }

    #[test]
    fn both_orders_of_two_locks_deadlock_in_some_schedules() {
        let task = |a, b| vec![Do::Lock(a), Do::Lock(b), Do::Unlock(b), Do::Unlock(a)];
        let seen = explore(vec![task(0, 1), task(1, 0)]);
        let stuck = seen.iter().filter(|(order, _)| order.len() == 2).count();
        assert_eq!(stuck, 2);
    }

    #[test]
    fn a_program_without_choices_has_one_schedule() {
        assert_eq!(explore(vec![vec![Do::Step; 4]]).len(), 1);
    }

    #[test]
    fn a_cut_run_claims_nothing() {
        let mut toy = Toy::new(vec![vec![Do::Step; 3]; 2]);
        toy.limit = 4;
        let mut strategy = Exhaustive::new();
        let mut runs = 0;
        while toy.try_run(&mut strategy, Seed(3), runs).is_some() {
            runs += 1;
        }
        // Words of four letters out of aaabbb.
        assert_eq!(runs, 14);
        assert_eq!(strategy.explored_all(), None);
    }

    #[test]
    fn divergence_is_noticed() {
        let mut strategy = Exhaustive::new();
        Toy::new(vec![vec![Do::Step; 2]; 3]).run(&mut strategy, Seed(3), 0);
        Toy::new(vec![vec![Do::Step; 2]; 2]).run(&mut strategy, Seed(3), 1);
        let note = strategy.adapted();
        assert_eq!(
            note, "diverged at decision 0 of schedule 1: 2 choices where there were 3",
            "the first difference is the one that is kept"
        );

        let mut strategy = Exhaustive::new();
        Toy::new(vec![vec![Do::Step; 2]; 2]).run(&mut strategy, Seed(3), 0);
        Toy::new(vec![vec![Do::Step; 1]; 2]).run(&mut strategy, Seed(3), 1);
        assert!(strategy.adapted().contains("ended where it went on before"));
        Toy::new(vec![vec![Do::Step; 1]; 2]).run(&mut strategy, Seed(3), 2);
        assert_eq!(strategy.explored_all(), None);
    }
}
