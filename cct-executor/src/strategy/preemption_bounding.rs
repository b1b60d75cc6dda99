//! Preemption bounding: every schedule with at most `b` preemptions, for `b` = 0, 1, 2...
//!
//! M. Musuvathi and S. Qadeer, "Iterative context bounding for systematic testing of multithreaded
//! programs", PLDI 2007.
//!
//! Guarantee: when a bound is completed, every schedule with at most that many preemptions was run;
//! which bounds were is a remark of the report. When in a whole round no choice was held back, every
//! schedule was run, and their number is reported. A program of `n` tasks with `k` steps in all, of
//! which `s` block or yield, has at most `C(k, b) (b + s)!` schedules with `b` preemptions, so for
//! small bounds the number is polynomial in `k`.
//!
//! How: a depth-first search over decisions. Where the task that ran last could simply go on, going
//! on is the first alternative and costs nothing; any other action costs one preemption and is
//! tried only within the bound. Where it cannot go on (it waits, has yielded or has ended) all
//! alternatives are free, and so are the values of data choices. A round ends when its search is
//! exhausted; the next round has one preemption more.
//!
//! Departures: the paper keeps the schedules at which a bound ran out and continues from them. Here
//! each round searches from the start, so schedules with fewer preemptions are run again: memory
//! stays proportional to the length of one schedule, and the price is small, as rounds grow fast.
//! The paper's race detection and its reduction to synchronisation operations are left out: what is
//! a scheduling point is the engine's business. A timer that fires early is an action like others
//! and costs a preemption. Limits are those of `exhaustive`.
//!
//! Measured by `bounds_have_the_right_number_of_schedules` against a closed form, and by
//! `without_a_bound_everything_is_explored` against the exhaustive search.

use super::backtracking::Backtracking;
use super::description::Description;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Lanes, Strategy};
use crate::words::enabled::EnabledActions;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};

/// Runs schedules in the order of their number of preemptions.
#[derive(Clone, Debug, Default)]
pub struct PreemptionBounding {
    /// The last bound to go to.
    max: Option<u32>,
    search: Backtracking,
    /// The bound of this round.
    bound: u32,
    /// Preemptions of this iteration.
    spent: u32,
    /// An alternative was left out in this round because of the bound.
    held_back: bool,
    exhausted: bool,
    /// A line for each round that is over.
    rounds: Vec<String>,
}

impl PreemptionBounding {
    pub(super) const ENTRY: Entry = Entry {
        name: "preemption-bounding",
        help: "every schedule with at most b preemptions, for b = 0, 1, 2...",
        parameters: &[Parameter {
            name: "bound",
            help: "the last b (none: until everything is explored)",
            kind: Kind::Number(0, u32::MAX as u64),
        }],
        build: |arguments| {
            Box::new(PreemptionBounding {
                max: arguments.number("bound").map(|bound| bound as u32),
                ..PreemptionBounding::new()
            })
        },
    };

    /// Raises the bound until everything is explored.
    pub fn new() -> Self {
        Self::default()
    }

    /// Stops when every schedule with at most so many preemptions was run.
    pub fn up_to(bound: u32) -> Self {
        PreemptionBounding {
            max: Some(bound),
            ..Self::default()
        }
    }

    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>, set: usize) -> usize {
        let current = point.current.filter(|_| point.can_continue);
        let Some(current) = current.and_then(|key| enabled.find(key)) else {
            return self.search.take(set as u32) as usize;
        };
        let current = current.0 as usize;
        if self.spent == self.bound {
            self.held_back = true;
            return current;
        }
        match self.search.take(set as u32) as usize {
            0 => current,
            other => {
                self.spent += 1;
                // The others in the set's order, the current one left out.
                other - usize::from(other <= current)
            }
        }
    }

    fn finish_round(&mut self) {
        let (bound, schedules) = (self.bound, self.search.schedules());
        self.rounds.push(match self.search.explored_all() {
            Some(_) => {
                format!("every schedule with at most {bound} preemptions was run: {schedules}")
            }
            None => format!(
                "bound {bound}: {schedules} schedules were run, but nothing is claimed ({})",
                match self.search.divergence() {
                    Some(divergence) => divergence.to_owned(),
                    None => format!("{} were cut by a limit", self.search.cut()),
                }
            ),
        });
        if !self.held_back || self.max == Some(bound) {
            self.exhausted = true;
        } else {
            self.bound += 1;
            self.held_back = false;
            self.search.restart();
        }
    }
}

impl Strategy for PreemptionBounding {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .given("bound", self.max)
            .text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn systematic(&self) -> bool {
        true
    }

    fn begin(&mut self, _: &Iteration) -> Flow {
        self.spent = 0;
        self.search.begin();
        if self.exhausted {
            Flow::Exhausted
        } else {
            Flow::Continue
        }
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let index = match enabled {
            EnabledSet::Actions(actions) => self.next(point, actions, enabled.len()),
            EnabledSet::Values(_) => self.search.take(enabled.len() as u32) as usize,
        };
        enabled.pick(index)
    }

