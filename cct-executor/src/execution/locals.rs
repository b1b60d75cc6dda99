//! Thread-locals that a suspended poll had set, and that others have set since, or may have seen.
//!
//! On threads each has its own. Here all tasks run on one, so what is meant for the length of a call is in the
//! hands of others when a point in the middle of that call suspends the poll: what fails then may have no
//! counterpart in reality. Only who reads the report can tell.
//!
//! A panic while such a poll is suspended may be of one that has seen what it had set. That does not count where it is
//! of those that stay set when a poll is over, as counters do.
//!
//! Gathered while a failing trace is replayed for a reader, like the stacks of wakers. Does not: look behind pointers.

use super::core::Core;
use super::record::Recorder;
use super::world::{WORLD, World};
use crate::words::explanation::{SharedLocals, Sharing};
use crate::words::{FailureKind, Outcome};
use std::collections::{BTreeMap, BTreeSet};

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

/// What is known of thread-locals.
#[derive(Default)]
pub(super) struct KnownLocals {
    /// As they were when the running poll began, but for what others have changed while it was suspended. Nothing once
    /// it is suspended.
    begun: Locals,
    /// The bytes that each suspended poll has set.
    set: BTreeMap<u32, BTreeSet<usize>>,
    /// Bytes that were not as before when a poll was over: they are not set for the length of a call.
    lasting: BTreeSet<usize>,
    /// The first poll that was suspended with some of its own when another panicked, and these.
    seen: Option<(SharedLocals, BTreeSet<usize>)>,
    /// The first poll that has found others' in the place of its own.
    found: Option<SharedLocals>,
}

impl Core {
    fn is_closure(&self, key: u32) -> bool {
        let subject = self.actions[key as usize].subject;
        self.tasks[subject as usize].blocking
    }

    fn known_locals(&mut self) -> Option<&mut KnownLocals> {
        self.recorder.as_mut()?.locals.as_deref_mut()
    }

    /// A poll begins; what differs from here on it has set. The one before is over, or suspended.
    pub(super) fn begin_locals(&mut self) {
        if let Some(known) = self.known_locals() {
            let now = Locals::now();
            let lasting = differences(&known.begun, &now);
            known.lasting.extend(lasting);
            known.begun = now;
        }
    }

    /// The running poll is left in its middle.
    pub(super) fn leave_locals(&mut self, key: u32) -> Option<Left> {
        let known = self.known_locals()?;
        let left = Left {
            before: std::mem::take(&mut known.begun),
            left: Locals::now(),
        };
        let set = differences(&left.before, &left.left);
        if !set.is_empty() {
            known.set.insert(key, set);
        }
        Some(left)
    }

    /// The first poll that has shared thread-locals with others, or that may have.
    pub(super) fn shared_locals(&self, recorder: &Recorder) -> Option<SharedLocals> {
        let known = recorder.locals.as_deref()?;
        let kind = match &self.end {
            Some(Outcome::Failed(failure)) => Some(&failure.kind),
            _ => None,
        };
        let panics = matches!(kind, Some(FailureKind::Panic { .. }));
        let seen = || {
            let (seen, set) = known.seen.as_ref()?;
            (panics && !set.is_subset(&known.lasting)).then(|| seen.clone())
        };
        let closure = || {
            // What others wait for is seldom in a thread-local.
            let claims = matches!(
                kind,
                Some(FailureKind::Error { .. } | FailureKind::Broken { .. })
            );
            if !panics && !claims {
                return None;
            }
            let mut suspended = known.set.keys();
            let key = *suspended.find(|&&key| self.is_closure(key))?;
            let mut shared = self.sharing(key, Sharing::OfClosure);
            if let Some(site) = self.waits_as_thread_at(key, recorder) {
                shared.site = site;
            }
            Some(shared)
        };
        known.found.clone().or_else(seen).or_else(closure)
    }

    /// A poll panics, maybe as it has seen what another has set that is suspended.
    pub(super) fn note_seen_locals(&mut self) {
        let known = self.recorder.as_deref().and_then(|it| it.locals.as_deref());
        let Some(known) = known.filter(|it| it.seen.is_none()) else {
            return;
        };
        let mut suspended = known.set.iter();
        let first = suspended.find(|(key, _)| !self.is_closure(**key));
        let seen = first.map(|(&key, set)| (self.sharing(key, Sharing::Seen), set.clone()));
        if let Some(known) = self.known_locals() {
            known.seen = seen;
        }
    }

    fn sharing(&self, key: u32, how: Sharing) -> SharedLocals {
        SharedLocals {
            task: self.task_name(key),
            how,
            site: self.actions[key as usize].op.site.to_string(),
        }
    }

    /// A poll comes to its end that was left in its middle, and does nothing any more.
    pub(super) fn locals_are_gone(&mut self, key: u32) {
        if let Some(known) = self.known_locals() {
            known.set.remove(&key);
        }
    }

    /// A poll goes on.
    pub(super) fn find_locals(&mut self, key: u32, left: Left) {
        let changed = Sharing::Changed {
            step: self.point.step,
        };
        let shared_by = self.sharing(key, changed);
        let Some(known) = self.known_locals() else {
            return;
        };
        known.set.remove(&key);
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
        known.begun = before;
        if shared && known.found.is_none() {
            known.found = Some(shared_by);
        }
    }
}

/// The bytes that differ, where there are both.
fn differences(one: &Locals, other: &Locals) -> BTreeSet<usize> {
    // Most often there are none, or they lie together: whole pieces are compared at once.
    const PIECE: usize = 256;
    let mut found = BTreeSet::new();
    if one.0 == other.0 {
        return found;
    }
    let pieces = one.0.chunks(PIECE).zip(other.0.chunks(PIECE));
    for (at, (one, other)) in pieces.enumerate() {
        if one != other {
            let bytes = one.iter().zip(other).enumerate();
            let differ = bytes.filter(|(_, (one, other))| one != other);
            found.extend(differ.map(|(byte, _)| at * PIECE + byte));
        }
    }
    found
}
