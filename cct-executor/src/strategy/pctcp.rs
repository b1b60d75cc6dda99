//! PCTCP: priorities with a bounded number of changes, as PCT, for chains of causally ordered events
//! instead of tasks.
//!
//! B. K. Ozkan, R. Majumdar, F. Niksic, M. T. Befrouei and G. Weissenbacher, "Randomized testing of
//! distributed systems with probabilistic guarantees", OOPSLA 2018.
//!
//! Guarantee: a bug of depth `d` is found by each iteration with probability at least
//! `1 / (w^2 k^(d - 1))`, with `w` the most events no two of which are ordered by causality, and `k`
//! the number of decisions. Where many short tasks hand work to each other, `w` is far below
//! the number of tasks, which PCT pays for.
//!
//! How: an event is a step of a task. Before it come the same task's last step and the step that
//! spawned or woke the task. Events are put into chains as they become possible (see the module
//! `chains`), each chain has a random priority, and the enabled event whose chain has the highest
//! one is done. At `d - 1` positions the chain of the event that is about to be done gets one of
//! `d - 1` reserved priorities below all others.
//!
//! Departures:
//! - The paper's events are messages. A task that takes several steps for one counts as often.
//! - What was sent without waking a task that waited is no causality.
//! - `k` is the most decisions that iteration 0, which changes nothing itself, or any earlier iteration of
//!   the lane took, as in PCT; positions are counted over decisions with an alternative, those
//!   repeated after a change included.
//! - Chains beyond the 256th belong to one task, as in PCT.
//! - A task that has yielded 1000 times while no other ran is put below all with odds of 1/16 at each
//!   further yield: it is probably spinning. A long iteration ends in a random walk (see
//!   the module `tail`). This costs the guarantee, but only there.
//! - Data choices, unknown to the paper, are uniform, or by weight.
//!
//! Measured by `relayed_work_is_one_chain` and `a_bug_of_depth_two_is_found_as_promised` below, with a
//! false alarm in 10^9.

use super::chains::{ChainId, Chains};
use super::length::{LANES, Length};
use super::spec::{Entry, Kind, Parameter};
use super::tail::Tail;
use super::tournament::Tournament;
use super::{Flow, Interests, Lanes, StepEvent, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};
use rand::Rng;

/// Priorities of new chains are above this, those of changed ones below.
const BELOW_NEW: u64 = 1 << 63;
/// The priority of the first task that is found spinning; later ones get less.
const BELOW_CHANGED: u64 = 1 << 62;
/// How far priorities are apart, at least, so that they count.
const UNIT: u64 = 1 << 32;
/// Yields in a row after which a task counts as spinning.
const PATIENCE: u32 = 1000;
/// One in so many yields beyond patience lowers the task.
const IMPATIENCE: u32 = 16;

/// PCT over chains.
#[derive(Clone, Debug)]
pub struct Pctcp {
    depth: u32,
    length: Length,
    /// Over how many decisions the changes of this iteration are spread; 0 while nothing is known.
    k: u64,
    priorities: Generator,
    positions: Generator,
    values: Generator,
    impatience: Generator,
    chains: Chains,
    /// By number of the chain.
    priority_of: Vec<u64>,
    /// By [`ActionKey::index`].
    lines: Vec<Line>,
    tree: Tournament,
    /// Invariant: sorted, the next one last. Position, and priority that is given there.
    changes: Vec<(u64, u64)>,
    position: u64,
    decisions: u64,
    running: Option<ActionKey>,
    yields: u32,
    bottom: u64,
    tail: Tail,
}

/// How far an action is.
#[derive(Clone, Copy, Debug)]
struct Line {
    stage: Stage,
    /// Of its latest event.
    chain: ChainId,
}

const NEW: Line = Line {
    stage: Stage::Done,
    chain: ChainId(0),
};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Stage {
    /// Its latest event is still to be done.
    Pending,
    /// It was picked; the step is about to begin.
    Picked,
    /// Its latest event was done, or there was none.
    Done,
}

impl Pctcp {
    pub(super) const ENTRY: Entry = Entry {
        name: "pctcp",
        help: "as pct, with a priority for each causal chain of steps; for messages passed on",
        parameters: &[Parameter {
            name: "d",
            help: "bug depth (3)",
            kind: Kind::Number(1, 10_000),
        }],
        build: |arguments| Box::new(Pctcp::depth(arguments.number("d").unwrap_or(3) as u32)),
    };

