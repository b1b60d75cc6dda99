//! Whether a task's atomic operations are those of a loop that waits for another task.
//!
//! 1. Such a loop looks at a few things, and learns nothing new. A queue has three: where it begins, where it ends, and
//!    whether somebody is done with the place there.
//! 2. Or it changes something and takes that back, again and again, as a lock does that counts a reader before it looks
//!    whether it may read.

/// So many operations in a row that change nothing are those of a loop that waits.
const LOOKS_MAX: u32 = 100;
/// At so many things it looks at most.
const PLACES: usize = 4;
/// So many changes in a row, each of which takes back the one before, are, too. Who does work between them is only made
/// to wait until no other can go on.
const TAKEN_BACK_MAX: u32 = 1_000;

/// What is known of the operations of one task.
#[derive(Clone, Copy)]
pub(super) struct Vain {
    /// Where the last ones looked.
    at: [usize; PLACES],
    looks: u32,
    /// Where the last change was, and what was there before it.
    changed: (usize, u64),
    taken_back: u32,
}

impl Vain {
    pub(super) const NOTHING: Vain = Vain {
        at: [0; PLACES],
        looks: 0,
        changed: (0, 0),
        taken_back: 0,
    };

    /// Whether one more look at this address comes to nothing.
    #[inline]
    pub(super) fn looks(&self, address: usize) -> bool {
        self.looks >= LOOKS_MAX && self.at.contains(&address)
    }

    /// Whether one more change there does.
    #[inline]
    pub(super) fn takes_back(&self, address: usize) -> bool {
        self.taken_back >= TAKEN_BACK_MAX && self.changed.0 == address
    }

    /// An operation has found one value at this address, and left another, or the same.
    #[inline]
    pub(super) fn done(&mut self, address: usize, before: u64, now: u64) {
        if before != now {
            self.taken_back = match self.changed == (address, now) {
                true => self.taken_back + 1,
                false => 0,
            };
            self.changed = (address, before);
        }
        if before == now && self.at.contains(&address) {
            self.looks += 1;
        } else {
            self.at.rotate_right(1);
            self.at[0] = address;
            self.looks = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOCK: usize = 64;
    const OTHER: usize = 72;

    fn after(operations: impl IntoIterator<Item = (usize, u64, u64)>) -> Vain {
        let mut vain = Vain::NOTHING;
        for (address, before, now) in operations {
            vain.done(address, before, now);
        }
        vain
    }

    #[test]
    fn who_looks_at_a_few_things_in_turn_waits() {
        let one = after((0..=LOOKS_MAX).map(|_| (LOCK, 1, 1)));
        assert!(one.looks(LOCK) && !one.looks(OTHER) && !one.takes_back(LOCK));
        let in_turn = |places: usize| {
            let looks = 0..LOOKS_MAX as usize + places;
            after(looks.map(|at| (LOCK + at % places, 1, 1)))
        };
        let few = in_turn(PLACES);
        assert!((0..PLACES).all(|at| few.looks(LOCK + at)));
        assert!(!in_turn(PLACES + 1).looks(LOCK));
        assert!(!after((0..LOOKS_MAX).map(|_| (LOCK, 1, 1))).looks(LOCK));
    }

    #[test]
    fn who_takes_back_what_it_has_changed_waits() {
        let round = [(LOCK, 1, 5), (OTHER, 0, 0), (LOCK, 5, 1)];
        let rounds = |count: u32| (0..count).flat_map(move |_| round);
        assert!(!after(rounds(TAKEN_BACK_MAX / 2)).takes_back(LOCK));
        let waits = after(rounds(TAKEN_BACK_MAX / 2 + 1));
        assert!(waits.takes_back(LOCK) && !waits.takes_back(OTHER) && !waits.looks(LOCK));
    }

    #[test]
    fn who_comes_on_does_not_wait() {
        let adds = (0..2 * u64::from(TAKEN_BACK_MAX)).map(|count| (LOCK, count, count + 1));
        let adds = after(adds);
        assert!(!adds.looks(LOCK) && !adds.takes_back(LOCK));
        // A value between the two is another reader's.
        let others = rounds_of_two().take(4 * TAKEN_BACK_MAX as usize);
        assert!(!after(others).takes_back(LOCK));
    }

    fn rounds_of_two() -> impl Iterator<Item = (usize, u64, u64)> {
        [(LOCK, 1, 5), (LOCK, 9, 5), (LOCK, 5, 9), (LOCK, 5, 1)]
            .into_iter()
            .cycle()
    }
}
