//! What shims tell for reports. Costs next to nothing while no report is made.

use super::Resource;
use crate::execution::world::{WORLD, World};
use crate::raw::shared::unseen;
use crate::words::OpKind;
use std::panic::Location;
use std::sync::OnceLock;

impl Resource {
    /// Notes that the current poll is about to return `Pending` because of this resource.
    #[inline]
    pub fn blocked(&self, kind: OpKind, site: &'static Location<'static>) {
        self.tell(|world, resource| {
            if let Some(key) = world.current() {
                world.with(|core, _| core.note_blocked(key, kind, resource, site));
            }
        });
    }

    /// Notes that the current task no longer waits here for this resource: the future that did is dropped, and has lost
    /// its place among those that wait. See also [`waits`](Self::waits).
    #[inline]
    pub fn gave_up(&self, kind: OpKind, site: &'static Location<'static>) {
        self.tell(|world, resource| {
            if let Some(key) = world.current() {
                world.with(|core, _| core.note_gave_up(key, kind, resource, site));
            }
        });
    }

    /// A future's wait for this resource, which it has [given up](Self::gave_up) when this is dropped.
    #[inline]
    pub fn waits(&self, kind: OpKind, site: &'static Location<'static>) -> Waits<'_> {
        Waits {
            resource: self,
            kind,
            site,
            noted: false,
        }
    }

    /// As [`blocked`](Self::blocked) for a future that cannot borrow the resource: it has [given up](Self::gave_up) its
    /// wait when it drops this note. Later calls with the same note are of the same wait.
    #[inline]
    pub fn blocked_while(&self, note: &WaitNote, kind: OpKind, site: &'static Location<'static>) {
        self.blocked(kind, site);
        if WORLD.with(|world| world.recording.get()) {
            note.0.get_or_init(|| {
                Box::new(NotedWait {
                    resource: self.clone(),
                    kind,
                    site,
                })
            });
        }
    }

    /// Says what has become of the resource: whoever waits for it then learns what it looks like. To be called where
    /// somebody begins to wait, and where it changes later on without waking them.
    #[inline]
    pub fn remark(&self, text: impl FnOnce() -> String) {
        self.tell(|world, resource| {
            let text = unseen(text);
            world.with(|core, _| core.note_remark(resource, text));
        });
    }

    /// What a report that is being made calls the resource: `socket 7`.
    #[inline]
    pub fn name(&self) -> Option<String> {
        let mut name = None;
        self.tell(|world, resource| {
            name = Some(world.with(|core, _| core.short_resource_name(resource)));
        });
        name
    }

    /// Says how much lies in the resource that nobody will ever take out: who waits for what it holds waits in vain.
    #[inline]
    pub fn left(&self, count: impl FnOnce() -> usize) {
        self.tell(|world, resource| {
            let count = unseen(count) as u64;
            world.with(|core, _| core.note_left(resource, count));
        });
    }

    /// Says what has come of the operation that the running task has just done here, where it is not what one
    /// expects.
    #[inline]
    pub fn outcome(&self, text: impl FnOnce() -> String) {
        self.tell(|world, resource| {
            if let Some(key) = world.current() {
                let text = unseen(text);
                world.with(|core, _| core.note_outcome(key, resource, text));
            }
        });
    }

    /// Says that the operation whose point was just passed is called from here, by way of a trait, which does not
    /// tell its place.
    #[inline]
    pub fn called_here(&self) {
        self.tell(World::note_call);
    }

    /// What is asked of the shim in `note` is [`unseen`]: a point in there would be one that only reports have.
    #[inline]
    fn tell(&self, note: impl FnOnce(&World, u32)) {
        if WORLD.with(|world| world.recording.get()) {
            self.tell_now(note);
        }
    }

    /// Apart, so that who has nothing to say does not make room for it.
    #[cold]
    #[inline(never)]
    fn tell_now(&self, note: impl FnOnce(&World, u32)) {
        self.in_world(|world, resource| {
            if world.is_running() {
                note(world, resource);
            }
        });
    }
}

/// A wait that reports list for as long as its future lives; made by [`Resource::waits`].
#[derive(Debug)]
pub struct Waits<'a> {
    resource: &'a Resource,
    site: &'static Location<'static>,
    kind: OpKind,
    noted: bool,
}

/// A future's own note of its wait, which reports list until this is dropped; see [`Resource::blocked_while`].
#[derive(Debug, Default)]
pub struct WaitNote(OnceLock<Box<NotedWait>>);

#[derive(Debug)]
struct NotedWait {
    resource: Resource,
    kind: OpKind,
    site: &'static Location<'static>,
}

impl Drop for NotedWait {
    fn drop(&mut self) {
        self.resource.gave_up(self.kind, self.site);
    }
}

impl Waits<'_> {
    /// As [`Resource::blocked`].
    #[inline]
    pub fn blocked(&mut self) {
        self.noted = true;
        self.resource.blocked(self.kind, self.site);
    }
}

impl Drop for Waits<'_> {
    #[inline]
    fn drop(&mut self) {
        if self.noted {
            super::went_on();
            self.resource.gave_up(self.kind, self.site);
        }
    }
}
