//! The task table: polling bookkeeping, ending.

use super::core::{Core, NONE, state};
use super::decider::Decider;
use super::run::MAIN;
use super::step::{Begun, Turn};
use crate::raw::shared::Home;
use crate::raw::task::Body;
use crate::words::{Action, ActionKey, ActionKind, FailureKind, StepEvent};
use std::any::Any;
use std::panic::Location;
use std::rc::Rc;

/// A value of a `task_local!`, by the address of its key.
pub(crate) struct Local {
    pub(crate) key: usize,
    pub(crate) value: Rc<dyn Any>,
}

/// What is known of a task besides its action. Just as large as a cache line, and aligned so that it
/// is one.
#[repr(align(64))]
pub(crate) struct Task {
    /// Lent while the task is polled, and absent after its end.
    pub(crate) body: Option<Body>,
    /// Data pointer of its waker; only compared.
    pub(crate) waker: *const (),
    pub(crate) key: u32,
    pub(crate) group: u32,
    /// How many tasks, timers and resources it has made: the last part of their identity.
    pub(crate) made: u32,
    pub(crate) spawn_site: &'static Location<'static>,
    /// What most tasks have nothing of.
    pub(super) rare: Option<Box<Rare>>,
    /// Runs a blocking closure.
    pub(crate) blocking: bool,
    /// The runtime it belongs to; 0 is the world itself.
    pub(crate) runtime: u16,
}

#[derive(Default)]
pub(super) struct Rare {
    name: Option<Rc<str>>,
    locals: Vec<Local>,
    /// It was aborted in the middle of a poll, which went on.
    given_up: bool,
}

impl Rare {
    pub(super) fn named(name: Rc<str>) -> Box<Self> {
        Box::new(Rare {
            name: Some(name),
            ..Rare::default()
        })
    }
}

impl Task {
    /// Takes the body out of the table, unless the task is polled.
    pub(super) fn take_body(&mut self) -> Option<Body> {
        self.body.take_if(|body| !body.is_lent())
    }

    pub(super) fn name(&self) -> Option<&str> {
        self.rare.as_ref()?.name.as_deref()
    }

    /// The values of its `task_local!`s.
    pub(crate) fn locals(&mut self) -> &mut Vec<Local> {
        &mut self.rare.get_or_insert_default().locals
    }

    /// Whether nobody wants to know any more what becomes of its poll.
    fn is_given_up(&self) -> bool {
        self.rare.as_ref().is_some_and(|rare| rare.given_up)
    }

    pub(super) fn take_locals(&mut self) -> Option<Vec<Local>> {
        let rare = self.rare.as_mut()?;
        Some(std::mem::take(&mut rare.locals))
    }
}

const _: () = assert!(size_of::<Task>() == 64, "a task is one cache line");

impl Core {
    /// A task was picked: what is needed to poll it, unless its poll is suspended on another stack.
    #[inline(always)]
    pub(crate) fn begin_poll(&mut self, key: u32, decider: &mut dyn Decider) -> Turn {
        let action = &mut self.actions[key as usize];
        if action.state & state::FROZEN != 0 {
            self.prefetch(key);
            if self.watched {
                self.note_polled_in_vain();
            }
            return Turn::Leave(key);
        }
        let aborted = action.state & state::ABORTED != 0;
        let yielded = action.state & state::YIELDED != 0;
        action.state = action.state & !(state::NOTIFIED | state::YIELDED) | state::RUNNING;
        let subject = action.subject;
        self.begins(key);
        if self.watched {
            if let Some(recorder) = &mut self.recorder {
                recorder.begin_poll(key, yielded, aborted);
                self.begin_locals();
            }
            self.tell_step(key, decider);
        }
        let task = &mut self.tasks[subject as usize];
        Turn::Poll(Begun {
            key,
            waker: task.waker,
            aborted,
            body: task
                .body
                .as_ref()
                .and_then(Body::lend)
                .expect("cct bug: a task without a body was picked"),
        })
    }

    /// A poll returned `Pending`.
    #[inline(always)]
    pub(crate) fn end_poll(&mut self, key: u32, decider: &mut dyn Decider) {
        self.sweep();
        let action = &mut self.actions[key as usize];
        let was = action.state;
        action.state = was & !state::RUNNING;
        // A blocking wait in the middle of the poll may have used up the wake-up of an abort.
        let notified = was & (state::NOTIFIED | state::ABORTED) != 0;
        if self.closely || was & state::GROUPED != 0 {
            return self.end_poll_closely(key, notified, decider);
        }
        if notified && action.position == Action::NOWHERE {
            action.position = self.enabled.len() as u32;
            self.enabled.push(key);
            if self.interests.fresh && !action.fresh {
                action.fresh = true;
                self.fresh.push(key);
            }
        }
    }

    /// The rest of [`end_poll`](Self::end_poll), where more than the enabled set has to know.
    #[cold]
    fn end_poll_closely(&mut self, key: u32, notified: bool, decider: &mut dyn Decider) {
        if self.actions[key as usize].state & state::GROUPED != 0 {
            self.end_group_turn(key);
        }
        self.spin.polled(key, notified);
        if key == MAIN {
            self.held_back_no_more();
            self.main_has_gone(decider);
        }
        let rests = notified && self.rests(key);
        if !rests && (notified || self.spurious_wake()) {
            self.insert(key);
            if self.interests.readiness {
                decider.observe(&StepEvent::Enabled(ActionKey(key)));
            }
        } else if self.interests.readiness {
            decider.observe(&StepEvent::Blocked(ActionKey(key)));
        }
    }

