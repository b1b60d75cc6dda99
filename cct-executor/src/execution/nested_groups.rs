//! Affinity groups within each other: a `LocalSet` that is driven on a runtime of one thread, say.
//!
//! 1. A group is within that of which its driver is a member, while it is driven. No group is within itself.
//! 2. Of all groups that are within the same outermost one only one member is in the middle of a poll.

use super::core::{Core, NONE};

impl Core {
    /// The group within which this one is, with all others on the same thread.
    pub(super) fn outermost(&self, mut group: usize) -> usize {
        while self.groups[group].within != NONE {
            group = self.groups[group].within as usize;
        }
        group
    }

    /// A group is within another one from now on, or, with [`NONE`], by itself.
    pub(super) fn move_group(&mut self, group: u32, within: u32) {
        let before = self.groups[group as usize].within;
        if before == within {
            return;
        }
        // Who is in the middle of a poll stays so, among those with whom it moves.
        let running = *self.busy_of(group);
        let moves = running != NONE && self.is_within(running, group);
        if moves {
            *self.busy_of(group) = NONE;
        }
        if before != NONE {
            self.groups[before as usize].inner.retain(|&g| g != group);
        }
        self.groups[group as usize].within = within;
        if within != NONE {
            self.groups[within as usize].inner.push(group);
        }
        if moves {
            *self.busy_of(group) = running;
        }
        for moved in [before, group] {
            if moved != NONE {
                let outermost = self.outermost(moved as usize);
                self.refresh_group(outermost);
            }
        }
    }

    /// Who is in the middle of a poll, of all that share this group's thread.
    pub(super) fn busy_of(&mut self, group: u32) -> &mut u32 {
        let outermost = self.outermost(group as usize);
        &mut self.groups[outermost].busy
    }

    /// Whether a task is a member of this group or of one within it.
    fn is_within(&mut self, key: u32, group: u32) -> bool {
        let mut of = self.task(key).group;
        while of != NONE && of != group {
            of = self.groups[of as usize].within;
        }
        of == group
    }
}
