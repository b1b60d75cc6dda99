//! Queues of waiting futures, and the wake-ups that an operation owes.
//!
//! A waiting future owns one node, named by a [`Key`], from its first `Pending` until it completes
//! or is dropped. The node may leave the queue earlier, when the future is granted what it waits
//! for; it then stays in its slot and holds the answer.
//!
//! 1. A key is used by the future that got it, and not after [`WaitList::remove`].
//! 2. Slots are reused, so that a list allocates only while it grows.
//!
//! Does not: lock (the list lives in a `Shared`), wake, drop wakers.

use cct_executor::shim::Waiter;

/// No slot.
const NIL: u32 = u32::MAX;

/// Names a node of one list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Key(u32);

/// Nodes of waiting futures, some of which stand in a queue.
#[derive(Debug)]
pub(crate) struct WaitList<N> {
    slots: Vec<Slot<N>>,
    first: u32,
    last: u32,
    /// Head of the chain of vacant slots, linked by `next`.
    vacant: u32,
    /// How many nodes stand in the queue.
    queued: u32,
    /// How many have left it, and are not removed.
    served: u32,
    /// An empty vector whose memory the next [`Wakes`] may use.
    spare: Vec<Waiter>,
}

#[derive(Debug)]
struct Slot<N> {
    /// `None` exactly when the slot is vacant.
    node: Option<N>,
    prev: u32,
    next: u32,
    queued: bool,
}

impl<N> WaitList<N> {
    pub(crate) const fn new() -> Self {
        WaitList {
            slots: Vec::new(),
            first: NIL,
            last: NIL,
            vacant: NIL,
            queued: 0,
            served: 0,
            spare: Vec::new(),
        }
    }

    /// How many nodes stand in the queue.
    #[inline]
    pub(crate) fn queued(&self) -> u32 {
        self.queued
    }

    /// The node that has stood in the queue for longest.
    #[inline]
    pub(crate) fn first(&self) -> Option<Key> {
        (self.first != NIL).then_some(Key(self.first))
    }

    /// The node that came last.
    #[inline]
    pub(crate) fn last(&self) -> Option<Key> {
        (self.last != NIL).then_some(Key(self.last))
    }

    /// The nodes that have left the queue, and whose futures do not know yet.
    pub(crate) fn served(&self) -> impl Iterator<Item = &N> {
        // Mostly there are none, and a long queue need not be looked through for them.
        let slots = if self.served == 0 {
            &[]
        } else {
            &self.slots[..]
        };
        let served = slots.iter().filter(|slot| !slot.queued);
        served.filter_map(|slot| slot.node.as_ref())
    }

    /// Puts a new node at the end of the queue.
    pub(crate) fn push(&mut self, node: N) -> Key {
        let slot = Slot {
            node: Some(node),
            prev: self.last,
            next: NIL,
            queued: true,
        };
        let index = if self.vacant == NIL {
            let index = u32::try_from(self.slots.len()).expect("cct bug: too many waiters");
            self.slots.push(slot);
            index
        } else {
            let index = self.vacant;
            self.vacant = self.slots[index as usize].next;
            self.slots[index as usize] = slot;
            index
        };
        match self.last {
            NIL => self.first = index,
            last => self.slots[last as usize].next = index,
        }
        self.last = index;
        self.queued += 1;
        Key(index)
    }

    pub(crate) fn node(&mut self, key: Key) -> &mut N {
        self.slots[key.0 as usize]
            .node
            .as_mut()
            .expect("cct bug: the waiter is gone")
    }

    /// Whether a node stands in the queue.
    pub(crate) fn is_queued(&self, key: Key) -> bool {
        self.slots[key.0 as usize].queued
    }

    /// Takes a node out of the queue, if it stands there; the node stays.
    pub(crate) fn unlink(&mut self, key: Key) {
        let slot = &mut self.slots[key.0 as usize];
        if !slot.queued {
            return;
        }
        slot.queued = false;
        self.served += 1;
        let (prev, next) = (slot.prev, slot.next);
        match prev {
            NIL => self.first = next,
            prev => self.slots[prev as usize].next = next,
        }
        match next {
            NIL => self.last = prev,
            next => self.slots[next as usize].prev = prev,
        }
        self.queued -= 1;
    }

    /// Ends a node. Its waker is to be dropped outside of the cell that the list lives in.
    pub(crate) fn remove(&mut self, key: Key) -> N {
        self.unlink(key);
        self.served -= 1;
        let slot = &mut self.slots[key.0 as usize];
        slot.next = self.vacant;
        self.vacant = key.0;
        slot.node.take().expect("cct bug: the waiter is gone")
    }

