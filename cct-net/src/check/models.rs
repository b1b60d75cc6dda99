//! Sequential models: a register, a map, a queue.

use super::Model;
use cct_executor::words::fingerprint::hash_of;
use std::collections::VecDeque;
use std::fmt::Debug;
use std::hash::Hash;

/// What can be a value of the models.
pub trait Value: Clone + PartialEq + Hash + Debug {}

impl<T: Clone + PartialEq + Hash + Debug> Value for T {}

/// A register that is read, written, and compared and swapped.
#[derive(Clone, Debug)]
pub struct Register<V> {
    initial: V,
}

/// Operations on a [`Register`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RegisterOp<V> {
    /// Returns `Some(value)`.
    Read,
    /// Returns `None`.
    Write(V),
    /// Writes the second if the register has the first. Returns what the register had before.
    CompareAndSwap(V, V),
}

impl<V: Value> Register<V> {
    /// A register that begins with this value.
    pub fn new(initial: V) -> Self {
        Register { initial }
    }

    /// The operation that reads.
    pub fn read() -> RegisterOp<V> {
        RegisterOp::Read
    }

    /// The operation that writes.
    pub fn write(value: V) -> RegisterOp<V> {
        RegisterOp::Write(value)
    }

    /// The operation that compares and swaps.
    pub fn compare_and_swap(expected: V, new: V) -> RegisterOp<V> {
        RegisterOp::CompareAndSwap(expected, new)
    }
}

impl<V: Value> Model for Register<V> {
    type State = V;
    type Op = RegisterOp<V>;
    type Output = Option<V>;

    fn initial(&self) -> V {
        self.initial.clone()
    }

    fn apply(&self, state: &V, op: &RegisterOp<V>, output: Option<&Option<V>>) -> Option<V> {
        let (expected, after) = match op {
            RegisterOp::Read => (Some(state.clone()), state.clone()),
            RegisterOp::Write(value) => (None, value.clone()),
            RegisterOp::CompareAndSwap(old, new) => (
                Some(state.clone()),
                if old == state { new } else { state }.clone(),
            ),
        };
        output
            .is_none_or(|output| *output == expected)
            .then_some(after)
    }
}

/// A map whose keys are independent of each other.
#[derive(Clone, Copy, Debug, Default)]
pub struct KeyValue;

/// Operations on a [`KeyValue`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum KeyValueOp<K, V> {
    /// Returns the value, if there is one.
    Get(K),
    /// Returns `None`.
    Put(K, V),
    /// Returns `None`.
    Delete(K),
}

/// A [`KeyValue`] with keys and values of these types.
#[derive(Clone, Copy, Debug)]
pub struct Typed<K, V>(std::marker::PhantomData<fn() -> (K, V)>);

impl KeyValue {
    /// The model for keys and values of these types.
    pub fn of<K, V>() -> Typed<K, V> {
        Typed(std::marker::PhantomData)
    }
}

impl<K: Value, V: Value> Model for Typed<K, V> {
    /// The value of one key: operations on different keys are checked apart.
    type State = Option<V>;
    type Op = KeyValueOp<K, V>;
    type Output = Option<V>;

    fn initial(&self) -> Option<V> {
        None
    }

    fn apply(
        &self,
        state: &Option<V>,
        op: &KeyValueOp<K, V>,
        output: Option<&Option<V>>,
    ) -> Option<Option<V>> {
        let (expected, after) = match op {
            KeyValueOp::Get(_) => (state.clone(), state.clone()),
            KeyValueOp::Put(_, value) => (None, Some(value.clone())),
            KeyValueOp::Delete(_) => (None, None),
        };
        output
            .is_none_or(|output| *output == expected)
            .then_some(after)
    }

    fn part(&self, op: &KeyValueOp<K, V>) -> u64 {
        match op {
            KeyValueOp::Get(key) | KeyValueOp::Put(key, _) | KeyValueOp::Delete(key) => {
                hash_of(key)
            }
        }
    }
}

/// A first-in first-out queue.
#[derive(Clone, Copy, Debug)]
pub struct Queue<V>(std::marker::PhantomData<fn() -> V>);

/// Operations on a [`Queue`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum QueueOp<V> {
    /// Returns `None`.
    Enqueue(V),
    /// Returns the first value, if there is one.
    Dequeue,
}

impl<V> Queue<V> {
    /// A queue that begins empty.
    pub fn new() -> Self {
        Queue(std::marker::PhantomData)
    }
}

impl<V> Default for Queue<V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<V: Value> Model for Queue<V> {
    type State = VecDeque<V>;
    type Op = QueueOp<V>;
    type Output = Option<V>;

    fn initial(&self) -> VecDeque<V> {
        VecDeque::new()
    }

    fn apply(
        &self,
        state: &VecDeque<V>,
        op: &QueueOp<V>,
        output: Option<&Option<V>>,
    ) -> Option<VecDeque<V>> {
        let mut after = state.clone();
        let expected = match op {
            QueueOp::Enqueue(value) => {
                after.push_back(value.clone());
                None
            }
            QueueOp::Dequeue => after.pop_front(),
        };
        output
            .is_none_or(|output| *output == expected)
            .then_some(after)
    }
}
