//! Affinity groups: tasks that share an operating system thread in reality.
//!
//! 1. While one member is in the middle of a poll, no other member is enabled. Neither is one of a group whose driver
//!    is a member, nor of that of which the own driver is one: they share the thread.
//! 2. Members of a group that nobody drives (a `LocalSet` that is not awaited) are not enabled.
//! 3. After a poll of the driver, ready members have their turn first, 61 polls at most, as in
//!    tokio, where the driver's own poll runs them.

use super::core::{Core, NONE, state};
use super::world::Running;
use crate::raw::task::Body;
use crate::words::Action;

/// The tasks of one `LocalSet`, or of one runtime of one thread, and whoever drives them.
#[derive(Debug)]
pub(crate) struct Group {
    pub(crate) members: Vec<u32>,
    /// The task that awaits the set.
    pub(crate) driver: u32,
    /// The group of which the driver is a member, if that is another one.
    pub(super) within: u32,
    /// The groups that are within this one.
    pub(super) inner: Vec<u32>,
    /// The member, of this or a group within, that has reached a scheduling point in the middle of its poll; of the
    /// outermost group only.
    pub(super) busy: u32,
    /// The driver waits for the last member to end.
    awaited: bool,
    /// The driver's poll that goes on, or else its last one, has polled the set.
    polled: bool,
    /// No scheduler runs the driver's poll, nor therefore those of the members (see
    /// [`Running`](super::world::Running)).
    unscheduled: bool,
    /// Polls of members that come before the driver's next one, while members are ready.
    turns: u8,
    /// The tasks of a runtime of one thread, and not of a `LocalSet`.
    pub(super) of_runtime: bool,
}

/// How many tasks tokio's `LocalSet` polls in one go.
const TURNS: u8 = 61;

impl Core {
    /// A group without members and driver.
    pub(crate) fn new_group(&mut self) -> u32 {
        self.groups.push(Group {
            members: Vec::new(),
            driver: NONE,
            within: NONE,
            inner: Vec::new(),
            busy: NONE,
            awaited: false,
            polled: false,
            unscheduled: false,
            turns: 0,
            of_runtime: false,
        });
        self.groups.len() as u32 - 1
    }

    /// A group for the tasks of a runtime of one thread.
    pub(super) fn new_runtime_group(&mut self) -> u32 {
        let group = self.new_group();
        self.groups[group as usize].of_runtime = true;
        group
    }

    /// The `LocalSet` that a task is a member of, or else drives.
    pub(crate) fn local_set_of(&mut self, key: u32) -> u32 {
        let group = self.group_of(key);
        if group != NONE && !self.groups[group as usize].of_runtime {
            return group;
        }
        let driven = |group: &Group| group.driver == key && !group.of_runtime;
        let found = self.groups.iter().rposition(driven);
        found.map_or(NONE, |group| group as u32)
    }

    /// The members go on without each other and without a driver.
    pub(super) fn disband_group(&mut self, group: u32) {
        self.drive_group(group, NONE);
        for inner in self.groups[group as usize].inner.clone() {
            self.move_group(inner, NONE);
        }
        for key in std::mem::take(&mut self.groups[group as usize].members) {
            self.release_from_group(key);
        }
    }

    /// A task is no member any more, and shows if that had hidden it.
    fn release_from_group(&mut self, key: u32) {
        self.task(key).group = NONE;
        let hidden = self.action(key).state & state::HIDDEN != 0;
        self.action(key).state &= !(state::GROUPED | state::HIDDEN);
        if self.is_held(key) {
            self.action(key).state |= state::GROUPED;
        }
        if hidden {
            self.insert(key);
        }
    }

    /// Whether a member may enter the enabled set now; otherwise it is marked to enter later.
    #[cold]
    pub(crate) fn may_show(&mut self, key: u32) -> bool {
        if self.is_held(key) {
            self.action(key).state |= state::HIDDEN;
            return false;
        }
        let group = self.task(key).group as usize;
        if group == NONE as usize {
            return true;
        }
        let busy = *self.busy_of(group as u32);
        let Group { driver, turns, .. } = self.groups[group];
        let mut shown = driver != NONE && (busy == NONE || busy == key);
        if shown && turns > 0 && busy == NONE {
            if key == driver {
                shown = !self.others_ready(group, driver);
            } else if self.actions[driver as usize].position != Action::NOWHERE {
                self.remove(driver);
                self.action(driver).state |= state::HIDDEN;
            }
        }
        let action = self.action(key);
        action.state = if shown {
            action.state & !state::HIDDEN
        } else {
            action.state | state::HIDDEN
        };
        shown
    }

    /// Whether a member besides the driver could run.
    fn others_ready(&self, group: usize, driver: u32) -> bool {
        self.groups[group].members.iter().any(|&key| {
            let action = &self.actions[key as usize];
            let ready = action.position != Action::NOWHERE || action.state & state::HIDDEN != 0;
            key != driver && ready
        })
    }

    /// A member is at a scheduling point in the middle of its poll: hides the others.
    #[cold]
    pub(crate) fn take_group_turn(&mut self, key: u32) {
        let group = self.task(key).group as usize;
        if group == NONE as usize {
            return;
        }
        let outermost = self.outermost(group);
        if self.groups[outermost].busy != key {
            self.groups[outermost].busy = key;
            self.refresh_group(outermost);
        }
    }