    /// Notes a wake-up, in memory that this list keeps for it.
    #[inline]
    pub(crate) fn owe(&mut self, wakes: &mut Wakes, waiter: Option<Waiter>) {
        let Some(waiter) = waiter else { return };
        if wakes.first.is_none() {
            wakes.first = Some(waiter);
            return;
        }
        if wakes.rest.capacity() == 0 {
            wakes.rest = std::mem::take(&mut self.spare);
        }
        wakes.rest.push(waiter);
    }

    /// Takes back memory that [`Wakes::wake`] left.
    pub(crate) fn keep(&mut self, spare: Vec<Waiter>) {
        if self.spare.capacity() < spare.capacity() {
            self.spare = spare;
        }
    }
}

/// Wake-ups that are owed, in order, to be done after leaving the cell.
#[derive(Debug)]
#[must_use = "the waiters wait for it"]
pub(crate) struct Wakes {
    first: Option<Waiter>,
    rest: Vec<Waiter>,
}

impl Wakes {
    #[inline]
    pub(crate) const fn none() -> Self {
        Wakes {
            first: None,
            rest: Vec::new(),
        }
    }

    /// How many wake-ups are owed.
    pub(crate) fn len(&self) -> usize {
        usize::from(self.first.is_some()) + self.rest.len()
    }

    /// Lets the waiter at this place be the first, and those before it the last.
    pub(crate) fn rotate(&mut self, place: usize) {
        if place == 0 {
            return;
        }
        self.rest.rotate_left(place - 1);
        let end = self.rest.len() - place;
        if let Some(first) = self.first.replace(self.rest.remove(0)) {
            self.rest.insert(end, first);
        }
    }

    /// Wakes all. Returns memory for [`WaitList::keep`] if more than one was woken.
    #[inline]
    pub(crate) fn wake(&mut self) -> Option<Vec<Waiter>> {
        // Most often nobody waits: then nothing is moved about.
        self.first.as_ref()?;
        self.wake_all()
    }

    fn wake_all(&mut self) -> Option<Vec<Waiter>> {
        self.first.take()?.wake();
        let mut rest = std::mem::take(&mut self.rest);
        if rest.capacity() == 0 {
            return None;
        }
        rest.drain(..).for_each(Waiter::wake);
        Some(rest)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};
    use std::task::{Context, Wake, Waker};

    struct Bell(usize, Arc<Mutex<Vec<usize>>>);

    impl Wake for Bell {
        fn wake(self: Arc<Self>) {
            self.1.lock().unwrap().push(self.0);
        }
    }

    fn queue(list: &mut WaitList<usize>) -> Vec<usize> {
        let mut order = Vec::new();
        while let Some(key) = list.first() {
            order.push(*list.node(key));
            list.unlink(key);
        }
        order
    }

    #[test]
    fn nodes_stay_in_order_and_slots_are_reused() {
        let mut list = WaitList::new();
        let keys: Vec<_> = (0..5).map(|node| list.push(node)).collect();
        assert_eq!(list.last(), Some(keys[4]));
        for gone in [2, 0, 4] {
            assert_eq!(list.remove(keys[gone]), gone);
        }
        assert_eq!(list.push(7), keys[4]);
        list.unlink(keys[1]);
        list.unlink(keys[1]);
        assert!(!list.is_queued(keys[1]) && list.is_queued(keys[3]));
        assert_eq!((list.queued(), *list.node(keys[1])), (2, 1));
        assert_eq!(queue(&mut list), [3, 7]);
        assert_eq!(
            (list.first(), list.last(), list.slots.len()),
            (None, None, 5)
        );
    }

    #[test]
    fn wakes_keep_their_order_and_can_be_rotated() {
        for place in 0..4 {
            let rung = Arc::new(Mutex::new(Vec::new()));
            let (mut list, mut wakes) = (WaitList::<()>::new(), Wakes::none());
            for name in 0..4 {
                let waker = Waker::from(Arc::new(Bell(name, rung.clone())));
                let waiter = Waiter::from_context(&Context::from_waker(&waker));
                list.owe(&mut wakes, Some(waiter));
            }
            assert_eq!(wakes.len(), 4);
            wakes.rotate(place);
            let spare = wakes.wake().expect("memory for three");
            list.keep(spare);
            let order: Vec<_> = (place..4).chain(0..place).collect();
            assert_eq!(*rung.lock().unwrap(), order);
        }
    }
}
