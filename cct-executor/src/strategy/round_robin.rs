//! Round robin: the one schedule that tokio's `current_thread` runtime would show.
//!
//! After the scheduler of tokio's `current_thread` runtime: a first-in first-out queue of tasks
//! that have become ready, taken in rounds. A round ends when the queue is empty, or after 61
//! tasks, or when nothing is ready before time passes; the test itself, which stands where tokio's
//! `block_on` stands, runs between rounds, and only then do tasks that called `yield_now` queue again,
//! the last of them first. So `yield_now` in a test lets everything else run that can.
//!
//! Guarantee: deterministic and (unless values are drawn) independent of the seed; of tasks that did not yield, the one that
//! becomes enabled first runs first. Every iteration would be the same one, so a run has a
//! single iteration and is exhausted then. That says nothing about other schedules: it is a
//! baseline, and the schedule to start reading a program with.
//!
//! Rules, and departures from tokio:
//! - A task that can go on in the middle of its poll goes on, so a poll is never interrupted.
//! - A data choice takes 0; for `select!` that means polling the branches in the order written,
//!   where tokio starts with a random one. With `data=random` values are drawn, and iterations differ by them.
//! - Messages that may arrive queue with the tasks. A timer that may fire early fires only when no
//!   task is enabled, and a cancellation or a fault is taken only when nothing else is left. (tokio
//!   looks at its timers every so many polls.)
//! - A task whose budget is spent queues again at once, and not at the end of the round. One that
//!   yielded waits for that end even if somebody else wakes it before, or it woke itself.
//! - Tasks of a `LocalSet` queue with all others; in tokio they have a queue of their own, taken up
//!   when the task that drives the set is polled.
//! - Timers that are due after a move of the clock by hand fire at the end of the poll that moved it,
//!   and not at the end of the round.
//! - The queue has no slot for the last task woken (that is the multi-threaded runtime's).
//!
//! Measured by `order_is_that_of_becoming_enabled` and `values_may_be_drawn` below, and by programs that are drawn and run on
//! tokio as well (`cct-tokio/tests/plain_order`).

use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{
    Action, ActionKey, ActionKind, EnabledSet, Iteration, Pick, SchedulingPoint, Seed,
};
use std::collections::VecDeque;

/// How many tasks a round has at most, as in tokio.
const ROUND: u32 = 61;

/// The scenario's own task is the first action of its world.
const MAIN: usize = 0;

/// Runs tasks in the order in which they became enabled.
#[derive(Clone, Debug, Default)]
pub struct RoundRobin {
    /// Tasks and messages, timers, cancellations, faults; a queue is looked at when those before it have nothing enabled.
    queues: [Queue; 4],
    /// Tasks that yielded during this round.
    yielded: Queue,
    /// How many tasks this round may still have; none at first, as the test itself begins.
    left: u32,
    /// Who was picked last.
    last: Option<ActionKey>,
    /// Tasks that have their place, and will be enabled soon.
    due: Vec<ActionKey>,
    /// After which step nothing was left to do, if that was so.
    parked: Option<u64>,
    /// Where values come from, if they are drawn.
    values: Option<Generator>,
    done: bool,
}

/// An action, with the ticket it had when it was appended.
type Entered = (ActionKey, u32);

/// Actions in the order of becoming enabled. An action that comes again takes its new place.
#[derive(Clone, Debug, Default)]
struct Queue {
    entries: VecDeque<Entered>,
    /// The ticket of each action's valid entry, by [`ActionKey::index`]; 0 when there is none.
    valid: Vec<u32>,
    last_ticket: u32,
}

impl Queue {
    fn clear(&mut self) {
        self.entries.clear();
        self.valid.clear();
        self.last_ticket = 0;
    }

    fn append(&mut self, key: ActionKey) {
        if key.index() >= self.valid.len() {
            self.valid.resize(key.index() + 1, 0);
        }
        if self.entries.len() > 64 + 2 * self.valid.len() {
            let valid = &self.valid;
            self.entries
                .retain(|&(key, ticket)| valid[key.index()] == ticket);
        }
        self.last_ticket += 1;
        self.valid[key.index()] = self.last_ticket;
        self.entries.push_back((key, self.last_ticket));
    }