    fn end(&mut self, end: &IterationEnd) {
        self.search.end(&end.outcome);
        if self.search.is_exhausted() {
            self.finish_round();
        }
    }

    fn explored_all(&self) -> Option<u64> {
        let all = self.exhausted && !self.held_back;
        self.search.explored_all().filter(|_| all)
    }

    fn adapted(&self) -> String {
        match self.search.divergence() {
            Some(divergence) => divergence.to_owned(),
            None => format!("bound={}", self.bound),
        }
    }

    fn remarks(&self) -> Vec<String> {
        self.rounds.clone()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::Exhaustive;
    use crate::strategy::model::{Do, Toy};
    use crate::words::Seed;
    use std::collections::BTreeSet;

    /// Order and values of each distinct schedule.
    type Schedules = BTreeSet<(Vec<u32>, Vec<u32>)>;

    /// Explores; returns the distinct schedules and the number of runs.
    fn explore(tasks: Vec<Vec<Do>>, strategy: &mut dyn Strategy) -> (Schedules, u64) {
        let mut toy = Toy::new(tasks);
        let mut seen = BTreeSet::new();
        let mut runs = 0;
        while let Some(run) = toy.try_run(strategy, Seed(3), runs) {
            seen.insert((run.order, run.values));
            runs += 1;
        }
        (seen, runs)
    }

    fn choose(n: u64, k: u64) -> u64 {
        (1..=k).fold(1, |product, i| product * (n + 1).saturating_sub(i) / i)
    }

    /// Words of `n` letters a and `n` letters b: with `r` runs of equal letters there are
    /// `2 C(n-1, ceil(r/2)-1) C(n-1, floor(r/2)-1)`. All changes of letter are preemptions but the
    /// last, as the task that ran before it has ended.
    #[test]
    fn bounds_have_the_right_number_of_schedules() {
        for n in 1..7_u64 {
            for bound in 0..4_u64 {
                let count = (2..=bound + 2_u64)
                    .map(|r| 2 * choose(n - 1, r.div_ceil(2) - 1) * choose(n - 1, r / 2 - 1))
                    .sum::<u64>();
                let mut strategy = PreemptionBounding::up_to(bound as u32);
                let (seen, _) = explore(vec![vec![Do::Step; n as usize]; 2], &mut strategy);
                assert_eq!(seen.len() as u64, count, "n {n}, bound {bound}");
                let last = strategy.remarks().pop().unwrap();
                assert!(last.starts_with("every schedule with at most "), "{last}");
                assert!(last.ends_with(&format!(" preemptions was run: {count}")));
            }
        }
    }

    #[test]
    fn without_a_bound_everything_is_explored() {
        let locking = vec![Do::Lock(0), Do::Step, Do::Unlock(0), Do::Choose(2)];
        for tasks in [
            vec![vec![Do::Step; 3]; 3],
            vec![locking.clone(), locking, vec![Do::Yield; 2]],
            vec![vec![Do::Spawn(1), Do::Step, Do::Join(1)], vec![Do::Step; 3]],
        ] {
            let mut strategy = PreemptionBounding::new();
            let (seen, _) = explore(tasks.clone(), &mut strategy);
            assert_eq!(strategy.explored_all(), Some(seen.len() as u64));
            let mut exhaustive = Exhaustive::new();
            assert_eq!(explore(tasks, &mut exhaustive).0, seen);
        }
    }

    #[test]
    fn leaving_a_task_that_yields_is_free() {
        let tasks = vec![vec![Do::Yield; 3]; 2];
        let mut strategy = PreemptionBounding::new();
        let (seen, runs) = explore(tasks, &mut strategy);
        assert_eq!((seen.len(), runs), (20, 20));
        assert_eq!(
            strategy.remarks(),
            ["every schedule with at most 0 preemptions was run: 20"]
        );
        assert_eq!(strategy.explored_all(), Some(20));
    }

    #[test]
    fn a_bound_that_held_something_back_claims_no_more_than_itself() {
        let mut strategy = PreemptionBounding::up_to(1);
        let (_, runs) = explore(vec![vec![Do::Step; 3]; 2], &mut strategy);
        assert_eq!(strategy.explored_all(), None);
        assert_eq!(runs, 2 + 6);
        assert_eq!(strategy.remarks().len(), 2);
    }

    #[test]
    fn a_cut_round_claims_nothing() {
        let mut toy = Toy::new(vec![vec![Do::Step; 3]; 2]);
        toy.limit = 4;
        let mut strategy = PreemptionBounding::up_to(0);
        let mut runs = 0;
        while toy.try_run(&mut strategy, Seed(3), runs).is_some() {
            runs += 1;
        }
        let expect =
            "bound 0: 2 schedules were run, but nothing is claimed (2 were cut by a limit)";
        assert_eq!(strategy.remarks(), [expect]);
    }
}
