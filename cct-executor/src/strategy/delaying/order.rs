//! A list of actions in which everything an explorer does takes constant time.
//!
//! 1. An action is in the list at most once.
//! 2. Links are kept in a table by [`ActionKey::index`], so nothing is allocated once the table has
//!    grown to the number of actions.

use crate::words::ActionKey;

/// No action.
const NONE: u32 = u32::MAX;

/// Actions in an order, each at most once.
#[derive(Clone, Debug)]
pub struct ActionOrder {
    links: Vec<Link>,
    head: u32,
    tail: u32,
    len: usize,
}

/// An action that is not in the list has itself before it.
#[derive(Clone, Copy, Debug)]
struct Link {
    before: u32,
    after: u32,
}

impl Default for ActionOrder {
    fn default() -> Self {
        Self::new()
    }
}

impl ActionOrder {
    /// An empty list.
    pub const fn new() -> Self {
        ActionOrder {
            links: Vec::new(),
            head: NONE,
            tail: NONE,
            len: 0,
        }
    }

    /// Forgets all actions, keeping the memory.
    pub fn clear(&mut self) {
        self.links.clear();
        (self.head, self.tail, self.len) = (NONE, NONE, 0);
    }

    /// How many actions are in it.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether it has none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The first action.
    #[inline]
    pub fn first(&self) -> Option<ActionKey> {
        (self.head != NONE).then_some(ActionKey(self.head))
    }

    /// Whether an action is in it.
    #[inline]
    pub fn contains(&self, action: ActionKey) -> bool {
        let link = self.links.get(action.index());
        link.is_some_and(|link| link.before != action.0)
    }

    /// Makes an action the first one, wherever it was.
    pub fn push_front(&mut self, action: ActionKey) {
        self.remove(action);
        self.insert(action, self.head);
    }

    /// Makes an action the last one, wherever it was.
    pub fn push_back(&mut self, action: ActionKey) {
        self.remove(action);
        self.insert(action, NONE);
    }

    /// Puts an action where `position` others are before it; at the end if there are fewer. Takes
    /// time in proportion to the position.
    pub fn insert_at(&mut self, position: usize, action: ActionKey) {
        self.remove(action);
        let after = self.iter().nth(position);
        self.insert(action, after.map_or(NONE, |after| after.0));
    }

    /// Takes an action out, if it is in it.
    pub fn remove(&mut self, action: ActionKey) {
        if !self.contains(action) {
            return;
        }
        let Link { before, after } = self.links[action.index()];
        *self.link_after(before) = after;
        *self.link_before(after) = before;
        self.links[action.index()].before = action.0;
        self.len -= 1;
    }

    /// The first action becomes the last one.
    pub fn rotate(&mut self) {
        if let Some(first) = self.first() {
            self.push_back(first);
        }
    }

    /// The action that comes after one that is in the list.
    #[inline]
    pub fn next(&self, action: ActionKey) -> Option<ActionKey> {
        let after = self.links.get(action.index())?.after;
        (after != NONE && self.contains(action)).then_some(ActionKey(after))
    }

    /// All actions, first to last.
    pub fn iter(&self) -> impl Iterator<Item = ActionKey> + '_ {
        std::iter::successors(self.first(), |action| self.next(*action))
    }

    /// Puts an action that is not in the list before another one; [`NONE`] for the end.
    fn insert(&mut self, action: ActionKey, after: u32) {
        for absent in self.links.len() as u32..=action.0 {
            self.links.push(Link {
                before: absent,
                after: NONE,
            });
        }
        let before = std::mem::replace(self.link_before(after), action.0);
        *self.link_after(before) = action.0;
        self.links[action.index()] = Link { before, after };
        self.len += 1;
    }

    /// The place where it is written who comes before an action.
    fn link_before(&mut self, action: u32) -> &mut u32 {
        match self.links.get_mut(action as usize) {
            Some(link) => &mut link.before,
            None => &mut self.tail,
        }
    }

    /// The place where it is written who comes after an action.
    fn link_after(&mut self, action: u32) -> &mut u32 {
        match self.links.get_mut(action as usize) {
            Some(link) => &mut link.after,
            None => &mut self.head,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Seed;
    use rand::Rng;

    /// Against a vector, over a random sequence of changes.
    #[test]
    fn it_is_a_list() {
        let mut generator = Seed(5).stream("test");
        let mut order = ActionOrder::new();
        let mut list: Vec<u32> = Vec::new();
        for _ in 0..20_000 {
            let draw = generator.next_u64();
            let action = (draw >> 8) as u32 % 12;
            let key = ActionKey(action);
            let without = |list: &mut Vec<u32>| list.retain(|&a| a != action);
            match draw % 6 {
                0 => {
                    order.push_front(key);
                    without(&mut list);
                    list.insert(0, action);
                }
                1 => {
                    order.push_back(key);
                    without(&mut list);
                    list.push(action);
                }
                2 => {
                    let position = (draw >> 32) as usize % 14;
                    order.insert_at(position, key);
                    without(&mut list);
                    list.insert(position.min(list.len()), action);
                }
                3 | 4 => {
                    order.remove(key);
                    without(&mut list);
                }
                _ => {
                    order.rotate();
                    if !list.is_empty() {
                        list.rotate_left(1);
                    }
                }
            }
            assert_eq!(order.iter().map(|key| key.0).collect::<Vec<_>>(), list);
            assert_eq!(order.len(), list.len());
            assert_eq!(order.contains(key), list.contains(&action));
        }
        order.clear();
        assert!(order.is_empty() && order.first().is_none());
    }
}
