//! Iterative delay bounding: the task that runs goes on, but for a number of random switches that
//! grows when nothing new is found.
//!
//! A baseline of S. Mukherjee, P. Deligiannis, A. Biswas and A. Lal, "Learning-based controlled
//! concurrency testing", OOPSLA 2020, section 5.3. Not the delay bounding of M. Emmi, S. Qadeer and
//! Z. Rakamaric, POPL 2011, from which it takes the name.
//!
//! Guarantee: none. It is not fair: a task that spins is left only where a switch falls.
//!
//! How: the task that ran last goes on while it is enabled; when it is not, any enabled action is
//! next, with equal probability and at no cost. At `b` distinct steps, drawn below the length of the
//! longest iteration so far, one of the *other* actions is next. A step where there is nothing to
//! switch (one choice, a data choice, or the last task is disabled) uses its switch up. Data choices
//! are uniform, or by weight. `b` begins at 0 and is raised by one when 100 iterations found no
//! new abstract state.
//!
//! Departures: states are the fingerprints at decisions, without what user code observes; steps
//! with one choice are not seen. When [`states`](Idb::states) are known, what is new is not noticed,
//! and the report says so.
//!
//! Where paper and artifact differ: by the paper the 100 iterations follow each other (`rule=paper`);
//! in the artifact a new state does not start the count anew. The artifact's rule is the default, as
//! it fits the published table: there 70 of 100 trials find the bug of Triangular-2; on the toy
//! engine 42 of 60 do, and 34 of 60 by the paper's rule.
//!
//! Measured by `the_bound_grows_when_nothing_new_is_found`, `a_switch_goes_to_another_task`,
//! and on programs of the paper by `idb_finds_the_bugs_of_small_programs`.

use super::description::Description;
use super::memory::Memory;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

const STATES: u64 = 4_000_000;
/// Iterations without a new state after which the bound is raised.
const PATIENCE: u64 = 100;

/// Switches at random steps, more and more of them; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Idb {
    by_paper: bool,
    states_max: u64,
    states: Memory<()>,
    /// States that were known before this iteration.
    known: usize,
    /// Iterations that found nothing, since the bound was raised or something was found.
    barren: u64,
    bound: u32,
    /// Most steps of an iteration so far.
    length: u64,
    generator: Generator,
    drawn: Vec<u32>,
    /// Invariant: sorted. Steps before which to switch.
    points: Vec<u32>,
    next: usize,
}

impl Idb {
    pub(super) const ENTRY: Entry = Entry {
        name: "idb",
        help: "goes on with a task, but for random switches that grow when nothing new is found",
        parameters: &[
            Parameter {
                name: "states",
                help: "most states to remember (4000000)",
                kind: Kind::Number(1, 1 << 32),
            },
            Parameter {
                name: "rule",
                help: "when the bound is raised: as in the P# tester, or as in the paper (psharp)",
                kind: Kind::Word(&["psharp", "paper"]),
            },
        ],
        build: |arguments| {
            Box::new(
                Idb::new()
                    .states(arguments.number("states").unwrap_or(STATES))
                    .by_paper(arguments.word("rule") == Some(1)),
            )
        },
    };

    /// By the rule of the P# tester.
    pub fn new() -> Self {
        Idb {
            by_paper: false,
            states_max: STATES,
            states: Memory::new(STATES as usize),
            known: 0,
            barren: 0,
            bound: 0,
            length: 0,
            generator: Seed(0).stream("idb"),
            drawn: Vec::new(),
            points: Vec::new(),
            next: 0,
        }
    }

    /// Remembers at most so many states.
    pub fn states(self, most: u64) -> Self {
        Idb {
            states_max: most,
            states: Memory::new(most as usize),
            ..self
        }
    }

    /// Whether a new state starts the count of iterations anew, as in the paper.
    pub fn by_paper(self, on: bool) -> Self {
        Idb {
            by_paper: on,
            ..self
        }
    }

    fn draw_points(&mut self) {
        // There is no decision before the first step.
        let range = u32::try_from(self.length.saturating_sub(1)).unwrap_or(u32::MAX);
        let bound = self.bound as usize;
        draw::biased_distinct(&mut self.generator, range, bound, &mut self.drawn);
        self.points.clear();
        self.points.extend(self.drawn.iter().map(|point| point + 1));
        self.points.sort_unstable();
        self.next = 0;
    }

    /// Whether to switch before this step.
    #[inline]
    fn is_due(&mut self, step: u64) -> bool {
        while let Some(&point) = self.points.get(self.next) {
            if u64::from(point) > step {
                return false;
            }
            self.next += 1;
            if u64::from(point) == step {
                return true;
            }
        }
        false
    }

