//! Who holds wakers of tasks: how many there are, and where the last one was taken.
//!
//! Only while recording, for reports. Of a task that waits for what cct does not know, such as the channel of
//! another crate, the stack of the call that took its waker says where it waits.

use super::record::Detail;
use super::stacks::places;
use super::waker::TaskWaker;
use super::world::{WORLD, World};
use std::backtrace::Backtrace;
use std::collections::BTreeMap;
use std::mem;
use std::rc::Rc;
use std::sync::Arc;
use std::task::Waker;

/// Stacks noted in an iteration: one of a million steps is to be told in seconds.
const STACKS_MAX: u32 = 20_000;

/// The wakers of one task that others hold.
#[derive(Default)]
struct Held {
    count: u32,
    /// There may be more, which are not counted.
    more: bool,
    /// Where the last one was taken.
    stack: Option<Rc<Backtrace>>,
}

/// The wakers of all tasks.
#[derive(Default)]
pub(crate) struct Wakers {
    of: BTreeMap<u32, Held>,
    /// How many stacks may still be noted.
    stacks_left: u32,
}

impl Wakers {
    pub(crate) const NONE: Wakers = Wakers {
        of: BTreeMap::new(),
        stacks_left: 0,
    };

    /// For an iteration of which so much is recorded.
    pub(crate) fn noting(detail: Detail) -> Wakers {
        let stacks = detail == Detail::Stacks;
        Wakers {
            stacks_left: if stacks { STACKS_MAX } else { 0 },
            ..Wakers::NONE
        }
    }

    /// Whether nobody holds one, so that nothing can wake the task.
    pub(crate) fn none_of(&self, key: u32) -> bool {
        self.of
            .get(&key)
            .is_none_or(|held| held.count == 0 && !held.more)
    }

    /// Whether somebody has ever taken one, as far as that is known.
    pub(crate) fn ever_taken(&self, key: u32) -> bool {
        self.of.contains_key(&key)
    }

    /// The stack in which the last one was taken, if it is known.
    pub(super) fn stack_of(&self, key: u32) -> Option<Rc<Backtrace>> {
        self.of.get(&key)?.stack.clone()
    }

    /// Where the last one was taken, the innermost place first; nothing where that is not known.
    pub(crate) fn taken_at(&self, key: u32, folder: &str) -> Vec<String> {
        let stack = self.of.get(&key).and_then(|held| held.stack.as_ref());
        stack.map_or_else(Vec::new, |stack| places(stack, folder))
    }
}

impl World {
    /// The stack of the caller, if there may be one more. Capturing it may have to wait for another thread, or for a
    /// suspended poll; where that would be told with a stack, there is none.
    pub(super) fn stack(&self) -> Option<Backtrace> {
        let left = mem::take(&mut self.wakers.borrow_mut().stacks_left);
        let stack = (left > 0).then(Backtrace::force_capture);
        self.wakers.borrow_mut().stacks_left = left.saturating_sub(1);
        stack
    }

    /// The step that the running task has just taken on this resource was asked for from here.
    pub(crate) fn note_call(&self, resource: u32) {
        let Some(key) = self.current() else {
            return;
        };
        let stack = self.stack();
        self.with(|core, _| {
            if let Some(recorder) = &mut core.recorder {
                recorder.called_from(key, resource, stack);
            }
        });
    }

    /// There is one more waker of this task in the hands of others, or one less.
    #[cold]
    pub(crate) fn count_waker(&self, key: u32, more: bool) {
        let stack = if more { self.stack() } else { None };
        // The table is never borrowed for longer than this.
        let mut wakers = self.wakers.borrow_mut();
        let held = wakers.of.entry(key).or_default();
        if more {
            held.count += 1;
            // Not that of an earlier one, if there is none: it would tell of another place.
            held.stack = stack.map(Rc::new);
        } else {
            held.count = held.count.saturating_sub(1);
        }
    }
}

impl TaskWaker {
    /// A waker for the task that is not the task itself. Nobody counts who holds it.
    pub(crate) fn apart(self) -> Waker {
        WORLD.with(|world| {
            if world.recording.get() && world.serial.get() == self.serial {
                world
                    .wakers
                    .borrow_mut()
                    .of
                    .entry(self.key)
                    .or_default()
                    .more = true;
            }
        });
        Waker::from(Arc::new(self))
    }
}
