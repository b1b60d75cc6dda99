//! Actions of other crates: a message that may be delivered, a fault that may happen.
//!
//! 1. What happens when one is picked is the source's business; it runs outside the tables, as no
//!    task, and passes no points.
//! 2. An optional action (a fault) never is the reason that something happens: with nothing but
//!    optional actions enabled the world is idle, and time moves, or it is at its end.

use super::core::Core;
use super::resources::state_digest;
use super::world::{Running, World};
use crate::words::action::Sort;
use crate::words::{Action, ActionId, ActionKind, NodeId, Op};
use cct_interpose::{Moved, OnFile, OnSocket, SocketFile};
use std::any::Any;
use std::io;
use std::panic::Location;
use std::path::Path;
use std::rc::Rc;
use std::sync::Arc;

/// Where actions come from that are neither tasks nor timers.
pub trait ActionSource: Send + Sync + 'static {
    /// One of its actions was picked; `what` is what the action was made with.
    fn apply(&self, what: u64);

    /// A node is about to crash: its tasks are dropped right after.
    fn node_down(&self, node: NodeId) {
        let _ = node;
    }

    /// A node is up again after a crash; its main task is spawned right after.
    fn node_up(&self, node: NodeId) {
        let _ = node;
    }

    /// A node was told to stand still, or to go on.
    fn node_paused(&self, node: NodeId, paused: bool) {
        let _ = (node, paused);
    }

    /// The running task's process sends itself a signal, by `kill` or `raise` of the C library. Returns whether
    /// that is this source's business. It is `handled` where the test's real process has a handler for it, or ignores it.
    fn raised(&self, number: i32, handled: bool, site: &'static Location<'static>) -> bool {
        let _ = (number, handled, site);
        false
    }

    /// The running task does something with the file at a path, by the C library. Returns what was there if that
    /// is a socket of this source's, and has done it.
    fn file(&self, path: &Path, what: OnFile<'_>) -> Option<SocketFile> {
        let _ = (path, what);
        None
    }

    /// The running task does something with a socket by its descriptor, whose inode has this number. Returns what came of
    /// it if that is a socket of this source's, and has done it.
    fn socket(
        &self,
        number: u64,
        what: &mut OnSocket<'_>,
        site: &'static Location<'static>,
    ) -> Option<io::Result<Moved>> {
        let _ = (number, what, site);
        None
    }

    /// Whether something is still on its way to another world of the same test. The world then goes on for a while
    /// where it would end.
    fn is_leaving(&self) -> bool {
        false
    }

    /// What picking an action does, in a few words, for the report of a failure.
    fn describe(&self, what: u64) -> Option<String> {
        let _ = what;
        None
    }

    /// What it has to say at the end of a failing iteration, a line each.
    fn snapshot(&self) -> Vec<String> {
        Vec::new()
    }

    /// What was asked for outside of the world, where nothing answers.
    fn outside(&self) -> Vec<String> {
        Vec::new()
    }
}

/// A source, and the same once more to find it by its type. Counted by the world for itself, so that
/// applying an action takes no locked instruction.
pub(crate) type Known = Rc<(Arc<dyn ActionSource>, Arc<dyn Any + Send + Sync>)>;

/// One action of a source.
#[derive(Clone, Copy)]
pub(crate) struct SourceEntry {
    pub(crate) source: u16,
    pub(crate) what: u64,
}

impl Core {
    /// Adds an action that is not enabled yet. `identity` tells it from others of its kind and
    /// node, and is the same in every iteration.
    pub(crate) fn add_source_action(
        &mut self,
        entry: SourceEntry,
        kind: ActionKind,
        identity: u64,
        node: NodeId,
        op: Op,
    ) -> u32 {
        let sort = match kind {
            ActionKind::Fault => Sort::Fault,
            _ => Sort::Deliver,
        };
        let key = self.add_action(sort, entry.what as u32, ActionId(identity), op);
        let tag = self.resources[op.resource as usize].tag;
        let action = self.action(key);
        action.node = node;
        action.tag = tag;
        action.subject_high = (entry.what >> 32) as u32;
        action.source = entry.source;
        key
    }

    /// Sets the abstract state of what the action acts on, which has no other share in the
    /// fingerprint. It is kept with the action, where it is at hand when the action is offered.
    #[inline]
    pub(crate) fn set_source_state(&mut self, key: u32, state: u64) {
        let action = &mut self.actions[key as usize];
        let digest = state_digest(action.tag, state);
        let change = digest.wrapping_sub(action.digest);
        action.digest = digest;
        self.contents_changed(change);
    }

    /// Offers the action, or takes the offer back.
    pub(crate) fn offer(&mut self, key: u32, offered: bool) {
        let action = &self.actions[key as usize];
        let enabled = action.position != Action::NOWHERE;
        if enabled == offered {
            return;
        }
        let optional = action.sort == Sort::Fault;
        if offered {
            self.insert(key);
            self.optional += u32::from(optional);
        } else {
            self.remove(key);
            self.optional -= u32::from(optional);
        }
    }

    pub(super) fn note(&mut self, note: String) {
        if let Some(recorder) = &mut self.recorder {
            recorder.note(note);
        }
    }

    /// The action was picked, and has left the enabled set: it is applied outside.
    pub(crate) fn picked_source(&mut self, key: u32) {
        let action = &self.actions[key as usize];
        self.optional -= u32::from(action.sort == Sort::Fault);
        self.applying.push(SourceEntry {
            source: action.source,
            what: u64::from(action.subject_high) << 32 | u64::from(action.subject),
        });
        self.alert();
    }
}

impl World {
    /// Applies the source actions that were picked.
    pub(crate) fn apply_sources(&self) {
        let running = self.running.replace(Running::NOBODY);
        while let Some(entry) = self.with(|core, _| core.applying.pop()) {
            let known = self.sources.borrow()[entry.source as usize].clone();
            let source = &known.0;
            if self.recording.get() {
                if let Some(note) = source.describe(entry.what) {
                    self.with(|core, _| core.note(note));
                }
            }
            source.apply(entry.what);
        }
        self.running.set(running);
    }

    /// Tells every source something.
    pub(crate) fn tell_sources(&self, tell: impl Fn(&dyn ActionSource)) {
        let running = self.running.replace(Running::NOBODY);
        let sources = self.sources.borrow().clone();
        sources.iter().for_each(|known| tell(&*known.0));
        self.running.set(running);
    }

    /// The source of this type, made when it is first asked for.
    pub(crate) fn source<S: ActionSource>(&self, make: impl FnOnce() -> S) -> (u16, Arc<S>) {
        let found = self
            .sources
            .borrow()
            .iter()
            .enumerate()
            .find_map(|(i, known)| Some((i as u16, known.1.clone().downcast().ok()?)));
        found.unwrap_or_else(|| {
            let source = Arc::new(make());
            let mut sources = self.sources.borrow_mut();
            sources.push(Rc::new((source.clone(), source.clone())));
            (sources.len() as u16 - 1, source)
        })
    }
}
