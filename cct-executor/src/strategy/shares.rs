//! Weights of actions, and a draw among them.
//!
//! Owns the sums, not what the weights mean.
//!
//! 1. Actions lie in drawers by the highest bit of their weight. A draw chooses a drawer by the sum of what lies in it, and
//!    then takes any action there until one is kept, with odds of its weight by the most that the drawer may hold: one half
//!    or better, and always in the drawer of weight 1.
//! 2. So a change and a draw take the same time whatever the number of actions.
//! 3. Nothing is allocated once the table has grown to the number of actions, and a drawer has been used.

use crate::words::ActionKey;
use rand::Rng;

/// Drawers, one for each bit of a weight.
const DRAWERS: usize = u64::BITS as usize;

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Shares {
    /// By [`ActionKey::index`].
    weights: Vec<u64>,
    /// Where in its drawer an action lies; of no meaning where it has no weight.
    places: Vec<u32>,
    drawers: [Vec<ActionKey>; DRAWERS],
    /// The sum of each drawer.
    sums: [u64; DRAWERS],
    /// The drawers that are not empty, a bit each.
    used: u64,
    total: u64,
}

impl Shares {
    pub(super) fn new() -> Self {
        Shares {
            weights: Vec::new(),
            places: Vec::new(),
            drawers: [const { Vec::new() }; DRAWERS],
            sums: [0; DRAWERS],
            used: 0,
            total: 0,
        }
    }

    /// Sets all weights to 0.
    pub(super) fn clear(&mut self) {
        self.weights.fill(0);
        self.drawers.iter_mut().for_each(Vec::clear);
        self.sums = [0; DRAWERS];
        self.used = 0;
        self.total = 0;
    }

    /// The weight of an action.
    #[inline]
    pub(super) fn get(&self, key: ActionKey) -> u64 {
        self.weights.get(key.index()).copied().unwrap_or(0)
    }

    /// The sum of all weights.
    #[inline]
    pub(super) fn total(&self) -> u64 {
        self.total
    }

    /// Changes the weight of an action.
    #[inline]
    pub(super) fn set(&mut self, key: ActionKey, weight: u64) {
        if key.index() >= self.weights.len() {
            self.grow(key.index());
        }
        let before = std::mem::replace(&mut self.weights[key.index()], weight);
        if before == weight {
            return;
        }
        // What goes down is what goes up by all but that.
        let more = weight.wrapping_sub(before);
        self.total = self.total.wrapping_add(more);
        match (before.checked_ilog2(), weight.checked_ilog2()) {
            (Some(old), Some(new)) if old == new => {
                let sum = &mut self.sums[new as usize];
                *sum = sum.wrapping_add(more);
            }
            (old, new) => {
                if let Some(old) = old {
                    self.take_out(key, old, before);
                }
                if let Some(new) = new {
                    self.put_in(key, new, weight);
                }
            }
        }
    }

    #[inline]
    fn take_out(&mut self, key: ActionKey, drawer: u32, weight: u64) {
        let place = self.places[key.index()];
        let keys = &mut self.drawers[drawer as usize];
        keys.swap_remove(place as usize);
        match keys.get(place as usize) {
            Some(moved) => self.places[moved.index()] = place,
            None if keys.is_empty() => self.used &= !(1 << drawer),
            None => {}
        }
        self.sums[drawer as usize] -= weight;
    }

    #[inline]
    fn put_in(&mut self, key: ActionKey, drawer: u32, weight: u64) {
        let keys = &mut self.drawers[drawer as usize];
        if keys.len() == keys.capacity() {
            keys.reserve_exact(self.weights.len() - keys.len());
        }
        self.places[key.index()] = keys.len() as u32;
        keys.push(key);
        self.used |= 1 << drawer;
        self.sums[drawer as usize] += weight;
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        let size = (index + 1).next_power_of_two().max(8);
        self.weights.resize(size, 0);
        self.places.resize(size, 0);
    }

    /// Draws an action, with odds of its weight. There must be one that has any.
    #[inline]
    pub(super) fn draw(&self, generator: &mut impl Rng) -> ActionKey {
        let drawer = self.drawer(generator);
        let keys = &self.drawers[drawer];
        loop {
            let product = u128::from(generator.next_u64()) * keys.len() as u128;
            // What is left of the number when the place has been drawn from it is uniform, too.
            let (place, rest) = ((product >> 64) as usize, product as u64);
            let key = keys[place];
            if drawer == 0 || rest < self.weights[key.index()] << (DRAWERS - 1 - drawer) {
                return key;
            }
        }
    }

    /// Draws a drawer, with odds of its sum.
    #[inline]
    fn drawer(&self, generator: &mut impl Rng) -> usize {
        let first = self.used.trailing_zeros() as usize;
        if self.used.count_ones() == 1 {
            return first;
        }
        let mut ticket = super::draw::ticket(generator, self.total);
        let mut left = self.used;
        loop {
            let drawer = left.trailing_zeros() as usize;
            match ticket.checked_sub(self.sums[drawer]) {
                Some(rest) => ticket = rest,
                None => return drawer,
            }
            left &= left - 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::odds::assert_distribution;
    use crate::words::Seed;

    #[test]
    fn odds_are_weights_while_the_table_grows() {
        let mut shares = Shares::new();
        let mut generator = Seed(5).stream("test");
        let key = ActionKey::from_index;
        let mut weights = vec![0; 90];
        for index in 0..90 {
            weights[index] = index as u64 % 13;
            weights[index / 2] = (index as u64 % 5) * 7;
            shares.set(key(index), weights[index]);
            shares.set(key(index / 2), weights[index / 2]);
            assert_eq!(shares.total(), weights.iter().sum::<u64>());
            if index % 29 == 2 {
                let (mut drawn, mut counts) = (vec![0; 90], Vec::new());
                (0..100_000).for_each(|_| drawn[shares.draw(&mut generator).index()] += 1);
                let may = |(count, weight): (u64, &u64)| match weight {
                    0 => assert_eq!(count, 0),
                    _ => counts.push((count, *weight as u32)),
                };
                drawn.into_iter().zip(&weights).for_each(may);
                let (counts, shares_of): (Vec<_>, Vec<_>) = counts.into_iter().unzip();
                assert_distribution(&counts, &shares_of);
                assert!((0..90).all(|i| shares.get(key(i)) == weights[i]));
            }
        }
        shares.clear();
        assert_eq!((shares.total(), shares.get(key(3))), (0, 0));
        shares.set(key(3), u64::MAX);
        assert_eq!(shares.draw(&mut generator), key(3));
    }
}
