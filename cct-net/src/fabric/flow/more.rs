//! What few flows need: room for packets behind the first, and times.

use super::{Announce, Packet};
use cct_executor::shim::world_time_ns;
use std::collections::VecDeque;

/// The part of a flow that most have no use for.
pub(in crate::fabric) struct More {
    /// The packets behind the first. Invariant: in the order of due times, and of sending where they
    /// are equal.
    pub(super) later: VecDeque<Packet>,
    /// Makes the announcement that the link is whole again.
    pub(in crate::fabric) announce: Option<Announce>,
    /// When the last packet that was sent is due, of those that were not due at once.
    pub(super) last_due: u64,
    /// Its place in the schedule.
    pub(in crate::fabric) scheduled: Option<u64>,
    /// For how long packets that cannot get through are sent again.
    pub(in crate::fabric) patience_ns: u64,
    /// When the sender gives up, while something waits and nothing gets through.
    pub(in crate::fabric) gives_up: Option<u64>,
    /// What the sender would send to hear whether the receiver is there, and for how long nothing may
    /// get through then.
    pub(in crate::fabric) keepalive: Option<(Announce, u64)>,
    /// `gives_up` is that of `keepalive`: nothing waits.
    pub(in crate::fabric) only_keepalive: bool,
}

impl Default for More {
    fn default() -> Self {
        More {
            later: VecDeque::new(),
            announce: None,
            last_due: 0,
            scheduled: None,
            patience_ns: u64::MAX,
            gives_up: None,
            keepalive: None,
            only_keepalive: false,
        }
    }
}

impl More {
    /// Whether nothing is left in it that counts. What is idle is as good as new.
    pub(super) fn is_idle(&mut self) -> bool {
        let idle = self.later.is_empty()
            && self.announce.is_none()
            && self.scheduled.is_none()
            && self.patience_ns == u64::MAX
            && self.gives_up.is_none()
            && self.keepalive.is_none()
            && (self.last_due == 0 || self.last_due <= world_time_ns());
        if idle {
            self.last_due = 0;
        }
        idle
    }

    /// Puts a packet among those behind the first.
    pub(super) fn insert(&mut self, packet: Packet) {
        // From the back: few are overtaken by what is sent later.
        let later = self.later.iter().rev();
        let overtaken = later
            .take_while(|other| other.due_ns > packet.due_ns)
            .count();
        self.later.insert(self.later.len() - overtaken, packet);
    }
}

/// Room that flows have given back.
#[derive(Default)]
pub(in crate::fabric) struct Spare(
    #[expect(clippy::vec_box, reason = "flows take and give back boxes")] Vec<Box<More>>,
);

impl Spare {
    pub(super) fn take(&mut self) -> Box<More> {
        self.0.pop().unwrap_or_default()
    }

    pub(super) fn give_back(&mut self, more: Box<More>) {
        self.0.push(more);
    }
}
