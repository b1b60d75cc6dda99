//! What a learner knows: for each state the actions it took there, what each is worth, and how often.
//!
//! Owns the memory and its bound, not the rule by which values change.
//!
//! 1. One look-up per decision finds all arms of a state; a state is known once it was inserted,
//!    and an arm once it has a value. Whatever is not known has the learner's initial value.
//! 2. Arms are sorted by value, the best first, unless [`Table::set_in_place`] is used.
//! 3. The first arm is part of the state's record, as most states have no other. All in, memory is
//!    at most 32 bytes per arm when states have one arm or two, and less when they have more.
//! 4. The bound is kept by forgetting the least visited half of the states, among equals the oldest.
//!    This depends on nothing but what was inserted.
//!
//! Read next: [`walk`] for how a decision is taken, [`policy`] for softmax and greedy choice,
//! [`saved`] for the bytes of a table.

mod arena;
pub(super) mod exp;
mod few;
mod index;
pub(super) mod marks;
#[cfg(test)]
pub(super) mod maze;
pub(super) mod policy;
pub(super) mod saved;
pub(super) mod settings;
pub(super) mod walk;

pub(super) use arena::Arm;
use arena::{ARMS_MAX, Arena};
use index::Index;

/// A known state. Valid until states are forgotten.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct State(u32);

/// What the counters of a table count.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Counts {
    /// How often a state was visited.
    States,
    /// How often an action was taken in a state.
    Arms,
}

/// `Record::more` of a state without arms, and of one without other arms than the first.
const NO_ARM: u32 = u32::MAX;
const ONE_ARM: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Record {
    key: u64,
    /// Of the state or of its first arm, see [`Counts`].
    count: u32,
    /// The block with the other arms.
    more: u32,
    first: Arm,
}

const CHUNK_BITS: u32 = 12;
const CHUNK: usize = 1 << CHUNK_BITS;

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    index: Index,
    /// All but the last chunk are full.
    records: Vec<Vec<Record>>,
    len: usize,
    arena: Arena,
    counts: Counts,
    bytes_max: usize,
    forgotten: u64,
    /// Arms that were not stored as their state has too many.
    left_out: u64,
}

impl Table {
    /// An empty table that takes about so many bytes at most.
    pub(super) fn new(counts: Counts, bytes_max: usize) -> Table {
        Table {
            index: Index::new(),
            records: Vec::new(),
            len: 0,
            arena: Arena::new(counts == Counts::Arms),
            counts,
            bytes_max,
            forgotten: 0,
            left_out: 0,
        }
    }

