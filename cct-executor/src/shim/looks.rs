//! Looks of a future at what it waits for.

use super::Resource;
use crate::execution::world::WORLD;
use crate::words::{Access, OpKind};
use std::panic::Location;
use std::task::Poll;

/// The poll in which a future has looked last at what it waits for, and not found it.
///
/// A scheduling point comes before its first look. When the task is polled again, to be picked was the decision. But
/// who looks twice in one poll, as loops over several futures do, may find the second time what has come in between on
/// threads: so there is a point before that, too.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Looks(u64);

impl Looks {
    /// It has not looked yet.
    pub const fn new() -> Looks {
        Looks(0)
    }

    /// It looks for the first time, in the poll that runs.
    #[inline]
    pub fn begun() -> Looks {
        Looks(running_poll())
    }

    /// Whether a point comes before the next look.
    #[inline]
    pub fn are_due(self) -> bool {
        !self.have_begun() || self.are_again()
    }

    /// Whether the next look is another one of the poll of the last.
    #[inline]
    pub fn are_again(self) -> bool {
        self.have_begun() && self.0 == running_poll()
    }

    /// Whether it has looked, and waits.
    #[inline]
    pub fn have_begun(self) -> bool {
        self.0 != 0
    }

    /// It looks now.
    #[inline]
    pub fn note(&mut self) {
        *self = Looks::begun();
    }

    /// Passes this point before a look, where one is due, and notes that it looks.
    #[inline]
    pub fn pass(&mut self, point: impl FnOnce() -> Poll<()>) -> Poll<()> {
        if self.are_due() && point().is_pending() {
            return Poll::Pending;
        }
        self.note();
        Poll::Ready(())
    }
}

/// 0 outside of polls.
#[inline]
fn running_poll() -> u64 {
    WORLD.with(|world| world.running.poll.get())
}

impl Resource {
    /// The [point](Self::point) before a look at what a future waits for, where one is due; see [`Looks::pass`].
    #[inline]
    pub fn look_point(
        &self,
        looks: &mut Looks,
        (kind, access): (OpKind, Access),
        site: &'static Location<'static>,
    ) -> Poll<()> {
        looks.pass(|| self.point(kind, access, site))
    }
}