    /// A task is over. The caller drops the result outside.
    pub(crate) fn exit(&mut self, key: u32, decider: &mut dyn Decider) -> Option<Vec<Local>> {
        self.sweep();
        self.spin.breaks();
        self.count_task(key, 0);
        if let (Some(world), Some(home)) = (self.open, Home::here()) {
            home.note_ended(world, self.task_id(key).0);
        }
        let action = self.action(key);
        action.state = action.state & state::GROUPED | state::DONE;
        if action.state & state::GROUPED != 0 {
            self.end_group_turn(key);
            if let Some(driver) = self.left_group(key) {
                self.wake(driver, decider);
            }
        }
        if !self.runtimes.is_empty() {
            self.left_runtime(key, decider);
        }
        if self.last() == key {
            self.set_last(NONE);
        }
        if self.interests.lifecycle {
            decider.observe(&StepEvent::Exited(ActionKey(key)));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.exited(key);
        }
        let task = self.task(key);
        task.take_locals()
    }

    /// A task panicked; `heard` tells whether its join handle can still deliver the news. Who has aborted a task
    /// takes what its poll still does, the way it is going, for no news.
    pub(crate) fn panicked(&mut self, key: u32, kind: FailureKind, heard: bool) {
        self.note_seen_locals();
        let expected = key != MAIN && (self.config.expects(&kind) || self.task(key).is_given_up());
        let held_back = !expected && self.main_may_be_ending();
        if heard || expected || held_back {
            if let Some(recorder) = &mut self.recorder {
                recorder.panicked(key, self.point.step, kind.to_string());
            }
            if held_back {
                self.held_back.push((key, kind, heard));
                self.closely = true;
            } else if !expected {
                self.unobserved.push((key, kind));
            }
        } else {
            self.fail_unheard(key, kind);
        }
    }

    /// Whether the scenario's own task is suspended in a poll, and need not wait for anything more.
    fn main_may_be_ending(&self) -> bool {
        let main = &self.actions[MAIN as usize];
        self.config.forgives_at_end
            && main.state & state::FROZEN != 0
            && main.position != Action::NOWHERE
    }

    /// The poll of the scenario's own task was not its last one: what panicked in its middle counts.
    pub(super) fn held_back_no_more(&mut self) {
        for (key, kind, heard) in std::mem::take(&mut self.held_back) {
            if heard {
                self.unobserved.push((key, kind));
            } else {
                self.fail_unheard(key, kind);
            }
        }
    }

    /// A panic that nobody asked for, or that of the scenario itself.
    pub(crate) fn fail_unheard(&mut self, key: u32, kind: FailureKind) {
        let has_handle = self.actions[key as usize].subject != 0 && !self.is_main_of_its_node(key);
        if self.end.is_none() && has_handle {
            if let Some(recorder) = &mut self.recorder {
                recorder.unheard(key);
            }
        }
        self.fail(kind);
    }

    /// The join handle delivered a panic.
    pub(crate) fn panic_observed(&mut self, key: u32) {
        self.unobserved.retain(|(task, _)| *task != key);
        self.held_back.retain(|(task, ..)| *task != key);
        self.joined_panics += 1;
    }

    /// The join handle of a task that panicked was dropped unasked. One that goes down in the panic of
    /// its owner does not count yet: that panic is the failure, should somebody hear of it.
    pub(crate) fn panic_ignored(&mut self, key: u32) {
        if std::thread::panicking() {
            return;
        }
        if let Some(at) = self.unobserved.iter().position(|(task, _)| *task == key) {
            let (_, kind) = self.unobserved.remove(at);
            self.fail_unheard(key, kind);
        }
    }

    /// Whether a blocked task is polled although nobody woke it.
    #[inline]
    fn spurious_wake(&mut self) -> bool {
        self.config.spurious_polls && rand::RngExt::random_ratio(&mut self.noise, 1, 8)
    }

    /// A task is to be dropped instead of polled at its next turn.
    pub(crate) fn abort(&mut self, key: u32, decider: &mut dyn Decider) {
        if !self.is_alive(key) {
            return;
        }
        let task = self.task(key);
        if task.body.as_ref().is_none_or(Body::is_lent) {
            if task.blocking {
                return; // a blocking closure that has begun runs to its end
            }
            task.rare.get_or_insert_default().given_up = true;
        }
        self.action(key).state |= state::ABORTED;
        // A closure that waits for a thread learns of it there.
        if !self.waits_for_thread(key) {
            self.wake(key, decider);
        }
    }

    /// The id of a task, as user code sees it: the number that reports give the task.
    pub(crate) fn task_id(&self, key: u32) -> crate::task::Id {
        crate::task::Id(u64::from(self.actions[key as usize].subject))
    }

    /// What reports call an action.
    pub(crate) fn name_of_action(&self, key: u32) -> String {
        match self.actions[key as usize].kind() {
            ActionKind::Run => self.task_name(key),
            _ => self.actions[key as usize].op.kind.name().to_owned(),
        }
    }

    /// The name reports use.
    pub(crate) fn task_name(&self, key: u32) -> String {
        let action = &self.actions[key as usize];
        let task = &self.tasks[action.subject as usize];
        let mut text = match task.name() {
            Some(name) => format!("{} `{name}`", action.subject),
            None if action.subject == 0 => "0 `main`".to_owned(),
            None => format!("{}", action.subject),
        };
        let node = self.node_name(action.node);
        if !node.is_empty() && task.name() != Some(node) {
            text.push_str(" on ");
            text.push_str(node);
        }
        text
    }
}
