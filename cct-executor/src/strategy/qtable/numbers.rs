//! Small numbers for actions, the same in all iterations.
//!
//! 1. A number stands for an identity once it was given, in the order in which identities were met.
//! 2. In an iteration a number leads to the action, and this knows where it is in the enabled set.
//!    So an arm finds out in two loads whether its action is enabled, without a search.
//! 3. An iteration often begins as the one before did. So an action is first expected to be the one
//!    that had its place then.

use super::index::Index;
use crate::words::{Action, ActionId};

/// Identities beyond so many share a number.
const NUMBERS_MAX: usize = 1 << 20;

/// The action of this iteration that a number stands for. Whether there is one cannot be foreseen,
/// so that nothing branches on it: without one, the position of some other is spoilt.
#[derive(Clone, Copy, Debug)]
struct Place {
    key: u32,
    /// All bits if there is none, otherwise 0.
    absent: u32,
}

impl Place {
    const NONE: Place = Place {
        key: 0,
        absent: u32::MAX,
    };
}

#[derive(Clone, Debug)]
pub(in crate::strategy) struct Numbers {
    /// By number.
    ids: Vec<ActionId>,
    index: Index,
    /// The actions' numbers, in this iteration; beyond the first `known`, in an earlier one.
    by_key: Vec<u32>,
    known: usize,
    /// By number.
    places: Vec<Place>,
    /// Two actions of this iteration have one number.
    shared: bool,
}

impl Numbers {
    pub(super) fn new() -> Numbers {
        Numbers {
            ids: Vec::new(),
            index: Index::new(),
            by_key: Vec::new(),
            known: 0,
            places: Vec::new(),
            shared: false,
        }
    }

    /// An iteration begins.
    pub(super) fn begin(&mut self) {
        for &number in &self.by_key[..self.known] {
            self.places[number as usize] = Place::NONE;
        }
        self.known = 0;
        self.shared = false;
    }

    /// Gives numbers to the actions that are new.
    #[inline(always)]
    pub(super) fn meet(&mut self, actions: &[Action]) {
        if self.known < actions.len() {
            self.meet_new(actions);
        }
    }

    #[inline(never)]
    fn meet_new(&mut self, actions: &[Action]) {
        for (key, action) in actions.iter().enumerate().skip(self.known) {
            let expected = self.by_key.get(key).copied();
            let number = match expected {
                Some(number) if self.ids[number as usize] == action.id => number,
                _ => self.number(action.id),
            };
            match self.by_key.get_mut(key) {
                Some(known) => *known = number,
                None => self.by_key.push(number),
            }
            let place = Place {
                key: key as u32,
                absent: 0,
            };
            let before = std::mem::replace(&mut self.places[number as usize], place);
            self.shared |= before.absent == 0;
        }
        self.known = actions.len();
    }

    /// The number of an identity, given to it now if it has none.
    fn number(&mut self, id: ActionId) -> u32 {
        let ids = &self.ids;
        let found = self.index.search(id.0, |number| ids[number as usize] == id);
        if let Ok(number) = found {
            return number;
        }
        if ids.len() == NUMBERS_MAX {
            return NUMBERS_MAX as u32 - 1;
        }
        if self.index.is_full() {
            self.index.rebuild(ids.iter().map(|id| id.0));
        }
        let number = ids.len() as u32;
        self.index.insert(id.0, number);
        self.ids.push(id);
        self.places.push(Place::NONE);
        number
    }

    /// Whether a number does not tell which action of this iteration is meant.
    #[inline(always)]
    pub(super) fn are_shared(&self) -> bool {
        self.shared
    }

    /// The number of an action of this iteration.
    #[inline(always)]
    pub(super) fn of(&self, key: u32) -> u32 {
        self.by_key[key as usize]
    }

    /// Where the action is in the enabled set; [`Action::NOWHERE`] if it is not.
    #[inline(always)]
    pub(super) fn position(&self, number: u32, actions: &[Action]) -> u32 {
        let Some(place) = self.places.get(number as usize) else {
            return Action::NOWHERE;
        };
        actions[place.key as usize].position | place.absent
    }

    /// All identities, by number.
    pub(super) fn ids(&self) -> impl ExactSizeIterator<Item = u64> + '_ {
        self.ids.iter().map(|id| id.0)
    }

    /// The numbers that these identities have.
    pub(super) fn with(ids: impl Iterator<Item = u64>) -> Numbers {
        let mut numbers = Numbers::new();
        for id in ids {
            numbers.number(ActionId(id));
        }
        numbers
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::publish::action;

    #[test]
    fn numbers_outlast_iterations() {
        let mut numbers = Numbers::new();
        let mut actions: Vec<Action> = [30, 10, 20].map(action).into();
        actions[1].position = 4;
        numbers.meet(&actions);
        assert_eq!([0, 1, 2].map(|key| numbers.of(key)), [0, 1, 2]);
        assert_eq!(numbers.position(1, &actions), 4);
        assert_eq!(numbers.position(2, &actions), Action::NOWHERE);
        numbers.begin();
        actions[..].rotate_left(1);
        numbers.meet(&actions[..1]);
        assert_eq!(numbers.position(0, &actions), Action::NOWHERE);
        numbers.meet(&actions);
        assert_eq!([0, 1, 2].map(|key| numbers.of(key)), [1, 2, 0]);
        assert_eq!(numbers.position(1, &actions), 4);
        assert!(!numbers.are_shared());
        actions.push(action(20));
        numbers.meet(&actions);
        assert!(numbers.are_shared());
        let same = Numbers::with(numbers.ids());
        assert!(same.ids().eq([30, 10, 20]));
    }
}
