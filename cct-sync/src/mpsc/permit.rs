//! Reserved room for messages.
//!
//! A permit stays valid when the receiver closes: what is sent with it is still received.

use super::bounded::Sender;
use super::chan::{Chan, Tx};
use cct_executor::shim::{Access, OpKind};
use std::fmt;
use std::iter::FusedIterator;
use std::panic::Location;

/// Room for one message, reserved. Dropping it gives the room back.
pub struct Permit<'a, T> {
    chan: &'a Chan<T>,
    used: bool,
}

impl<'a, T> Permit<'a, T> {
    #[inline]
    pub(super) fn new(chan: &'a Chan<T>) -> Self {
        Permit { chan, used: false }
    }

    /// Sends a message. Never waits and never fails, also when the receiver has closed.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `spawn`, and one after it there if somebody was woken.
    #[track_caller]
    pub fn send(mut self, value: T) {
        self.chan
            .resource
            .seam_point(OpKind::Send, Access::Write, Location::caller());
        self.used = true;
        self.chan.push(value, Location::caller());
    }
}

impl<T> Drop for Permit<'_, T> {
    fn drop(&mut self) {
        if !self.used {
            self.chan
                .resource
                .sync_point(OpKind::Release, Access::Write, self.chan.site);
            self.chan.give_back(1);
        }
    }
}

impl<T> fmt::Debug for Permit<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Permit").finish_non_exhaustive()
    }
}

/// Room for several messages, reserved. Dropping it gives back what was not taken out of it.
pub struct PermitIterator<'a, T> {
    chan: &'a Chan<T>,
    count: usize,
}

impl<'a, T> PermitIterator<'a, T> {
    #[inline]
    pub(super) fn new(chan: &'a Chan<T>, count: usize) -> Self {
        PermitIterator { chan, count }
    }
}

impl<'a, T> Iterator for PermitIterator<'a, T> {
    type Item = Permit<'a, T>;

    fn next(&mut self) -> Option<Self::Item> {
        self.count = self.count.checked_sub(1)?;
        Some(Permit::new(self.chan))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.count, Some(self.count))
    }
}

impl<T> ExactSizeIterator for PermitIterator<'_, T> {}
impl<T> FusedIterator for PermitIterator<'_, T> {}

impl<T> Drop for PermitIterator<'_, T> {
    fn drop(&mut self) {
        if self.count > 0 {
            self.chan
                .resource
                .sync_point(OpKind::Release, Access::Write, self.chan.site);
            self.chan.give_back(self.count);
        }
    }
}

impl<T> fmt::Debug for PermitIterator<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PermitIterator")
            .field("capacity", &self.count)
            .finish_non_exhaustive()
    }
}

/// Room for one message, reserved, with the sender inside. Dropping it gives the room back.
pub struct OwnedPermit<T> {
    /// `None` once the permit was used.
    sender: Option<Tx<T>>,
}

impl<T> OwnedPermit<T> {
    #[inline]
    pub(super) fn new(sender: Tx<T>) -> Self {
        OwnedPermit {
            sender: Some(sender),
        }
    }

    /// Sends a message and returns the sender. Never waits and never fails.
    ///
    /// # Scheduling points
    /// One before sending, at granularity `spawn`, and one after it there if somebody was woken.
    #[track_caller]
    pub fn send(mut self, value: T) -> Sender<T> {
        let sender = self.take();
        let chan = sender.chan();
        chan.resource
            .seam_point(OpKind::Send, Access::Write, Location::caller());
        chan.push(value, Location::caller());
        Sender::from_tx(sender)
    }

    /// Gives the room back and returns the sender.
    ///
    /// # Scheduling points
    /// One before giving back, at granularity `sync`.
    #[track_caller]
    pub fn release(mut self) -> Sender<T> {
        let sender = self.take();
        let chan = sender.chan();
        chan.resource
            .sync_point(OpKind::Release, Access::Write, Location::caller());
        chan.give_back(1);
        Sender::from_tx(sender)
    }

    /// Whether the two permits are of one channel.
    pub fn same_channel(&self, other: &Self) -> bool {
        match (&self.sender, &other.sender) {
            (Some(a), Some(b)) => a.same_channel(b),
            _ => false,
        }
    }

    /// Whether the permit is of the sender's channel.
    pub fn same_channel_as_sender(&self, sender: &Sender<T>) -> bool {
        self.sender
            .as_ref()
            .is_some_and(|own| own.same_channel(sender.tx()))
    }

    fn take(&mut self) -> Tx<T> {
        self.sender
            .take()
            .expect("cct bug: an owned permit without a sender")
    }
}

impl<T> Drop for OwnedPermit<T> {
    fn drop(&mut self) {
        if let Some(sender) = &self.sender {
            let chan = sender.chan();
            chan.resource
                .sync_point(OpKind::Release, Access::Write, chan.site);
            chan.give_back(1);
        }
    }
}

impl<T> fmt::Debug for OwnedPermit<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("OwnedPermit").finish_non_exhaustive()
    }
}