    fn has(&self, key: ActionKey) -> bool {
        self.valid
            .get(key.index())
            .is_some_and(|&ticket| ticket != 0)
    }

    fn forget(&mut self, key: ActionKey) {
        if let Some(ticket) = self.valid.get_mut(key.index()) {
            *ticket = 0;
        }
    }

    /// Puts an action before all others.
    fn prepend(&mut self, key: ActionKey) {
        self.append(key);
        if let Some(entry) = self.entries.pop_back() {
            self.entries.push_front(entry);
        }
    }

    /// Takes out the first action that is enabled, and those before it.
    fn take(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        self.take_by(VecDeque::pop_front, enabled)
    }

    /// Takes out the last action that is enabled, and those behind it.
    fn take_last(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        self.take_by(VecDeque::pop_back, enabled)
    }

    fn take_by(
        &mut self,
        pop: fn(&mut VecDeque<Entered>) -> Option<Entered>,
        enabled: &EnabledActions<'_>,
    ) -> Option<Pick> {
        while let Some((key, ticket)) = pop(&mut self.entries) {
            if self.valid[key.index()] == ticket {
                self.valid[key.index()] = 0;
                if let Some(pick) = enabled.find(key) {
                    return Some(pick);
                }
            }
        }
        None
    }
}

/// Which of the queues is for actions of this kind.
fn queue_of(kind: ActionKind) -> usize {
    match kind {
        ActionKind::Run | ActionKind::Deliver => 0,
        ActionKind::Fire => 1,
        ActionKind::Cancel | ActionKind::Value(_) => 2,
        ActionKind::Fault => 3,
    }
}

impl RoundRobin {
    pub(super) const ENTRY: Entry = Entry {
        name: "round-robin",
        help: "first in, first out, as tokio's current_thread runtime; one iteration, unless values are drawn",
        parameters: &[Parameter {
            name: "data",
            help: "whether values are the first ones, or drawn, with more than one iteration then (first)",
            kind: Kind::Word(&["first", "random"]),
        }],
        build: |arguments| {
            Box::new(match arguments.word("data") {
                Some(1) => RoundRobin::with_random_data(),
                _ => RoundRobin::new(),
            })
        },
    };

    /// The schedule of tokio's `current_thread` runtime.
    pub fn new() -> Self {
        Self::default()
    }

    /// The same order of tasks, with values that are drawn: another one in each iteration.
    pub fn with_random_data() -> Self {
        RoundRobin {
            values: Some(Seed(0).stream("round-robin.values")),
            ..Self::default()
        }
    }

    /// Somebody took another action than the one that was picked, which keeps its place before all others.
    /// (At the end, as one that is delayed in delay-bounded scheduling, it leaves more to be explained.)
    pub(crate) fn instead(&mut self, enabled: &EnabledActions<'_>, picked: Pick, taken: Pick) {
        let key = enabled.action(taken).key();
        self.yielded.forget(key);
        self.queues.iter_mut().for_each(|queue| queue.forget(key));
        self.last = Some(key);
        let picked = enabled.action(picked);
        match picked.key().index() {
            MAIN => self.left = 0, // its place is the beginning of a round
            _ => self.queues[queue_of(picked.kind())].prepend(picked.key()),
        }
    }

