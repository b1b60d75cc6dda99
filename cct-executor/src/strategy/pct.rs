//! PCT: priorities with a bounded number of changes, and a bound on the odds of finding a bug.
//!
//! S. Burckhardt, P. Kothari, M. Musuvathi and S. Nagarakatte, "A randomized scheduler with
//! probabilistic guarantees of finding bugs", ASPLOS 2010. The original of its figure 7, not the
//! later variants that share the name.
//!
//! Guarantee: a bug of depth `d` (one that shows whenever `d` ordering constraints hold) is found
//! by each iteration with probability at least `1 / (n (k + d - 2)^(d - 1))`, with `n` the number
//! of actions and `k` a bound on the number of decisions. As `k` is below the paper's `k`, the
//! number of all steps, this is at least the paper's `1 / (n k^(d - 1))` for `d` up to 3.
//!
//! How: every action has a random priority and the enabled one with the highest priority runs. At
//! `d - 1` positions, drawn independently and uniformly, the action that is about to run gets the
//! priority `d - i`, below all initial ones, where `i` numbers the positions as they were drawn and
//! not as they follow each other: the theorem needs their order to be random.
//!
//! Departures from figure 7, none of which costs the guarantee:
//! - A change is made before a step, where figure 7 makes it after the same task's step before.
//!   Nothing can be told apart, as a priority does not matter while another task runs; but now a
//!   task's first step can be held back too (figure 7 needs a dummy step), and also one whose
//!   forerunner ran alone.
//! - Positions are counted over decisions with at least two enabled actions only (the paper's
//!   optimisation for sequential execution) and, so that two changes can fall on one decision,
//!   over the choices made again after a change. Hence `k + d - 2`.
//! - Priorities are drawn when an action is first seen, so `n` need not be known.
//! - Data choices, unknown to the paper, are uniform, or by weight, and take no position.
//!
//! Heuristics of the paper, which do cost it:
//! - `k` unknown: the most decisions that iteration 0 or any earlier iteration of the lane took,
//!   those that were cut by a limit left out while there are others. Iteration 0 changes no
//!   priorities.
//! - [`phases`](Pct::phases) (off): when only one action was enabled, a new phase begins. `k` is
//!   that of a phase, positions and priorities are drawn anew. The guarantee then holds for
//!   bugs within one phase.
//! - [`final_wait`](Pct::final_wait) (off): the main task is put below all others before its last
//!   step, found by counting its steps in earlier iterations of the lane.
//! - [`patience`](Pct::patience) (1000): a task that has yielded so often while no other ran is
//!   put below all others with probability 1/16 at each further yield. It is probably spinning.
//!   A single yield lowers nothing: that would hide most bugs.
//! - After 50,000 decisions, or half of the step limit, or `k`, whichever is most, an iteration goes on as a random walk, see
//!   the module `tail`.
//!
//! Measured by the tests below on programs with known `n`, `k` and `d`, with the odds of a false
//! alarm below 10^-9.

use super::description::Description;
use super::length::{LANES, Length};
use super::ranking::{BELOW_NEW, Ranking};
use super::spec::{Entry, Kind, Parameter};
use super::tail::Tail;
use super::{Flow, Interests, Lanes, StepEvent, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

const DEFAULT_PATIENCE: u64 = 1000;
/// One in so many yields beyond patience lowers the task.
const IMPATIENCE: u32 = 16;
/// Priorities given by change points are this plus 1 to `d - 1`.
const CHANGED: u64 = BELOW_NEW >> 1;
/// The priority of the main task during the final wait, below all others.
const LAST: u64 = 1;

/// Runs the enabled action of highest priority; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Pct {
    depth: u32,
    given_k: Option<u64>,
    phases: bool,
    final_wait: bool,
    patience: u64,
    learnt: Learnt,
    /// Over how many decisions the changes of this iteration are spread; 0 while nothing is known.
    k: u64,

    priorities: Generator,
    positions: Generator,
    values: Generator,
    impatience: Generator,

    ranking: Ranking,
    /// Invariant: sorted. Position, and priority that is given there.
    changes: Vec<(u64, u64)>,
    next_change: usize,
    /// The position of the next change; 0 when there is none.
    next_position: u64,
    /// Choices made so far in this phase, those made again after a change included.
    position: u64,
    /// The last priority given to a task that spins.
    bottom: u64,
    tail: Tail,
    last: Option<ActionKey>,
    /// The step of the last decision.
    last_step: u64,
    /// How often in a row the last action has yielded.
    yields: u64,
    /// Decisions in this phase, and in the longest phase of this iteration.
    decisions: u64,
    max_decisions: u64,
    main_steps: u64,
    waiting: bool,
    /// The last action stands first in the order, and a decision has to look at no more than that.
    steady: bool,
}

/// What one iteration tells the next.
#[derive(Clone, Copy, Debug, Default)]
struct Learnt {
    length: Length,
    /// Most steps of the main task.
    main_steps: u64,
}

