//! A set of hashes, bounded.
//!
//! 1. A number is in the table at its own place or at the next free one, so that a look-up usually
//!    touches one cache line.
//! 2. The table grows to four times its size when it is half full, up to a given size. Then it takes
//!    in nothing more.

/// Places of a new table.
const PLACES_MIN: usize = 1 << 10;

/// The set. The number 0 stands for a free place and is always in it.
#[derive(Clone, Debug)]
pub(super) struct Seen {
    places: Vec<u64>,
    count: usize,
    places_max: usize,
}

impl Seen {
    /// A set of at most half as many numbers as there may be places.
    pub(super) fn new(places_max: usize) -> Seen {
        Seen {
            places: Vec::new(),
            count: 0,
            places_max,
        }
    }

    /// Empties it, keeping the memory.
    pub(super) fn clear(&mut self) {
        if self.count > 0 {
            self.places.fill(0);
            self.count = 0;
        }
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = u64> + '_ {
        self.places.iter().copied().filter(|&hash| hash != 0)
    }

    pub(super) fn len(&self) -> usize {
        self.count
    }

    /// Takes in a hash. Returns whether it is new, which it never is once the set is full.
    #[inline]
    pub(super) fn insert(&mut self, hash: u64) -> bool {
        if 2 * (self.count + 1) > self.places.len() && !self.grow() {
            return false;
        }
        let mask = self.places.len() - 1;
        let mut at = hash as usize & mask;
        loop {
            match self.places[at] {
                0 if hash != 0 => break,
                found if found == hash || hash == 0 => return false,
                _ => at = (at + 1) & mask,
            }
        }
        self.places[at] = hash;
        self.count += 1;
        true
    }

    /// Makes room. Returns whether there is any.
    #[cold]
    fn grow(&mut self) -> bool {
        let places = (4 * self.places.len()).max(PLACES_MIN).min(self.places_max);
        if places <= self.places.len() {
            return false;
        }
        let old = std::mem::replace(&mut self.places, vec![0; places]);
        self.count = 0;
        for hash in old.into_iter().filter(|&hash| hash != 0) {
            self.insert(hash);
        }
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_is_new_once_until_the_set_is_full() {
        let mut seen = Seen::new(1 << 12);
        assert!(!seen.insert(0));
        for hash in 1..=2048 {
            assert!(seen.insert(hash << 20 | hash));
            assert!(!seen.insert(hash << 20 | hash));
        }
        assert_eq!(seen.len(), 2048);
        assert!(!seen.insert(1 << 60));
    }
}