    /// Puts an action at the end of its queue, wherever it was before. `yields` if it is a task that
    /// has just yielded.
    fn append(&mut self, action: &Action, yields: bool) {
        let key = action.key();
        let queue = queue_of(action.kind());
        if queue == 0 {
            self.yielded.forget(key);
            self.queues[0].forget(key);
            if key.index() == MAIN {
                return; // it waits for the end of the round, not in the queue
            }
            if yields {
                self.yielded.append(key);
                return;
            }
        }
        self.queues[queue].append(key);
    }

    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Pick {
        let parked = self.parked.take() == Some(point.step);
        if point.current.is_some() && point.current != self.last {
            // It was the only one, so nobody was asked: the round has begun with it.
            self.left = ROUND;
        }
        for key in enabled.fresh().filter(|key| point.current != Some(*key)) {
            // What is disabled again will come as fresh once more.
            if let Some(pick) = enabled.find(key) {
                let action = enabled.action(pick);
                // A task that was told of has its place, that of its wake-up.
                if action.kind() != ActionKind::Run || !self.queues[0].has(key) {
                    self.append(action, false);
                }
            }
        }
        if let Some(pick) = point.current.and_then(|key| enabled.find(key)) {
            if point.can_continue {
                return pick;
            }
            // Where it only was the last to run, and a timer has woken it since, it has its place.
            // So it has where it has yielded, and all others have gone first.
            let yields = point.yielded && !parked;
            if yields || !self.queues[0].has(enabled.action(pick).key()) {
                self.append(enabled.action(pick), yields);
            }
        }
        if point.current.is_some_and(|key| key.index() == MAIN) {
            self.left = ROUND;
        }
        if parked {
            self.left = 0;
        }
        self.next_of_round(enabled)
            .or_else(|| self.new_round(enabled))
            .or_else(|| self.queues[1..].iter_mut().find_map(|q| q.take(enabled)))
            .unwrap_or_else(|| {
                let mut picks = enabled.iter().map(|(pick, _)| pick);
                picks.next().expect("cct bug: a decision without choices")
            })
    }

    fn next_of_round(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        self.left = self.left.checked_sub(1)?;
        self.queues[0].take(enabled)
    }

    /// Those who yielded queue again, the last one first, and the test itself goes before all.
    fn new_round(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        self.left = ROUND;
        while let Some(pick) = self.yielded.take_last(enabled) {
            self.queues[0].append(enabled.action(pick).key());
        }
        enabled
            .find(ActionKey::from_index(MAIN))
            .or_else(|| self.next_of_round(enabled))
    }
}