    /// PCTCP for bugs of this depth.
    ///
    /// # Panics
    /// If the depth is 0.
    #[track_caller]
    pub fn depth(d: u32) -> Pctcp {
        assert!(d > 0, "pctcp: a bug has a depth of at least 1");
        let none = Seed(0);
        Pctcp {
            depth: d,
            k: 0,
            priorities: none.stream("pctcp.priorities"),
            positions: none.stream("pctcp.positions"),
            values: none.stream("pctcp.values"),
            impatience: none.stream("pctcp.impatience"),
            chains: Chains::default(),
            priority_of: Vec::new(),
            lines: Vec::new(),
            tree: Tournament::new(),
            changes: Vec::new(),
            position: 0,
            decisions: 0,
            length: Length::default(),
            running: None,
            yields: 0,
            bottom: BELOW_CHANGED,
            tail: Tail::new("pctcp.tail"),
        }
    }

    fn draw_changes(&mut self) {
        self.changes.clear();
        if self.k == 0 {
            return;
        }
        let d = u64::from(self.depth);
        for i in 1..d {
            let position = 1 + draw::ticket(&mut self.positions, self.k + d - 2);
            self.changes
                .push((position, BELOW_CHANGED + (d - i) * UNIT));
        }
        // Of several changes at one position the last drawn counts: the lowest.
        self.changes
            .sort_unstable_by_key(|&(position, priority)| std::cmp::Reverse((position, !priority)));
    }

    #[inline]
    fn line(&mut self, key: ActionKey) -> &mut Line {
        if key.index() >= self.lines.len() {
            self.grow(key.index());
        }
        &mut self.lines[key.index()]
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.lines.resize((index + 1).next_power_of_two(), NEW);
    }

    /// The action has a new event.
    #[inline]
    fn extend(&mut self, key: ActionKey) -> ChainId {
        let (chain, new) = self.chains.extend(key.index());
        if new {
            self.priority_of
                .push(self.priorities.next_u64() | BELOW_NEW);
        }
        chain
    }

    /// The action is enabled.
    #[inline]
    fn admit(&mut self, key: ActionKey) {
        let Line { stage, mut chain } = *self.line(key);
        if stage != Stage::Pending {
            chain = self.extend(key);
            *self.line(key) = Line {
                stage: Stage::Pending,
                chain,
            };
        }
        self.tree.rank(key, self.priority_of[chain.0 as usize]);
    }

    #[cold]
    fn admit_all(&mut self, enabled: &EnabledActions<'_>) {
        enabled
            .iter()
            .for_each(|(_, action)| self.admit(action.key()));
    }

    fn lower(&mut self, key: ActionKey, priority: u64) {
        let ChainId(chain) = self.line(key).chain;
        self.priority_of[chain as usize] = priority;
        self.tree.rank(key, priority);
    }

    /// Puts a task that seems to spin below all others.
    #[cold]
    fn lose_patience(&mut self, spinning: ActionKey) {
        if draw::below(&mut self.impatience, IMPATIENCE) == 0 {
            self.bottom -= UNIT;
            self.lower(spinning, self.bottom);
            self.yields = 0;
        }
    }

    #[inline]
    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Pick {
        for key in enabled.fresh() {
            if enabled.find(key).is_some() {
                self.admit(key);
            }
        }
        if let Some(key) = point.current {
            if point.can_continue {
                self.admit(key);
            } else if self.running == Some(key) && enabled.find(key).is_some() {
                self.yields += 1;
                if self.yields > PATIENCE {
                    self.lose_patience(key);
                }
            }
        }
        self.decisions += 1;
        loop {
            if self.tree.is_empty() {
                self.admit_all(enabled);
            }
            let key = self.tree.top();
            let Some(pick) = enabled.find(key) else {
                self.tree.remove(key);
                continue;
            };
            self.position += 1;
            if let Some(&(position, _)) = self.changes.last() {
                if position == self.position {
                    self.change(key);
                    continue;
                }
            }
            self.line(key).stage = Stage::Picked;
            return pick;
        }
    }

    /// Makes all changes of the present position.
    #[cold]
    fn change(&mut self, key: ActionKey) {
        while let Some(&(position, priority)) = self.changes.last() {
            if position != self.position {
                break;
            }
            self.lower(key, priority);
            self.changes.pop();
        }
    }
}

impl Strategy for Pctcp {
    fn describe(&self) -> String {
        format!("pctcp:d={}", self.depth)
    }

