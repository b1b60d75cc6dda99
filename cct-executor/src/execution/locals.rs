//! Thread-locals that a suspended poll had set, and that others have set since.
//!
//! On threads each has its own. Here all tasks run on one, so what is meant for the length of a call is in the
//! hands of others when a point in the middle of that call suspends the poll: what fails then may have no
//! counterpart in reality. Only who reads the report can tell.
//!
//! Gathered while a failing trace is replayed for a reader, like the stacks of wakers. Does not: look behind pointers.

use super::core::Core;
use super::record::Recorder;
use super::world::{WORLD, World};
use crate::words::explanation::SharedLocals;

/// A thread's thread-locals, without the engine's own.
#[derive(Default)]
pub(super) struct Locals(Vec<u8>);

impl Locals {
    fn now() -> Locals {
        let mut bytes = Vec::new();
        let begin = cct_interpose::copy_thread_locals(&mut bytes);
        let from = WORLD.address().wrapping_sub(begin);
        let own = from..from.wrapping_add(size_of::<World>());
        if let Some(own) = bytes.get_mut(own) {
            own.fill(0);
        }
        Locals(bytes)
    }
}

/// What a poll leaves behind.
pub(super) struct Left {
    before: Locals,
    left: Locals,
}

impl Core {
    /// A poll begins; what differs from here on it has set.
    pub(super) fn begin_locals(&mut self) {
        if let Some(recorder) = self
            .recorder
            .as_mut()
            .filter(|recorder| recorder.looks_at_locals)
        {
            recorder.locals = Locals::now();
        }
    }

    /// The running poll is left in its middle.
    pub(super) fn leave_locals(&mut self, key: u32) -> Option<Left> {
        let is_closure = self.task(key).blocking;
        let recorder = self
            .recorder
            .as_mut()
            .filter(|recorder| recorder.looks_at_locals)?;
        let left = Left {
            before: std::mem::take(&mut recorder.locals),
            left: Locals::now(),
        };
        if is_closure && left.before.0 != left.left.0 {
            recorder.closures_with_locals.insert(key);
        }
        Some(left)
    }

    /// The first poll that has shared thread-locals with others, or the first closure that may have.
    pub(super) fn shared_locals(&self, recorder: &Recorder) -> Option<SharedLocals> {
        let closure = || {
            let key = *recorder.closures_with_locals.first()?;
            Some(SharedLocals {
                task: self.task_name(key),
                step: None,
                site: self
                    .waits_as_thread_at(key, recorder)
                    .unwrap_or_else(|| self.actions[key as usize].op.site.to_string()),
            })
        };
        recorder.shared_locals.clone().or_else(closure)
    }

    /// A poll goes on.
    pub(super) fn find_locals(&mut self, key: u32, left: Left) {
        let (task, step) = (self.task_name(key), self.point.step);
        let site = self.actions[key as usize].op.site;
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        recorder.closures_with_locals.remove(&key);
        let Left { mut before, left } = left;
        let found = Locals::now();
        let mut shared = false;
        for ((before, left), found) in before.0.iter_mut().zip(&left.0).zip(&found.0) {
            if before == left {
                *before = *found;
            } else {
                shared |= left != found;
            }
        }
        recorder.locals = before;
        if shared && recorder.shared_locals.is_none() {
            recorder.shared_locals = Some(SharedLocals {
                task,
                step: Some(step),
                site: site.to_string(),
            });
        }
    }
}
