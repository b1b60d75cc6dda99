//! The messages of a channel, and who still has to see them.
//!
//! A message has a position, counted from 0. Receivers clone messages, which is user code and so
//! happens outside of the cell: the message is lent for that time, unless nobody else is to see it.
//!
//! 1. `slots` holds the messages that some receiver has yet to see, among the newest `capacity`
//!    ones. They are without gap, as who has yet to see one has yet to see all that came later.
//! 2. `unseen` counts the receivers that have yet to see the message or have it lent.

use crate::queue::Queue;
use crate::waiters::Wakes;
use std::collections::VecDeque;

pub(super) struct State<T> {
    slots: VecDeque<Slot<T>>,
    capacity: u64,
    /// Position of the next message.
    tail: u64,
    /// Nobody is left on one of the sides. A new receiver opens the channel again if it was the
    /// receivers' side.
    closed: bool,
    receivers: usize,
    senders: usize,
    weak_senders: usize,
    /// Receivers that wait for a message.
    pub(super) receiving: Queue,
    /// Senders that wait for the last receiver to go.
    pub(super) closing: Queue,
}

struct Slot<T> {
    unseen: usize,
    /// `None` while it is lent.
    message: Option<T>,
}

/// What a receiver finds.
pub(super) enum Found<T> {
    /// A message that nobody else is to see.
    Last(T),
    /// A message to be given back, and its position.
    Lent(T, u64),
    /// Somebody else has the message lent.
    Busy,
    /// So many messages were missed.
    Lagged(u64),
    /// There will be no more messages.
    Closed,
}

impl<T> State<T> {
    pub(super) fn new(capacity: usize, receivers: usize) -> Self {
        State {
            slots: VecDeque::new(),
            capacity: capacity as u64,
            tail: 0,
            closed: receivers == 0,
            receivers,
            senders: 1,
            weak_senders: 0,
            receiving: Queue::new(),
            closing: Queue::new(),
        }
    }

    /// Adds a message, in place of the oldest if there is no room. Returns the number of receivers
    /// and the message to be dropped.
    #[inline]
    pub(super) fn push(&mut self, message: T, wakes: &mut Wakes) -> Result<(usize, Option<T>), T> {
        if self.receivers == 0 {
            return Err(message);
        }
        let mut dropped = None;
        if self.slots.len() as u64 == self.capacity {
            dropped = self.slots.pop_front().and_then(|slot| slot.message);
        }
        self.slots.push_back(Slot {
            unseen: self.receivers,
            message: Some(message),
        });
        self.tail += 1;
        self.receiving.let_go(wakes);
        Ok((self.receivers, dropped))
    }

    /// What the receiver whose next message is at `next` finds; `None` if it has to wait.
    #[inline]
    pub(super) fn find(&mut self, next: &mut u64) -> Option<Found<T>> {
        if *next == self.tail {
            return self.closed.then_some(Found::Closed);
        }
        let oldest = self.tail.saturating_sub(self.capacity);
        if *next < oldest {
            let missed = oldest - *next;
            *next = oldest;
            return Some(Found::Lagged(missed));
        }
        let slot = self
            .slot(*next)
            .expect("cct bug: a message is gone that was not seen");
        let Some(message) = slot.message.take() else {
            return Some(Found::Busy);
        };
        let position = *next;
        *next += 1;
        if slot.unseen > 1 {
            return Some(Found::Lent(message, position));
        }
        self.see(position);
        Some(Found::Last(message))
    }

    /// Ends a loan. Returns the message if it is to be dropped.
    #[inline]
    pub(super) fn give_back(&mut self, message: T, position: u64) -> Option<T> {
        // Newer messages may have pushed it out meanwhile.
        let Some(slot) = self.slot(position) else {
            return Some(message);
        };
        slot.message = Some(message);
        self.see(position)
    }

    /// Whoever was to see the message has seen it, or never will. Returns the message if it is to
    /// be dropped.
    fn see(&mut self, position: u64) -> Option<T> {
        let slot = self.slot(position)?;
        slot.unseen -= 1;
        if slot.unseen > 0 {
            return None;
        }
        self.slots.pop_front().and_then(|slot| slot.message)
    }

    /// Lets a receiver that is dropped pass over its next message, up to `until`. `None` at the
    /// end, otherwise what is to be dropped.
    pub(super) fn skip(&mut self, next: &mut u64, until: u64) -> Option<Option<T>> {
        *next = (*next).max(self.tail.saturating_sub(self.capacity));
        if *next >= until {
            return None;
        }
        *next += 1;
        Some(self.see(*next - 1))
    }

    #[inline]
    fn slot(&mut self, position: u64) -> Option<&mut Slot<T>> {
        let first = self.tail - self.slots.len() as u64;
        self.slots
            .get_mut(usize::try_from(position.checked_sub(first)?).ok()?)
    }

    /// Counts a new receiver; returns the position of its first message.
    pub(super) fn add_receiver(&mut self) -> u64 {
        assert!(self.receivers != usize::MAX >> 2, "max receivers");
        if self.receivers == 0 {
            self.closed = false;
        }
        self.receivers += 1;
        self.tail
    }

    /// Returns the position of the first message that the receiver is not counted for.
    pub(super) fn remove_receiver(&mut self) -> u64 {
        self.receivers -= 1;
        if self.receivers == 0 {
            self.closed = true;
        }
        self.tail
    }

    /// A sender more, unless there is none.
    pub(super) fn add_sender(&mut self) -> bool {
        let alive = self.senders > 0;
        self.senders += usize::from(alive);
        alive
    }

    pub(super) fn remove_sender(&mut self, wakes: &mut Wakes) {
        self.senders -= 1;
        if self.senders == 0 {
            self.closed = true;
            self.receiving.let_go(wakes);
        }
    }

    pub(super) fn add_weak(&mut self) {
        self.weak_senders += 1;
    }

    pub(super) fn remove_weak(&mut self) {
        self.weak_senders -= 1;
    }

    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    /// How many messages have yet to be seen by somebody.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    pub(super) fn tail(&self) -> u64 {
        self.tail
    }

    pub(super) fn receivers(&self) -> usize {
        self.receivers
    }

    pub(super) fn senders(&self) -> usize {
        self.senders
    }

    pub(super) fn weak_senders(&self) -> usize {
        self.weak_senders
    }

    /// What the fingerprint sees: the messages, and how many receivers have yet to see the oldest.
    #[inline]
    pub(super) fn digest(&self) -> u64 {
        let unseen = self.slots.front().map_or(0, |slot| slot.unseen as u64);
        self.slots.len() as u64 ^ (unseen << 32) ^ (u64::from(self.closed) << 63)
    }
}
