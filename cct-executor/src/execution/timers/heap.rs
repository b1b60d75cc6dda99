//! Timers by the order in which they fire.

use super::TimerId;
use crate::execution::core::NONE;
use crate::execution::waker::Waiter;
use crate::words::Clock;

pub(super) struct Timer {
    pub(super) deadline_ns: u64,
    /// Place in the heap, or [`NONE`] once it has fired.
    pub(super) place: u32,
    /// Its action, where timers are actions.
    pub(super) action: u32,
    pub(super) waiter: Option<Waiter>,
}

/// An element of the heap.
#[derive(Clone, Copy)]
pub(super) struct Due {
    pub(super) deadline_ns: u64,
    sequence: u32,
    pub(super) timer: TimerId,
}

impl Due {
    /// Deadline, then registration: one number, compared without a branch for each part.
    #[inline]
    fn order(self) -> u128 {
        u128::from(self.deadline_ns) << 64 | u128::from(self.sequence)
    }
}

pub(crate) struct Timers {
    pub(super) timers: Vec<Timer>,
    pub(super) free: Vec<TimerId>,
    /// A four-ary min-heap.
    pub(super) heap: Vec<Due>,
    sequence: u32,
    pub(super) clock: Clock,
    /// The timers whose actions are enabled.
    pub(super) eligible: Vec<TimerId>,
    /// The eligible timers may have changed.
    pub(super) dirty: bool,
    /// Wakers of foreign make that are to be woken outside the core.
    pub(crate) due: Vec<Waiter>,
    /// Up to where timers have fired. Behind the clock only from a move by hand to the end of the
    /// poll that made it; what is registered in between has not fired either.
    pub(super) elapsed_ns: u64,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers {
            timers: Vec::new(),
            free: Vec::new(),
            heap: Vec::new(),
            sequence: 0,
            clock: Clock::Strict,
            eligible: Vec::new(),
            dirty: false,
            due: Vec::new(),
            elapsed_ns: 0,
        }
    }

    pub(crate) fn reset(&mut self, clock: Clock) {
        self.timers.clear();
        self.free.clear();
        self.heap.clear();
        self.eligible.clear();
        self.due.clear();
        self.sequence = 0;
        self.elapsed_ns = 0;
        self.clock = clock;
        self.dirty = false;
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether no timer is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }

    /// All waiters, so that they can be dropped outside the core.
    pub(crate) fn take_waiters(&mut self) -> Vec<Waiter> {
        let mut waiters: Vec<_> = self
            .timers
            .iter_mut()
            .filter_map(|timer| timer.waiter.take())
            .collect();
        waiters.append(&mut self.due);
        waiters
    }

    fn place(&mut self, due: Due, at: usize) {
        self.heap[at] = due;
        self.timers[due.timer as usize].place = at as u32;
    }

    fn sift_up(&mut self, mut at: usize) {
        let due = self.heap[at];
        while at > 0 {
            let above = (at - 1) / 4;
            if self.heap[above].order() <= due.order() {
                break;
            }
            self.place(self.heap[above], at);
            at = above;
        }
        self.place(due, at);
    }

    fn sift_down(&mut self, mut at: usize) {
        let due = self.heap[at];
        while let Some(child) = self.first_child(at) {
            let least = self.heap[child];
            if due.order() <= least.order() {
                break;
            }
            self.place(least, at);
            at = child;
        }
        self.place(due, at);
    }

    /// The child that is due first.
    #[inline(always)]
    fn first_child(&self, at: usize) -> Option<usize> {
        let first = 4 * at + 1;
        let children = self.heap.get(first..)?;
        if let [a, b, c, d, ..] = children {
            // Which one it is cannot be foreseen, so that no branch asks.
            let left = usize::from(b.order() < a.order());
            let right = 2 + usize::from(d.order() < c.order());
            let is_right = usize::from(children[right].order() < children[left].order());
            return Some(first + left + (right - left) * is_right);
        }
        let (child, _) = (first..).zip(children).min_by_key(|(_, due)| due.order())?;
        Some(child)
    }

    pub(super) fn push(&mut self, timer: TimerId, deadline_ns: u64) {
        let due = Due {
            deadline_ns,
            sequence: self.sequence,
            timer,
        };
        self.sequence += 1;
        self.heap.push(due);
        self.sift_up(self.heap.len() - 1);
        self.dirty = self.clock != Clock::Strict;
    }

    /// Takes a timer out of the heap, if it is there.
    pub(super) fn take(&mut self, timer: TimerId) {
        let place = std::mem::replace(&mut self.timers[timer as usize].place, NONE);
        if place == NONE {
            return;
        }
        let last = self
            .heap
            .pop()
            .expect("cct bug: a timer's place in an empty heap");
        let place = place as usize;
        if place < self.heap.len() {
            self.heap[place] = last;
            self.sift_up(place);
            let place = self.timers[last.timer as usize].place as usize;
            self.sift_down(place);
        }
        self.dirty = self.clock != Clock::Strict;
    }

    /// Recomputes which timers may fire while work is ready, in firing order.
    pub(super) fn find_eligible(&mut self) {
        self.eligible.clear();
        let Some(first) = self.heap.first() else {
            return;
        };
        match self.clock {
            Clock::Strict => {}
            // One node so far: its earliest timer.
            Clock::Adversarial => self.eligible.push(first.timer),
            Clock::Racing(slack) => {
                let slack_ns = u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX);
                let bound = first.deadline_ns.saturating_add(slack_ns);
                let mut found: Vec<Due> = self
                    .heap
                    .iter()
                    .copied()
                    .filter(|due| due.deadline_ns <= bound)
                    .collect();
                found.sort_unstable_by_key(|due| due.order());
                self.eligible.extend(found.iter().map(|due| due.timer));
            }
        }
    }
}
