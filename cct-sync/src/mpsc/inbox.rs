//! The messages of a channel, and what the fingerprint sees of them: which kinds, in which order.
//!
//! A message's kind is its enum variant; messages of other types are all alike. The abstract state
//! of learners is built from kinds (P. Mukherjee et al., "Learning-based controlled concurrency
//! testing", OOPSLA 2020, section 4: the inbox without payloads).

use cct_executor::words::fingerprint::variant_of;
use std::collections::VecDeque;

/// An odd number, so that it has an inverse: taking the first message out undoes putting it in.
const BASE: u64 = 0x9E37_79B9_7F4A_7C15;
const INVERSE: u64 = inverse(BASE);

/// A queue that keeps a hash of the kinds of its messages: the sum of `kind * BASE^position`.
pub(super) struct Inbox<T> {
    messages: VecDeque<T>,
    hash: u64,
    /// `BASE^len`.
    power: u64,
}

impl<T> Inbox<T> {
    pub(super) fn new() -> Inbox<T> {
        Inbox {
            messages: VecDeque::new(),
            hash: 0,
            power: 1,
        }
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.messages.len()
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        self.messages.is_empty()
    }

    /// Kinds and order; 0 when empty.
    #[inline]
    pub(super) fn hash(&self) -> u64 {
        self.hash
    }

    #[inline]
    pub(super) fn push_back(&mut self, message: T) {
        self.hash = self
            .hash
            .wrapping_add(variant_of(&message).wrapping_mul(self.power));
        self.power = self.power.wrapping_mul(BASE);
        self.messages.push_back(message);
    }

    #[inline]
    pub(super) fn pop_front(&mut self) -> Option<T> {
        let message = self.messages.pop_front()?;
        self.hash = self
            .hash
            .wrapping_sub(variant_of(&message))
            .wrapping_mul(INVERSE);
        self.power = self.power.wrapping_mul(INVERSE);
        Some(message)
    }

    /// Takes all messages.
    pub(super) fn take(&mut self) -> VecDeque<T> {
        let empty = Inbox::new();
        std::mem::replace(self, empty).messages
    }
}

/// The inverse of an odd number modulo 2^64: each round doubles the number of correct bits.
const fn inverse(x: u64) -> u64 {
    let mut y = x;
    let mut round = 0;
    while round < 5 {
        y = y.wrapping_mul(2_u64.wrapping_sub(x.wrapping_mul(y)));
        round += 1;
    }
    y
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Clone)]
    enum Message {
        Ping(u32),
        Pong,
        Halt { code: u8 },
    }

    fn inbox(messages: &[Message]) -> Inbox<Message> {
        let mut inbox = Inbox::new();
        messages.iter().for_each(|m| inbox.push_back(m.clone()));
        inbox
    }

    #[test]
    fn the_hash_tells_kinds_and_order_and_not_payloads() {
        use Message::{Halt, Ping, Pong};
        assert_eq!(BASE.wrapping_mul(INVERSE), 1);
        let hash = |messages: &[Message]| inbox(messages).hash();
        assert_eq!(hash(&[]), 0);
        assert_eq!(hash(&[Ping(1), Pong]), hash(&[Ping(2), Pong]));
        assert_ne!(hash(&[Ping(1), Pong]), hash(&[Pong, Ping(1)]));
        assert_ne!(hash(&[Ping(1)]), hash(&[Ping(1), Ping(1)]));
        let mut used = inbox(&[Ping(5), Halt { code: 0 }, Ping(0), Pong]);
        assert!(matches!(used.pop_front(), Some(Ping(5))));
        assert!(matches!(used.pop_front(), Some(Halt { code: 0 })));
        used.push_back(Halt { code: 3 });
        assert_eq!(used.hash(), hash(&[Ping(7), Pong, Halt { code: 1 }]));
        while used.pop_front().is_some() {}
        assert_eq!((used.hash(), used.power), (0, 1));
        assert_eq!(inbox(&[Pong, Pong]).take().len(), 2);
    }

    /// Messages without variants count by their number only.
    #[test]
    fn messages_that_are_no_enums_are_alike() {
        let mut numbers = Inbox::new();
        numbers.push_back(7_u64);
        let one = numbers.hash();
        numbers.pop_front();
        numbers.push_back(8);
        assert_eq!(numbers.hash(), one);
    }
}
