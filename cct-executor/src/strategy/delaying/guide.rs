//! An explorer at work: what the engine tells becomes what an explorer knows, and a number of
//! delays becomes a pick.
//!
//! 1. The explorer's order and the enabled set may differ for a while (members of an affinity group
//!    are hidden while one of them runs). Whoever comes first and is not enabled is reported as
//!    blocked, and as enabled again when it is back in the set.
//! 2. Actions that are no tasks wait in an order of their own: messages that may arrive, timers
//!    that may fire early, cancellations, faults; of one kind the oldest first. With no delay one of
//!    them happens only if no task can run; with more delays they and the tasks take turns, so that
//!    each costs about twice its place in its own order.
//! 3. The engine tells who was sent to only if that woke the receiver. Whoever was woken by a send
//!    to a resource is taken for its receiver from then on, so that an explorer also hears of messages
//!    to a task that can run: one that was delayed, say.
//! 4. Different numbers of delays below the number of choices give different picks, and so every
//!    choice is given by one of them, if the explorer is sound. If it is not, picks may repeat,
//!    but they are always enabled.

use super::{ActionOrder, DelayingExplorer};
use crate::words::action::OpKind;
use crate::words::enabled::EnabledActions;
use crate::words::{ActionKey, ActionKind, EnabledSet, Interests, Pick, Seed, StepEvent};

/// An explorer, and what it was told.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct Guide<E> {
    pub(in crate::strategy) explorer: E,
    /// Whether the explorer believes a task to be enabled, by [`ActionKey::index`].
    told: Vec<bool>,
    /// Enabled actions that are no tasks, by rank.
    others: ActionOrder,
    /// Who was last woken by a send, by [`Op::resource`](crate::words::Op::resource).
    receivers: Vec<Option<ActionKey>>,
    /// The resource that the present step sends to, until somebody was told of it; then 0.
    sending: u32,
    /// The task that did the last step.
    pub(in crate::strategy) running: Option<ActionKey>,
    /// No delays for now.
    pub(in crate::strategy) sealed: bool,
}

/// Which choice a number of delays leads to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Turn {
    Task(u32),
    Other(u32),
}

/// The choice after so many delays, tasks and others taking turns.
fn turn(delays: u32, tasks: u32, others: u32) -> Turn {
    let paired = 2 * tasks.min(others);
    match (delays < paired, delays % 2) {
        (true, 0) => Turn::Task(delays / 2),
        (true, _) => Turn::Other(delays / 2),
        (false, _) if tasks > others => Turn::Task(delays - others),
        (false, _) => Turn::Other(delays - tasks),
    }
}

/// What comes first among actions that are no tasks: what would happen in a good world.
fn rank(kind: ActionKind) -> u32 {
    match kind {
        ActionKind::Deliver => 0,
        ActionKind::Fire => 1,
        ActionKind::Cancel => 2,
        _ => 3,
    }
}

impl<E: DelayingExplorer> Guide<E> {
    pub(in crate::strategy) const INTERESTS: Interests = Interests {
        lifecycle: true,
        readiness: true,
        steps: true,
        observations: true,
        rewards: false,
        fresh: true,
        forced: false,
        parts: false,
    };

    pub(in crate::strategy) fn new(explorer: E) -> Self {
        Guide {
            explorer,
            told: Vec::new(),
            others: ActionOrder::new(),
            receivers: Vec::new(),
            sending: 0,
            running: None,
            sealed: false,
        }
    }

    pub(in crate::strategy) fn begin(&mut self, seed: Seed) {
        self.explorer.begin(seed);
        self.told.clear();
        self.others.clear();
        self.receivers.clear();
        self.sending = 0;
        self.running = None;
        self.sealed = false;
    }

    /// Whether the explorer believes a task to be enabled.
    #[inline]
    fn told(&mut self, task: ActionKey) -> &mut bool {
        if task.index() >= self.told.len() {
            self.told.resize(task.index() + 1, false);
        }
        &mut self.told[task.index()]
    }

