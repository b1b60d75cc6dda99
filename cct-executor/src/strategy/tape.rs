//! Tapes: streams of random numbers that can be wound back, changed and played again.
//!
//! 1. While a tape has numbers left they are played; past its end fresh ones are drawn and
//!    recorded.
//! 2. At most [`LENGTH_MAX`] numbers are recorded; what is played beyond is fresh each time.

use super::draw;
use crate::words::Seed;
use crate::words::seed::Generator;
use rand::{Rng, TryRng};
use std::convert::Infallible;

/// How many numbers a tape holds.
pub(super) const LENGTH_MAX: usize = 1 << 14;

/// A recorded stream that goes on for ever.
#[derive(Clone, Debug)]
pub(super) struct Tape {
    numbers: Vec<u64>,
    position: usize,
    fresh: Generator,
}

impl Tape {
    pub(super) fn new() -> Tape {
        Tape {
            numbers: Vec::new(),
            position: 0,
            fresh: Seed(0).stream("tape"),
        }
    }

    /// An empty tape, continued by this generator.
    pub(super) fn record(&mut self, fresh: Generator) {
        self.play(&[], fresh);
    }

    /// A tape with these numbers, continued by this generator.
    pub(super) fn play(&mut self, numbers: &[u64], fresh: Generator) {
        self.numbers.clear();
        self.numbers.extend_from_slice(numbers);
        self.position = 0;
        self.fresh = fresh;
    }

    /// Replaces so many numbers, at places drawn one by one, by fresh ones.
    pub(super) fn mutate(&mut self, count: u32) {
        let length = self.numbers.len() as u32;
        for _ in 0..if length == 0 { 0 } else { count } {
            let at = draw::below(&mut self.fresh, length) as usize;
            self.numbers[at] = self.fresh.next_u64();
        }
    }

    /// What has been played of it so far.
    pub(super) fn played(&self) -> &[u64] {
        &self.numbers[..self.position]
    }

    #[inline]
    fn next(&mut self) -> u64 {
        if let Some(&number) = self.numbers.get(self.position) {
            self.position += 1;
            return number;
        }
        let number = self.fresh.next_u64();
        if self.numbers.len() < LENGTH_MAX {
            self.numbers.push(number);
            self.position += 1;
        }
        number
    }
}

impl TryRng for Tape {
    type Error = Infallible;

    #[inline]
    fn try_next_u32(&mut self) -> Result<u32, Infallible> {
        Ok((self.next() >> 32) as u32)
    }

    #[inline]
    fn try_next_u64(&mut self) -> Result<u64, Infallible> {
        Ok(self.next())
    }

    fn try_fill_bytes(&mut self, bytes: &mut [u8]) -> Result<(), Infallible> {
        for chunk in bytes.chunks_mut(8) {
            chunk.copy_from_slice(&self.next().to_le_bytes()[..chunk.len()]);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tape_is_played_and_continued() {
        let generator = |n| Seed(n).stream("test");
        let mut tape = Tape::new();
        tape.record(generator(1));
        let first: Vec<u64> = (0..10).map(|_| tape.next_u64()).collect();
        assert_eq!(tape.played(), first);
        tape.play(&first[..6], generator(2));
        tape.mutate(2);
        let again: Vec<u64> = (0..10).map(|_| tape.next_u64()).collect();
        let same = (0..6).filter(|&at| first[at] == again[at]).count();
        assert!((4..=5).contains(&same), "{same}");
        assert_ne!(first[6..], again[6..]);
    }
}