impl Pct {
    pub(super) const ENTRY: Entry = Entry {
        name: "pct",
        help: "random priorities with d - 1 changes; finds bugs of depth d with known odds",
        parameters: &[
            Parameter {
                name: "d",
                help: "bug depth (3)",
                kind: Kind::Number(1, 10_000),
            },
            Parameter {
                name: "k",
                help: "decisions to spread the changes over (from earlier iterations)",
                kind: Kind::Number(1, u32::MAX as u64),
            },
            Parameter {
                name: "phases",
                help: "start anew whenever only one action was enabled (off)",
                kind: Kind::Switch,
            },
            Parameter {
                name: "final-wait",
                help: "hold the main task back before its last step (off)",
                kind: Kind::Switch,
            },
            Parameter {
                name: "patience",
                help: "yields in a row after which a task counts as spinning; 0 for never (1000)",
                kind: Kind::Number(0, u32::MAX as u64),
            },
        ],
        build: |arguments| {
            let mut pct = Pct::depth(arguments.number("d").unwrap_or(3) as u32)
                .phases(arguments.is_on("phases"))
                .final_wait(arguments.is_on("final-wait"))
                .patience(arguments.number("patience").unwrap_or(DEFAULT_PATIENCE));
            pct.given_k = arguments.number("k");
            Box::new(pct)
        },
    };

    /// PCT for bugs of this depth, with the default parameters.
    ///
    /// # Panics
    /// If the depth is 0.
    #[track_caller]
    pub fn depth(d: u32) -> Pct {
        assert!(d > 0, "pct: a bug has a depth of at least 1");
        let none = Seed(0);
        Pct {
            depth: d,
            given_k: None,
            phases: false,
            final_wait: false,
            patience: DEFAULT_PATIENCE,
            learnt: Learnt::default(),
            k: 0,
            priorities: none.stream("pct.priorities"),
            positions: none.stream("pct.positions"),
            values: none.stream("pct.values"),
            impatience: none.stream("pct.impatience"),
            ranking: Ranking::default(),
            changes: Vec::new(),
            next_change: 0,
            next_position: 0,
            position: 0,
            bottom: CHANGED,
            tail: Tail::new("pct.tail"),
            last: None,
            last_step: 0,
            yields: 0,
            decisions: 0,
            max_decisions: 0,
            main_steps: 0,
            waiting: false,
            steady: false,
        }
    }

    /// Spreads the changes over this many decisions instead of learning how many there are.
    ///
    /// # Panics
    /// If `k` is 0.
    #[track_caller]
    pub fn k(self, k: u32) -> Pct {
        assert!(
            k > 0,
            "pct: changes must be spread over at least 1 decision"
        );
        Pct {
            given_k: Some(u64::from(k)),
            ..self
        }
    }

    /// Starts anew whenever only one action was enabled.
    pub fn phases(self, on: bool) -> Pct {
        Pct { phases: on, ..self }
    }

    /// Holds the main task back before its last step.
    pub fn final_wait(self, on: bool) -> Pct {
        Pct {
            final_wait: on,
            ..self
        }
    }

    /// After how many yields in a row a task counts as spinning; 0 for never.
    pub fn patience(self, yields: u64) -> Pct {
        Pct {
            patience: yields,
            ..self
        }
    }

    /// Over how many decisions to spread the changes of the next iteration.
    fn spread(&self) -> u64 {
        self.given_k
            .unwrap_or_else(|| self.learnt.length.decisions())
    }

    fn draw_changes(&mut self) {
        self.changes.clear();
        self.next_change = 0;
        self.next_position = 0;
        self.position = 0;
        if self.k == 0 || self.depth == 1 {
            return;
        }
        let d = u64::from(self.depth);
        let range = u32::try_from(self.k + d - 2).unwrap_or(u32::MAX);
        for i in 1..d {
            let position = 1 + u64::from(draw::below(&mut self.positions, range));
            self.changes.push((position, CHANGED + d - i));
        }
        // Of several changes at one position the last drawn counts, as in figure 7: the lowest.
        self.changes
            .sort_unstable_by_key(|&(position, priority)| (position, !priority));
        self.next_position = self.upcoming();
    }

    #[cold]
    fn new_phase(&mut self, enabled: &EnabledActions<'_>) {
        self.max_decisions = self.max_decisions.max(self.decisions);
        self.decisions = 0;
        self.ranking.renew(enabled, &mut self.priorities);
        self.draw_changes();
    }

    /// Puts a task that seems to spin below all others.
    #[cold]
    fn lose_patience(&mut self, spinning: ActionKey) {
        if draw::below(&mut self.impatience, IMPATIENCE) == 0 {
            self.bottom -= 1;
            self.ranking.set(spinning, self.bottom);
            self.yields = 0;
        }
    }

    #[inline]
    fn count_yield(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) {
        // A poll that returned but left its task enabled is a yield by another name.
        if let (Some(last), false) = (self.last, point.can_continue) {
            if point.current == self.last && (point.yielded || enabled.find(last).is_some()) {
                self.yields += 1;
                if self.patience != 0 && self.yields > self.patience {
                    self.lose_patience(last);
                }
            }
        }
    }