    pub(in crate::strategy) fn observe(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Step { action, op } => {
                self.running = Some(action);
                self.sending = 0;
                if matches!(op.kind, OpKind::Send | OpKind::Put) {
                    self.send(action, op.resource);
                }
            }
            StepEvent::Spawned { task, parent, .. } => {
                *self.told(task) = true;
                self.explorer.start(task, parent);
            }
            StepEvent::Exited(task) => {
                *self.told(task) = false;
                self.explorer.finish(task);
            }
            StepEvent::Enabled(task) => {
                if !std::mem::replace(self.told(task), true) {
                    self.explorer.on_enabled(task);
                } else if self.running == Some(task) {
                    // It gave up its turn without waiting for anything.
                    self.explorer.on_blocked(task);
                    self.explorer.on_enabled(task);
                }
            }
            StepEvent::Blocked(task) => self.block(task),
            StepEvent::Sent { to } => self.wake(to),
            StepEvent::UserOp("seal") => self.sealed = true,
            StepEvent::UserOp("unseal") => self.sealed = false,
            StepEvent::UserOp(name) => self.explorer.user_op(name, self.running),
            _ => {}
        }
    }

    /// A step begins to send to a resource. Its receiver, if one is known, may be able to run already;
    /// then nothing else tells of the message.
    fn send(&mut self, by: ActionKey, resource: u32) {
        self.sending = resource;
        let receiver = self.receivers.get(resource as usize).copied().flatten();
        if let Some(to) = receiver.filter(|&to| to != by) {
            if *self.told(to) {
                self.sending = 0;
                self.explorer.sent(to);
            }
        }
    }

    /// The running task woke this one. If its step began with a send, that is why; what the step wakes
    /// later is not the receiver.
    fn wake(&mut self, to: ActionKey) {
        let resource = std::mem::take(&mut self.sending) as usize;
        if resource > 0 {
            if resource >= self.receivers.len() {
                self.receivers.resize(resource + 1, None);
            }
            self.receivers[resource] = Some(to);
        }
        if *self.told(to) {
            self.explorer.sent(to);
        }
    }

    fn block(&mut self, task: ActionKey) {
        if std::mem::replace(self.told(task), false) {
            self.explorer.on_blocked(task);
        }
    }

    /// The choice after so many delays, which are fewer than there are choices.
    pub(in crate::strategy) fn choose(&mut self, enabled: &EnabledSet<'_>, delays: u32) -> Pick {
        let EnabledSet::Actions(actions) = enabled else {
            return enabled.pick(delays as usize);
        };
        for key in actions.fresh() {
            if let Some(pick) = actions.find(key) {
                match actions.action(pick).kind() {
                    ActionKind::Run => self.take_in(key),
                    kind => self.take_in_other(key, kind, actions),
                }
            }
        }
        if self.others.is_empty() {
            return self.task(actions, delays);
        }
        self.among_others(enabled, actions, delays)
    }

    #[inline]
    fn take_in(&mut self, task: ActionKey) {
        if !std::mem::replace(self.told(task), true) {
            self.explorer.on_enabled(task);
        }
    }

    #[cold]
    fn take_in_other(&mut self, key: ActionKey, kind: ActionKind, actions: &EnabledActions<'_>) {
        let rank_of = |other| {
            let pick = actions.find(other)?;
            Some(rank(actions.action(pick).kind()))
        };
        let before = self.others.iter();
        let before = before.take_while(|&other| rank_of(other).is_none_or(|r| r <= rank(kind)));
        let position = before.count();
        if !self.others.contains(key) {
            self.others.insert_at(position, key);
        }
    }

    #[cold]
    fn among_others(
        &mut self,
        enabled: &EnabledSet<'_>,
        actions: &EnabledActions<'_>,
        delays: u32,
    ) -> Pick {
        let mut next = self.others.first();
        while let Some(key) = next {
            next = self.others.next(key);
            if actions.find(key).is_none() {
                self.others.remove(key);
            }
        }
        let others = self.others.len() as u32;
        match turn(delays, enabled.len() as u32 - others, others) {
            Turn::Task(delays) => self.task(actions, delays),
            Turn::Other(index) => {
                let key = self.others.iter().nth(index as usize);
                key.and_then(|key| actions.find(key))
                    .expect("cct bug: a timer or cancellation that is not enabled")
            }
        }
    }

    /// The task that is first after so many delays.
    #[inline]
    fn task(&mut self, actions: &EnabledActions<'_>, delays: u32) -> Pick {
        let mut pick = self.first(actions);
        for _ in 0..delays {
            self.explorer.delay();
            pick = self.first(actions);
        }
        pick
    }

    /// The explorer's first task that is enabled.
    #[inline]
    fn first(&mut self, actions: &EnabledActions<'_>) -> Pick {
        match self.explorer.first().and_then(|key| actions.find(key)) {
            Some(pick) => pick,
            None => self.reconcile(actions),
        }
    }

    /// The explorer's order differs from the enabled set: tells it what it does not know.
    #[cold]
    fn reconcile(&mut self, actions: &EnabledActions<'_>) -> Pick {
        for (_, action) in actions.iter() {
            if action.kind() == ActionKind::Run {
                self.take_in(action.key());
            }
        }
        // An explorer that keeps what it was told is blocked must not stop the search.
        for _ in 0..=self.told.len() {
            match self.explorer.first() {
                None => break,
                Some(key) => match actions.find(key) {
                    Some(pick) => return pick,
                    None => {
                        *self.told(key) = false;
                        self.explorer.on_blocked(key);
                    }
                },
            }
        }
        let mut tasks = actions.iter();
        tasks
            .find(|(_, action)| action.kind() == ActionKind::Run)
            .map(|(pick, _)| pick)
            .expect("cct bug: a task was asked for where none is enabled")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::delaying::RunToCompletionExplorer;
    use crate::words::action::{Access, Op};
    use std::panic::Location;

    /// Task 0 sends to task 1 through resource 7, then to whoever waits at resource 8.
    #[test]
    fn a_receiver_that_can_run_is_sent_to() {
        let mut guide = Guide::new(RunToCompletionExplorer::new());
        guide.begin(Seed(1));
        let [sender, receiver, other] = [0, 1, 2].map(ActionKey);
        for task in [sender, receiver, other] {
            guide.explorer.start(task, None);
            *guide.told(task) = true;
        }
        let sends = |guide: &mut Guide<RunToCompletionExplorer>, by, resource| {
            let op = Op {
                kind: OpKind::Send,
                access: Access::Write,
                resource,
                site: Location::caller(),
            };
            let step = StepEvent::Step {
                action: by,
                op: &op,
            };
            guide.observe(&step);
            guide.explorer.first()
        };
        // Nobody was woken by a send to it yet.
        assert_eq!(sends(&mut guide, sender, 7), Some(other));
        guide.observe(&StepEvent::Blocked(receiver));
        sends(&mut guide, sender, 7);
        guide.observe(&StepEvent::Enabled(receiver));
        guide.observe(&StepEvent::Sent { to: receiver });
        assert_eq!(guide.explorer.first(), Some(receiver));
        guide.explorer.delay();
        assert_eq!(sends(&mut guide, sender, 8), Some(other));
        assert_eq!(sends(&mut guide, receiver, 7), Some(other));
        assert_eq!(sends(&mut guide, sender, 7), Some(receiver));
        // Whom the same step wakes after that is not the receiver, and one who waits is no longer first.
        guide.observe(&StepEvent::Sent { to: other });
        assert_eq!(guide.explorer.first(), Some(other));
        assert_eq!(sends(&mut guide, sender, 7), Some(receiver));
        guide.observe(&StepEvent::Blocked(receiver));
        assert_eq!(sends(&mut guide, sender, 7), Some(other));
    }

    #[test]
    fn tasks_and_others_take_turns() {
        for tasks in 0..6 {
            for others in 0..6 {
                let mut turns: Vec<Turn> = (0..tasks + others)
                    .map(|delays| turn(delays, tasks, others))
                    .collect();
                if tasks > 0 {
                    assert_eq!(turns[0], Turn::Task(0));
                }
                if tasks > 0 && others > 0 {
                    assert_eq!(turns[1], Turn::Other(0));
                }
                // Each choice comes once.
                turns.sort_by_key(|turn| match *turn {
                    Turn::Task(i) => i,
                    Turn::Other(i) => 1000 + i,
                });
                let all = (0..tasks)
                    .map(Turn::Task)
                    .chain((0..others).map(Turn::Other));
                assert_eq!(turns, all.collect::<Vec<_>>());
            }
        }
    }
}