impl Strategy for RoundRobin {
    fn describe(&self) -> String {
        match self.values {
            Some(_) => format!("{}:data=random", Self::ENTRY.name),
            None => Self::ENTRY.name.to_owned(),
        }
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn interests(&self) -> Interests {
        Interests {
            fresh: true,
            // The order in which tasks were spawned and woken while nobody was asked.
            lifecycle: true,
            readiness: true,
            ..Interests::default()
        }
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        let key = match *event {
            StepEvent::Enabled(key) if self.due.contains(&key) => {
                self.due.retain(|&due| due != key);
                return;
            }
            StepEvent::Enabled(key) | StepEvent::Spawned { task: key, .. } => key,
            StepEvent::Parked { step } => {
                self.parked = Some(step);
                return;
            }
            StepEvent::Due(key) => {
                self.due.push(key);
                key
            }
            _ => return,
        };
        if key.index() != MAIN {
            self.yielded.forget(key);
            self.queues[0].append(key);
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        if let Some(values) = &mut self.values {
            *values = iteration.seed.stream("round-robin.values");
        } else if std::mem::replace(&mut self.done, true) {
            return Flow::Exhausted;
        }
        self.queues.iter_mut().for_each(Queue::clear);
        self.yielded.clear();
        (self.left, self.last, self.parked) = (0, None, None);
        self.due.clear();
        Flow::Continue
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match enabled {
            EnabledSet::Actions(actions) => {
                let pick = self.next(point, actions);
                self.last = Some(actions.action(pick).key());
                pick
            }
            EnabledSet::Values(of) => enabled.pick(match &mut self.values {
                Some(generator) => draw::value(generator, of),
                None => 0,
            }),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use std::collections::BTreeSet;

    fn order(tasks: Vec<Vec<Do>>) -> Vec<u32> {
        Toy::new(tasks)
            .run(&mut RoundRobin::new(), Seed(1), 0)
            .order
    }

    #[test]
    fn order_is_that_of_becoming_enabled() {
        let task = vec![Do::Step, Do::Step];
        assert_eq!(order(vec![task; 3]), [0, 0, 1, 1, 2, 2]);
    }

    #[test]
    fn those_who_yield_queue_again_in_reverse() {
        let task = vec![Do::Yield, Do::Yield, Do::Yield];
        let first_rounds = [0, 1, 2, 3, 0, 3, 2, 1, 0, 1, 2, 3];
        assert_eq!(order(vec![task; 4])[..12], first_rounds);
    }

    #[test]
    fn a_poll_goes_on() {
        let task = vec![Do::Step, Do::Yield, Do::Step, Do::Step];
        // Task 0 is the test itself: it goes first in the next round.
        assert_eq!(order(vec![task; 2]), [0, 0, 1, 1, 0, 0, 1, 1]);
    }

    #[test]
    fn a_task_that_was_blocked_queues_again_at_the_end() {
        let holder = vec![Do::Lock(0), Do::Yield, Do::Unlock(0), Do::Yield, Do::Step];
        let waiter = vec![Do::Yield, Do::Lock(0), Do::Unlock(0)];
        let other = vec![Do::Yield, Do::Yield, Do::Step];
        let order = order(vec![holder, waiter, other]);
        // Task 1 wants the lock while task 0 holds it. It becomes enabled during task 0's turn,
        // so it comes after task 2, which was waiting all along.
        assert_eq!(order, [0, 0, 1, 2, 0, 0, 2, 1, 1, 0, 2]);
    }

    #[test]
    fn values_are_zero() {
        let run = Toy::new(vec![vec![Do::Choose(3), Do::Weighted(&[1, 9])]]).run(
            &mut RoundRobin::new(),
            Seed(1),
            0,
        );
        assert_eq!(run.values, [0, 0]);
    }

    #[test]
    fn there_is_one_iteration() {
        let mut strategy = RoundRobin::new();
        let iteration = |index| Iteration {
            index,
            seed: Seed(index),
            max_steps: 100_000,
        };
        assert_eq!(strategy.begin(&iteration(0)), Flow::Continue);
        assert_eq!(strategy.begin(&iteration(1)), Flow::Exhausted);
        assert_eq!(strategy.explored_all(), None);
    }

    /// Overrules the strategy once, at the first decision with several tasks.
    struct Overruled(RoundRobin, bool);

    impl Strategy for Overruled {
        fn describe(&self) -> String {
            self.0.describe()
        }

        fn interests(&self) -> Interests {
            self.0.interests()
        }

        fn observe(&mut self, event: &StepEvent<'_>) {
            self.0.observe(event);
        }

        fn begin(&mut self, iteration: &Iteration) -> Flow {
            self.0.begin(iteration)
        }

        fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
            let picked = self.0.pick(point, enabled);
            let actions = enabled.actions().expect("no data choices");
            let key = |pick| actions.action(pick).key().index();
            let is_time = key(picked) == 1 && point.can_continue;
            if !is_time || std::mem::replace(&mut self.1, true) {
                return picked;
            }
            let taken = actions.find(ActionKey::from_index(2));
            let taken = taken.expect("task 2 is enabled");
            self.0.instead(actions, picked, taken);
            taken
        }
    }

    #[test]
    fn who_is_overtaken_keeps_its_place() {
        let task = vec![Do::Step, Do::Step];
        let mut strategy = Overruled(RoundRobin::new(), false);
        let run = Toy::new(vec![task; 4]).run(&mut strategy, Seed(1), 0);
        assert_eq!(run.order, [0, 0, 1, 2, 2, 1, 3, 3]);
    }

    #[test]
    fn stale_entries_do_not_pile_up() {
        let mut queue = Queue::default();
        (0..10_000).for_each(|i| queue.append(ActionKey::from_index(i % 3)));
        assert!(queue.entries.len() <= 64 + 2 * 3 + 1);
    }

    #[test]
    fn values_may_be_drawn() {
        let mut toy = Toy::new(vec![vec![Do::Choose(3), Do::Yield, Do::Step]; 2]);
        let mut drawn = RoundRobin::with_random_data();
        let runs: Vec<_> = (0..40)
            .map(|index| toy.run(&mut drawn, Seed(1), index))
            .collect();
        // One order, and each pair of values: one is missing with odds of 9 * (8/9)^40 = 0.08 for other seeds.
        assert!(runs.iter().all(|run| run.order == runs[0].order));
        let values: BTreeSet<_> = runs.iter().map(|run| run.values.clone()).collect();
        assert_eq!(values.len(), 9);
        assert_eq!(drawn.describe(), "round-robin:data=random");
    }
}