    /// The last action once more, where nothing else became enabled and no change is due: what most
    /// decisions come to. It can go on, or has yielded.
    #[inline]
    fn once_more(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Option<Pick> {
        let last = self.last.filter(|_| self.steady)?;
        let yielded = !point.can_continue;
        let quiet = if yielded {
            point.current == self.last && enabled.only_fresh(last)
        } else {
            !enabled.has_fresh()
        };
        let patient = !yielded || self.patience == 0 || self.yields < self.patience;
        if !quiet || !patient || self.position + 1 == self.next_position {
            return None;
        }
        let pick = enabled.find(last)?;
        self.yields += u64::from(yielded);
        self.position += 1;
        self.decisions += 1;
        self.last_step = point.step;
        Some(pick)
    }

    #[inline(never)]
    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Pick {
        if self.phases && self.last.is_some() && point.step > self.last_step + 1 {
            self.new_phase(enabled);
        }
        self.last_step = point.step;
        for key in enabled.fresh() {
            self.ranking.admit(key, &mut self.priorities);
        }
        self.count_yield(point, enabled);
        self.decisions += 1;
        let (key, pick) = loop {
            let (key, pick) = self.ranking.top(enabled, &mut self.priorities);
            if self.must_wait(key) {
                self.waiting = true;
                self.ranking.set(key, LAST);
                continue;
            }
            self.position += 1;
            if self.position != self.next_position {
                break (key, pick);
            }
            self.change(key);
        };
        if self.last != Some(key) {
            self.last = Some(key);
            self.yields = 0;
        }
        self.steady = !self.phases && !self.final_wait;
        pick
    }

    /// Makes all changes of the present position.
    #[cold]
    fn change(&mut self, key: ActionKey) {
        while self.position == self.next_position {
            self.ranking.set(key, self.changes[self.next_change].1);
            self.next_change += 1;
            self.next_position = self.upcoming();
        }
    }

    fn upcoming(&self) -> u64 {
        self.changes
            .get(self.next_change)
            .map_or(0, |&(position, _)| position)
    }

    /// Whether this is the main task before what should be its last step.
    #[inline]
    fn must_wait(&self, key: ActionKey) -> bool {
        self.final_wait
            && !self.waiting
            && key == main_task()
            && self.main_steps + 1 == self.learnt.main_steps
    }
}

/// The main task is the first action of every world.
fn main_task() -> ActionKey {
    ActionKey::from_index(0)
}

impl Strategy for Pct {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .given("d", Some(self.depth))
            .given("k", self.given_k)
            .given("phases", self.phases.then_some("on"))
            .given("final-wait", self.final_wait.then_some("on"))
            .unless("patience", self.patience, DEFAULT_PATIENCE)
            .text()
    }

    fn lanes(&self) -> Lanes {
        let learns = self.final_wait || (self.given_k.is_none() && self.depth > 1);
        if learns {
            Lanes::Fixed(LANES)
        } else {
            Lanes::Independent
        }
    }

    fn primed(&self) -> bool {
        self.lanes() != Lanes::Independent
    }

    fn interests(&self) -> Interests {
        Interests {
            steps: self.final_wait,
            fresh: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.priorities = iteration.seed.stream("pct.priorities");
        self.positions = iteration.seed.stream("pct.positions");
        self.values = iteration.seed.stream("pct.values");
        self.impatience = iteration.seed.stream("pct.impatience");
        self.ranking.clear();
        self.bottom = CHANGED;
        self.last = None;
        self.yields = 0;
        self.decisions = 0;
        self.max_decisions = 0;
        self.main_steps = 0;
        self.waiting = false;
        self.steady = false;
        self.k = self.spread();
        self.tail.begin(iteration, self.k);
        self.draw_changes();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        if self.tail.has_come() {
            return self.tail.pick(enabled);
        }
        match enabled {
            EnabledSet::Actions(actions) => match self.once_more(point, actions) {
                Some(pick) => pick,
                None => self.next(point, actions),
            },
            EnabledSet::Values(values) => {
                // Drawing a value is a step too, but nothing ran alone.
                self.last_step = point.step;
                enabled.pick(draw::value(&mut self.values, values))
            }
        }
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        if let StepEvent::Step { action, .. } = event {
            self.main_steps += u64::from(*action == main_task());
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        if self.lanes() == Lanes::Independent {
            return; // any instance may run any iteration
        }
        let decisions = self.max_decisions.max(self.decisions);
        self.learnt.length.learn(decisions, end);
        self.learnt.main_steps = self.learnt.main_steps.max(self.main_steps);
    }

    fn expect_decisions(&mut self, decisions: u64) {
        self.learnt.length.expect(decisions);
    }

    fn adapted(&self) -> String {
        match self.k {
            k if k > 0 && self.given_k.is_none() && self.depth > 1 => format!("k={k}"),
            _ => String::new(),
        }
    }
}

#[cfg(test)]
#[path = "pct_tests.rs"]
mod tests;