    #[inline]
    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>, set: u32) -> usize {
        let due = self.is_due(point.step);
        let current = point.current.and_then(|key| enabled.find(key));
        match current {
            None => draw::below(&mut self.generator, set) as usize,
            Some(current) if !due => current.0 as usize,
            Some(current) => {
                let other = draw::below(&mut self.generator, set - 1);
                (other + u32::from(other >= current.0)) as usize
            }
        }
    }
}

impl Default for Idb {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Idb {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .unless("states", self.states_max, STATES)
            .given("rule", self.by_paper.then_some("paper"))
            .text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn systematic(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            parts: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("idb");
        self.draw_points();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let state = point.fingerprint.0.wrapping_sub(point.parts.observed);
        let _ = self.states.entry(state);
        let index = match enabled {
            EnabledSet::Values(values) => draw::value(&mut self.generator, values),
            EnabledSet::Actions(actions) => self.next(point, actions, enabled.len() as u32),
        };
        enabled.pick(index)
    }

    fn end(&mut self, end: &IterationEnd) {
        self.length = self.length.max(end.steps);
        if self.states.len() == self.known {
            self.barren += 1;
            if self.barren == PATIENCE {
                self.barren = 0;
                self.bound = self.bound.saturating_add(1);
            }
        } else if self.by_paper {
            self.barren = 0;
        }
        self.known = self.states.len();
    }

    fn adapted(&self) -> String {
        format!("bound={}", self.bound)
    }

    fn remarks(&self) -> Vec<String> {
        if self.states.refused() == 0 {
            return Vec::new();
        }
        vec![format!(
            "the memory was full (states={}): no new state was noticed from then on",
            self.states_max
        )]
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};

    #[test]
    fn the_bound_grows_when_nothing_new_is_found() {
        // Nothing is new after the first iteration: two tasks, one after the other.
        let mut toy = Toy::new(vec![vec![Do::Spawn(1), Do::Step], vec![Do::Step]]);
        for by_paper in [false, true] {
            let mut strategy = Idb::new().by_paper(by_paper);
            for index in 0..101 {
                assert_eq!(strategy.adapted(), "bound=0");
                toy.run(&mut strategy, Seed(1), index);
            }
            assert_eq!(strategy.adapted(), "bound=1");
        }
    }

    /// A state that is new now and then keeps the bound down only by the paper's rule.
    #[test]
    fn what_is_new_starts_the_count_anew() {
        let run = |by_paper| {
            let mut strategy = Idb::new().by_paper(by_paper);
            for index in 0..1000 {
                strategy.begin(&Iteration {
                    index,
                    seed: Seed(index),
                    max_steps: 100_000,
                });
                if index % 50 == 0 {
                    let _ = strategy.states.entry(index + 1);
                }
                strategy.end(&IterationEnd {
                    outcome: crate::words::Outcome::Passed,
                    steps: 1,
                    decisions: 0,
                    schedule_hash: 0,
                    fingerprint: crate::words::Fingerprint(0),
                    parts: crate::words::StateParts::default(),
                    waypoint: 0,
                    waypoints: 0,
                });
            }
            strategy.bound
        };
        assert_eq!((run(true), run(false)), (0, 9));
    }

    /// With a switch at every step no task ever goes on while another one could.
    #[test]
    fn a_switch_goes_to_another_task() {
        let mut toy = Toy::new(vec![vec![Do::Step; 6]; 3]);
        let mut strategy = Idb::new();
        (strategy.bound, strategy.length) = (100, 18);
        let run = toy.run(&mut strategy, Seed(1), 0);
        let both = run.order.windows(2).take(run.decisions as usize - 1);
        assert!(both.into_iter().all(|pair| pair[0] != pair[1]));

        // Without one every task goes on to its end.
        let run = toy.run(&mut Idb::new(), Seed(1), 0);
        let switches = run.order.windows(2).filter(|pair| pair[0] != pair[1]);
        assert_eq!(switches.count(), 2);
    }

    #[test]
    fn a_full_memory_is_reported() {
        let mut toy = Toy::new(vec![vec![Do::Write(0)], vec![Do::Write(1)], vec![Do::Step]]);
        let mut strategy = Idb::new().states(1);
        (0..20).for_each(|index| drop(toy.run(&mut strategy, Seed(1), index)));
        assert!(strategy.remarks()[0].contains("(states=1)"));
    }
}