    /// How many states are known.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// What the user should know about the bound, which is that many MiB.
    pub(super) fn remarks(&self, mib: u64) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.forgotten > 0 {
            remarks.push(format!(
                "the table was full (memory={mib} MiB): {} states were forgotten, {} are known",
                self.forgotten, self.len
            ));
        }
        if self.left_out > 0 {
            remarks.push(format!(
                "some states have more than {ARMS_MAX} actions: {} values were not kept",
                self.left_out
            ));
        }
        remarks
    }

    /// Bytes in use.
    pub(super) fn bytes(&self) -> usize {
        self.index.bytes() + self.len * size_of::<Record>() + self.arena.bytes()
    }

    #[inline]
    fn record(&self, state: State) -> &Record {
        let number = state.0 as usize;
        &self.records[number >> CHUNK_BITS][number & (CHUNK - 1)]
    }

    #[inline]
    fn record_mut(&mut self, state: State) -> &mut Record {
        let number = state.0 as usize;
        &mut self.records[number >> CHUNK_BITS][number & (CHUNK - 1)]
    }

    /// A state, if it is known.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<State> {
        self.index
            .find(key, |number| self.record(State(number)).key == key)
            .map(State)
    }

    /// A state, known from now on; `None` if it is not and the table is full.
    #[inline]
    pub(super) fn insert(&mut self, key: u64) -> Option<State> {
        self.find(key).or_else(|| self.add(key))
    }

    fn add(&mut self, key: u64) -> Option<State> {
        if self.bytes() + size_of::<Record>() > self.bytes_max {
            self.forgotten += 1;
            return None;
        }
        if self.index.is_full() {
            let records = &self.records;
            let keys = (0..self.len).map(|n| records[n >> CHUNK_BITS][n & (CHUNK - 1)].key);
            self.index.rebuild(keys);
        }
        self.index.insert(key, self.len as u32);
        Some(self.append(Record {
            key,
            count: 0,
            more: NO_ARM,
            first: Arm::default(),
        }))
    }

    fn append(&mut self, record: Record) -> State {
        if self.len & (CHUNK - 1) == 0 {
            self.records.push(Vec::with_capacity(CHUNK));
        }
        self.records[self.len >> CHUNK_BITS].push(record);
        self.len += 1;
        State(self.len as u32 - 1)
    }

    /// What a state was inserted as.
    #[inline]
    pub(super) fn key(&self, state: State) -> u64 {
        self.record(state).key
    }

    /// Counts a visit of a state; returns how many there were.
    #[inline]
    pub(super) fn visit(&mut self, state: State) -> u32 {
        let record = self.record_mut(state);
        record.count = record.count.saturating_add(1);
        record.count
    }

    /// How often a state was visited.
    #[inline]
    pub(super) fn visits(&self, state: State) -> u32 {
        self.record(state).count
    }

    /// How many arms a state has.
    #[inline]
    pub(super) fn arms_len(&self, state: State) -> usize {
        match self.record(state).more {
            NO_ARM => 0,
            ONE_ARM => 1,
            block => 1 + self.arena.len(block),
        }
    }

    /// The arms of a state, in the table's order: the first, if there is one, and the others.
    #[inline(always)]
    pub(super) fn slices(&self, state: State) -> (&[Arm], &[Arm]) {
        let record = self.record(state);
        let first = std::slice::from_ref(&record.first);
        match record.more {
            NO_ARM => (&[], &[]),
            ONE_ARM => (first, &[]),
            block => (first, self.arena.arms(block)),
        }
    }

    /// The same, one by one.
    #[inline]
    pub(super) fn arms(&self, state: State) -> impl Iterator<Item = Arm> + '_ {
        let (first, others) = self.slices(state);
        first.iter().chain(others).copied()
    }

    /// The best arm of a state.
    #[inline]
    pub(super) fn best(&self, state: State) -> Option<Arm> {
        let record = self.record(state);
        (record.more != NO_ARM).then_some(record.first)
    }

    /// What an action is worth, if that is known.
    #[inline]
    pub(super) fn value(&self, state: State, tag: u32) -> Option<f32> {
        let (first, others) = self.slices(state);
        let is = |arm: &&Arm| arm.tag == tag;
        let found = first.iter().find(is).or_else(|| others.iter().find(is));
        found.map(|arm| arm.value)
    }

    /// Sets what an action is worth, and moves it to its place. An action beyond the last that a
    /// state can have is not stored.
    #[inline]
    pub(super) fn set(&mut self, state: State, tag: u32, value: f32) {
        if let Some(arm) = self.put(state, tag, value) {
            self.sort_in(state, arm);
        }
    }

    /// Changes what an action is worth, and moves it to its place. The same as to [`set`](Self::set)
    /// it, but its arm is looked up once.
    #[inline]
    pub(super) fn change(
        &mut self,
        state: State,
        tag: u32,
        initial: f32,
        value: impl FnOnce(f32) -> f32,
    ) {
        let number = state.0 as usize;
        let record = &mut self.records[number >> CHUNK_BITS][number & (CHUNK - 1)];
        let first = record.first.tag == tag;
        if record.more == NO_ARM {
            let value = value(initial);
            record.more = ONE_ARM;
            record.first = Arm { tag, value };
            return;
        }
        if first && record.more == ONE_ARM {
            record.first.value = value(record.first.value);
            return;
        }
        if record.more == ONE_ARM || self.counts == Counts::Arms {
            let old = self.value(state, tag).unwrap_or(initial);
            return self.set(state, tag, value(old));
        }
        let others = self.arena.arms_mut(record.more);
        let mut at = match others.iter().position(|arm| arm.tag == tag) {
            _ if first => {
                let value = value(record.first.value);
                if value >= others[0].value {
                    record.first.value = value;
                    return;
                }
                record.first = others[0];
                others[0] = Arm { tag, value };
                0
            }
            Some(at) => {
                others[at].value = value(others[at].value);
                if others[at].value > record.first.value {
                    others[..=at].rotate_right(1);
                    std::mem::swap(&mut record.first, &mut others[0]);
                    return;
                }
                at
            }
            None => return self.set(state, tag, value(initial)),
        };
        let arm = others[at];
        while at > 0 && others[at - 1].value < arm.value {
            others[at] = others[at - 1];
            at -= 1;
        }
        while at + 1 < others.len() && arm.value < others[at + 1].value {
            others[at] = others[at + 1];
            at += 1;
        }
        others[at] = arm;
    }

    /// Sets what an action is worth; new ones come last.
    pub(super) fn set_in_place(&mut self, state: State, tag: u32, value: f32) {
        self.put(state, tag, value);
    }

    /// Counts that an action was taken; returns how often it was. Unknown actions get a value.
    pub(super) fn take(&mut self, state: State, tag: u32, initial: f32) -> u32 {
        let known = self.arms(state).position(|arm| arm.tag == tag);
        let Some(arm) = known.or_else(|| self.put(state, tag, initial)) else {
            return 1;
        };
        let block = self.record(state).more;
        let count = match arm {
            0 => &mut self.record_mut(state).count,
            _ => self.arena.count(block, arm - 1),
        };
        *count = count.saturating_add(1);
        *count
    }

    /// Sets the value of an arm; returns its position.
    #[inline]
    fn put(&mut self, state: State, tag: u32, value: f32) -> Option<usize> {
        let arm = Arm { tag, value };
        let record = self.record_mut(state);
        if record.more == NO_ARM {
            record.more = ONE_ARM;
            record.first = arm;
            return Some(0);
        }
        if record.first.tag == tag {
            record.first.value = value;
            return Some(0);
        }
        if record.more == ONE_ARM {
            let block = self.arena.add(arm);
            self.record_mut(state).more = block;
            return Some(1);
        }
        let block = record.more;
        let arms = self.arena.arms_mut(block);
        if let Some(position) = arms.iter().position(|arm| arm.tag == tag) {
            arms[position].value = value;
            return Some(position + 1);
        }
        let len = arms.len();
        if len == ARMS_MAX {
            self.left_out += 1;
            return None;
        }
        let block = self.arena.push(block, arm);
        self.record_mut(state).more = block;
        Some(len + 1)
    }

    /// Moves an arm to where its value belongs.
    #[inline]
    fn sort_in(&mut self, state: State, mut arm: usize) {
        let len = self.arms_len(state);
        while arm > 0 && self.at(state, arm - 1).value < self.at(state, arm).value {
            self.swap(state, arm - 1);
            arm -= 1;
        }
        while arm + 1 < len && self.at(state, arm).value < self.at(state, arm + 1).value {
            self.swap(state, arm);
            arm += 1;
        }
    }

    #[inline]
    fn at(&self, state: State, arm: usize) -> Arm {
        let record = self.record(state);
        match arm {
            0 => record.first,
            _ => self.arena.arms(record.more)[arm - 1],
        }
    }

    /// Swaps an arm with the next.
    #[inline]
    fn swap(&mut self, state: State, arm: usize) {
        let counted = self.counts == Counts::Arms;
        let number = state.0 as usize;
        let record = &mut self.records[number >> CHUNK_BITS][number & (CHUNK - 1)];
        let block = record.more;
        if arm > 0 {
            self.arena.arms_mut(block).swap(arm - 1, arm);
            if counted {
                let count = *self.arena.count(block, arm);
                let count = std::mem::replace(self.arena.count(block, arm - 1), count);
                *self.arena.count(block, arm) = count;
            }
        } else {
            std::mem::swap(&mut record.first, &mut self.arena.arms_mut(block)[0]);
            if counted {
                std::mem::swap(&mut record.count, self.arena.count(block, 0));
            }
        }
    }

    /// How often an arm was taken (0 where that is not counted).
    fn taken(&self, state: State, arm: usize) -> u32 {
        let record = self.record(state);
        match (self.counts, arm) {
            (Counts::States, _) => 0,
            (Counts::Arms, 0) => record.count,
            (Counts::Arms, _) => self.arena.count_of(record.more, arm - 1),
        }
    }

    /// Forgets states if so many new ones might not find room. Returns whether it did; known
    /// [`State`]s are void then.
    pub(super) fn make_room(&mut self, states: usize) -> bool {
        // A record, its slots and some arms, or what a state took so far; and growth of the index.
        let each = (self.bytes() / self.len.max(1)).clamp(40, 1000);
        let bytes = self.bytes() + states * each + self.index.bytes() / 2;
        let tight = bytes > self.bytes_max && self.len > 0;
        if tight {
            self.forget_half();
        }
        tight
    }

    #[cold]
    fn forget_half(&mut self) {
        const STEPS: usize = 256;
        let step = |count: u32| (count as usize).min(STEPS - 1);
        let mut histogram = [0; STEPS];
        (0..self.len as u32).for_each(|n| histogram[step(self.record(State(n)).count)] += 1);
        // All below the threshold go, and so many of those at it.
        let mut going = self.len.div_ceil(2);
        let mut threshold = 0;
        while histogram[threshold] < going {
            going -= histogram[threshold];
            threshold += 1;
        }
        let old = std::mem::replace(self, Table::new(self.counts, self.bytes_max));
        for n in 0..old.len as u32 {
            let record = *old.record(State(n));
            let step = step(record.count);
            if step < threshold {
                continue;
            }
            if step == threshold && going > 0 {
                going -= 1;
                continue;
            }
            let more = match record.more {
                NO_ARM | ONE_ARM => record.more,
                block => self.arena.adopt(&old.arena, block),
            };
            self.append(Record { more, ..record });
        }
        self.forgotten = old.forgotten + (old.len - self.len) as u64;
        self.left_out = old.left_out;
        let records = &self.records;
        let keys = (0..self.len).map(|n| records[n >> CHUNK_BITS][n & (CHUNK - 1)].key);
        self.index.rebuild(keys);
    }

    /// Forgets everything, as if nothing had been learnt.
    pub(super) fn clear(&mut self) {
        *self = Table {
            forgotten: self.forgotten,
            left_out: self.left_out,
            ..Table::new(self.counts, self.bytes_max)
        };
    }
}

#[cfg(test)]
#[path = "table_tests.rs"]
mod tests;