    fn lanes(&self) -> Lanes {
        if self.depth > 1 {
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
            lifecycle: true,
            readiness: true,
            steps: true,
            fresh: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.priorities = iteration.seed.stream("pctcp.priorities");
        self.positions = iteration.seed.stream("pctcp.positions");
        self.values = iteration.seed.stream("pctcp.values");
        self.impatience = iteration.seed.stream("pctcp.impatience");
        self.chains.clear();
        self.priority_of.clear();
        self.lines.fill(NEW);
        self.tree.clear();
        self.position = 0;
        self.decisions = 0;
        self.running = None;
        self.yields = 0;
        self.bottom = BELOW_CHANGED;
        self.k = self.length.decisions();
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
            EnabledSet::Actions(actions) => self.next(point, actions),
            EnabledSet::Values(values) => enabled.pick(draw::value(&mut self.values, values)),
        }
    }

    #[inline]
    fn observe(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Step { action, .. } => {
                // A step without an alternative is a new event unless it was admitted before.
                if self.line(action).stage == Stage::Done {
                    let chain = self.extend(action);
                    self.line(action).chain = chain;
                }
                self.line(action).stage = Stage::Done;
                if self.running.replace(action) != Some(action) {
                    self.yields = 0;
                }
            }
            StepEvent::Sent { to } => {
                if let Some(running) = self.running {
                    self.chains.follow(to.index(), running.index());
                }
            }
            StepEvent::Spawned {
                task,
                parent: Some(parent),
                ..
            } => self.chains.follow(task.index(), parent.index()),
            StepEvent::Exited(task) => self.chains.over(task.index()),
            _ => {}
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        if self.depth > 1 {
            self.length.learn(self.decisions, end);
        }
    }

    fn expect_decisions(&mut self, decisions: u64) {
        self.length.expect(decisions);
    }

    fn adapted(&self) -> String {
        match self.chains.len() {
            0 => String::new(),
            chains => format!("k={}, chains={chains}", self.k),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::assert_at_least;

    /// A task spawns the next one and ends: 10 tasks, one chain. Two of them side by side: two.
    #[test]
    fn relayed_work_is_one_chain() {
        let relay = |first: usize| {
            (0..10).map(move |i| match i {
                9 => vec![Do::Step],
                i => vec![Do::Step, Do::Spawn(first + i + 1)],
            })
        };
        let mut toy = Toy::new(relay(0).chain(relay(10)).collect());
        let mut strategy = Pctcp::depth(2);
        for index in 0..50 {
            let run = toy.run(&mut strategy, Seed(51), index);
            assert_eq!((run.order.len(), strategy.chains.len()), (38, 2));
        }
    }

    /// Two relays of 8 tasks; the bug needs the last of the first relay to be between two tasks in
    /// the middle of the second: depth 2 with w = 2. PCT's bound would be 1/16 of an eighth of
    /// that.
    #[test]
    fn a_bug_of_depth_two_is_found_as_promised() {
        let relay = |first: usize| {
            (0..8).map(move |i| match i {
                7 => vec![Do::Step],
                i => vec![Do::Spawn(first + i + 1)],
            })
        };
        let mut toy = Toy::new(relay(0).chain(relay(8)).collect());
        let mut strategy = Pctcp::depth(2);
        toy.run(&mut strategy, Seed(52), 0);
        let k = strategy.length.decisions();
        assert!(k <= 14);
        let hits = (1..20_001).filter(|&index| {
            let run = toy.run(&mut strategy, Seed(52), index);
            let when = |task| run.when(task, 0);
            when(11) < when(7) && when(7) < when(12)
        });
        assert_at_least(hits.count() as u64, 20_000, 1.0 / (4.0 * k as f64));
    }

    /// The run's first iteration ends early, as it may where that is a matter of order. A change beyond its end takes
    /// a `k` that is learnt from later ones.
    #[test]
    fn a_short_first_iteration_is_not_the_measure_of_all() {
        let mut strategy = Pctcp::depth(2);
        Toy::new(vec![vec![Do::Step]; 2]).run(&mut strategy, Seed(54), 0);
        assert_eq!(strategy.length.decisions(), 1);
        let mut toy = Toy::new(vec![vec![Do::Step; 10]; 2]);
        let hits = (1..20_001).filter(|&index| {
            let run = toy.run(&mut strategy, Seed(54), index);
            run.when(0, 8) < run.when(1, 0) && run.when(1, 0) < run.when(0, 9)
        });
        let hits = hits.count() as u64;
        let k = strategy.length.decisions();
        assert!((10..20).contains(&k), "{k}");
        assert_at_least(hits, 20_000, 1.0 / (4.0 * k as f64));
    }

    #[test]
    fn a_spinning_task_does_not_hang_the_rest() {
        let mut toy = Toy::new(vec![vec![Do::SpinUntil(0)], vec![Do::Step, Do::Raise(0)]]);
        let mut strategy = Pctcp::depth(1);
        assert!((0..20).all(|index| !toy.run(&mut strategy, Seed(53), index).cut));
    }
}
