//! What tasks, shims and the engine tell a recorder, if there is one.

use super::{Blocked, Site, TakenOver};
use crate::execution::core::Core;
use crate::words::{Action, OpKind};

impl Core {
    /// Notes that the running task is about to wait for a resource.
    #[cold]
    pub(crate) fn note_blocked(&mut self, key: u32, kind: OpKind, resource: u32, site: Site) {
        if let Some(recorder) = &mut self.recorder {
            recorder.blocked(key, kind, resource, site);
        }
    }

    /// Notes that the running task waits for something within a time limit.
    #[cold]
    pub(crate) fn note_limited(&mut self, key: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.limited(key);
        }
    }

    /// Notes that the running task no longer waits for a resource.
    #[cold]
    pub(crate) fn note_gave_up(&mut self, key: u32, kind: OpKind, resource: u32, site: Site) {
        if let Some(recorder) = &mut self.recorder {
            let wait = Blocked {
                kind,
                resource,
                site,
            };
            recorder.gave_up(key, wait);
        }
    }

    /// Notes that a task polls a timer for which another one waits.
    #[cold]
    pub(crate) fn note_taken_over(&mut self, from: u32, by: u32, site: Site) {
        let step = self.point.step;
        if let Some(recorder) = &mut self.recorder {
            recorder.taken_over(TakenOver {
                from,
                by,
                site,
                step,
            });
        }
    }

    /// Notes that the timer that a task waited for is no more.
    #[cold]
    pub(crate) fn note_timer_gone(&mut self, key: u32, site: Site) {
        if let Some(recorder) = &mut self.recorder {
            recorder.timer_gone(key, site);
        }
    }

    /// Notes what a resource looks like.
    #[cold]
    pub(crate) fn note_remark(&mut self, resource: u32, text: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.remarks.insert(resource, text);
        }
    }

    /// Notes what has come of the last step, if this task has done it on this resource.
    #[cold]
    pub(crate) fn note_outcome(&mut self, key: u32, resource: u32, text: String) {
        let recorder = self.recorder.as_mut();
        let step = recorder.and_then(|recorder| recorder.steps.last_mut());
        if let Some(step) = step.filter(|step| (step.key, step.resource) == (key, resource)) {
            step.outcome = Some(text);
        }
    }

    /// Notes what the last value was drawn for.
    #[cold]
    pub(crate) fn note_choice(&mut self, text: String) {
        let now = self.point.step;
        let recorder = self.recorder.as_mut();
        let step = recorder.and_then(|recorder| recorder.steps.last_mut());
        // What reports do not list has no step.
        if let Some(step) = step.filter(|step| step.value.is_some() && step.step == now) {
            step.outcome = Some(text);
        }
    }

    /// Notes how much lies in a resource that nobody will take out.
    #[cold]
    pub(crate) fn note_left(&mut self, resource: u32, count: u64) {
        if let Some(recorder) = &mut self.recorder {
            recorder.left.insert(resource, count);
        }
    }

    /// Notes that the running poll returns before the operation that it has published.
    #[cold]
    pub(crate) fn note_deferred(&mut self, key: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.published.insert(key);
        }
    }

    /// Notes that the operation which a task has begun is told `Pending`, whatever there is, as its poll has used up
    /// its budget.
    #[cold]
    pub(crate) fn note_no_budget(&mut self, key: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.no_budget(key);
        }
    }

    /// Notes that the running poll is to return before an operation that could go on.
    #[cold]
    pub(crate) fn note_gave_way(&mut self) {
        if let Some(recorder) = &mut self.recorder {
            recorder.gave_way += 1;
        }
    }

    /// Notes that an action is performed.
    #[cold]
    pub(crate) fn record_step(&mut self, key: u32) {
        self.note_polled_in_vain();
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let overtakes = recorder
            .last_to_go_on()
            .is_some_and(|last| self.actions[last as usize].position != Action::NOWHERE);
        recorder.step(
            self.point.step,
            self.point.time_ns,
            &self.actions[key as usize],
            overtakes,
        );
    }

    /// Notes that an action is performed on behalf of a task, if it is known which.
    pub(in crate::execution) fn record_step_for(&mut self, action: u32, task: Option<u32>) {
        self.record_step(action);
        if self.recorder.is_none() {
            return;
        }
        if let Some(key) = task {
            let note = format!("for task {}", self.task_name(key));
            self.note(note);
        }
    }
}