    /// A member's poll is over: shows the others again. A driver that has not polled the set in
    /// it drives it no longer, as with a set whose future is kept but not awaited.
    #[cold]
    pub(crate) fn end_group_turn(&mut self, key: u32) {
        let group = self.task(key).group;
        if group == NONE {
            return;
        }
        let entry = &mut self.groups[group as usize];
        if entry.driver == key && !std::mem::replace(&mut entry.polled, false) {
            self.drive_group(group, NONE);
        } else {
            entry.turns = if entry.driver == key {
                TURNS
            } else {
                entry.turns.saturating_sub(1)
            };
            let busy = self.busy_of(group);
            if *busy == key {
                *busy = NONE;
            }
            self.refresh_group(self.outermost(group as usize));
        }
    }

    /// A member waits in the middle of its poll, or leaves: shows the others again.
    pub(super) fn leave_group_turn(&mut self, key: u32) {
        let group = self.task(key).group as usize;
        if group == NONE as usize {
            return;
        }
        let outermost = self.outermost(group);
        if self.groups[outermost].busy == key {
            self.groups[outermost].busy = NONE;
            self.refresh_group(outermost);
        }
    }

    /// The driver of a group comes (a task) or goes ([`NONE`]). It is a member while it drives,
    /// unless it belongs to another group already, which the group is within then.
    pub(crate) fn drive_group(&mut self, group: u32, driver: u32) {
        let entry = &mut self.groups[group as usize];
        entry.awaited = false;
        entry.polled = driver != NONE;
        let before = std::mem::replace(&mut entry.driver, driver);
        if before == driver {
            return;
        }
        if before != NONE && self.task(before).group == group {
            self.groups[group as usize].members.retain(|&m| m != before);
            self.leave_group_turn(before);
            self.release_from_group(before);
        }
        let mut within = NONE;
        if driver != NONE {
            let (of, thread) = (self.group_of(driver), self.outermost(group as usize));
            if of == NONE {
                self.task(driver).group = group;
                self.action(driver).state |= state::GROUPED;
                self.groups[group as usize].members.push(driver);
            } else if self.outermost(of as usize) == thread {
                within = self.groups[group as usize].within; // there already, or it would be within itself
            } else {
                within = of;
            }
        }
        self.move_group(group, within);
        self.refresh_group(group as usize);
    }

    /// The running task drives a `LocalSet`, whose tasks it polls in its own poll.
    pub(crate) fn drive_set(&mut self, group: u32, running: Running) {
        let unscheduled = self.is_unscheduled(running);
        self.drive_group(group, running.key);
        self.groups[group as usize].unscheduled = unscheduled;
    }

    /// Whether the poll is run by no scheduler, which would wait with wake-ups for its end.
    pub(super) fn is_unscheduled(&mut self, running: Running) -> bool {
        let group = self.group_of(running.key);
        running.unscheduled || group != NONE && self.groups[group as usize].unscheduled
    }

    /// Who drives the group that a task belongs to, and is not the task itself; or [`NONE`].
    pub(super) fn driver_of(&mut self, key: u32) -> u32 {
        match self.group_of(key) {
            NONE => NONE,
            group => match self.groups[group as usize].driver {
                driver if driver == key => NONE,
                driver => driver,
            },
        }
    }

    /// Whether all members but the driver have ended.
    pub(crate) fn group_is_empty(&self, group: u32, driver: u32) -> bool {
        let members = &self.groups[group as usize].members;
        !members
            .iter()
            .any(|&key| key != driver && self.is_alive(key))
    }

    /// The driver is woken when the last member ends.
    pub(crate) fn wake_driver_when_empty(&mut self, group: u32) {
        self.groups[group as usize].awaited = true;
    }

    /// A member has ended. Returns the driver if it is to be woken.
    pub(crate) fn left_group(&mut self, key: u32) -> Option<u32> {
        let group = self.task(key).group;
        if group == NONE {
            return None; // a driver until just now
        }
        let driver = self.groups[group as usize].driver;
        self.groups[group as usize]
            .members
            .retain(|&member| member != key);
        let awaited = self.groups[group as usize].awaited && driver != NONE && driver != key;
        (awaited && self.group_is_empty(group, driver)).then_some(driver)
    }

    /// Takes one member that is not being polled, to be dropped outside.
    pub(crate) fn take_group_member(&mut self, group: u32) -> Option<(u32, Body)> {
        let members = self.groups[group as usize].members.clone();
        members.into_iter().find_map(|key| {
            let body = self.task(key).take_body()?;
            self.remove(key);
            Some((key, body))
        })
    }

    /// Whether a task belongs to a group.
    pub(crate) fn group_of(&mut self, key: u32) -> u32 {
        self.task(key).group
    }

    /// Shows and hides the members of a group, and of those within it.
    pub(super) fn refresh_group(&mut self, group: usize) {
        for i in 0..self.groups[group].inner.len() {
            self.refresh_group(self.groups[group].inner[i] as usize);
        }
        self.sweep();
        for i in 0..self.groups[group].members.len() {
            let key = self.groups[group].members[i];
            let action = &self.actions[key as usize];
            if action.position != Action::NOWHERE {
                if !self.may_show(key) {
                    self.remove(key);
                }
            } else if action.state & state::HIDDEN != 0 {
                self.insert(key);
            }
        }
    }
}
