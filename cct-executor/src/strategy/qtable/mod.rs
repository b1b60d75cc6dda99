//! What a learner knows: for each state the actions it took there, what each is worth, and how often.
//!
//! Owns the memory and its bound, not the rule by which values change.
//!
//! 1. One look-up per decision finds all arms of a state; a state is known once it was inserted,
//!    and an arm once it has a value. Whatever is not known has the learner's initial value.
//! 2. Arms come in the order in which they became known, so that a position, once known, spares the
//!    update another search.
//! 3. A single arm is part of the state's record, as most states have no other. All in, memory is
//!    at most 32 bytes per arm when states have one arm, and less when they have more.
//! 4. The bound is kept by forgetting the least visited half of the states, among equals the oldest.
//!    This depends on nothing but what was inserted.
//!
//! Read next: [`walk`] for how a decision is taken, [`numbers`] for how actions are known to a table,
//! [`policy`] for softmax and greedy choice, [`saved`] for the bytes of a table.

mod arena;
pub(super) mod exp;
mod few;
mod index;
mod many;
pub(super) mod marks;
#[cfg(test)]
pub(super) mod maze;
pub(super) mod numbers;
mod path;
pub(super) mod policy;
pub(super) mod saved;
pub(super) mod settings;
pub(super) mod walk;

pub(super) use arena::Arm;
use arena::{ARMS_MAX, Arena};
use index::{Index, Vacant};

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

/// `Record::block` of a state without arms, and of one with a single arm.
const NO_ARM: u32 = u32::MAX;
const ONE_ARM: u32 = 0;

#[derive(Clone, Copy, Debug)]
struct Record {
    key: u64,
    /// Visits of the state, or how often an action was taken in it: the sum over its arms.
    count: u32,
    /// The block with the arms, if there are two or more.
    block: u32,
    /// The only arm; or, in its tag, how many there are in the block.
    first: Arm,
}

/// The table.
#[derive(Clone, Debug)]
pub(super) struct Table {
    index: Index,
    records: Vec<Record>,
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
            arena: Arena::new(counts == Counts::Arms),
            counts,
            bytes_max,
            forgotten: 0,
            left_out: 0,
        }
    }

    /// How many states are known.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// What the user should know about the bound, which is that many MiB.
    pub(super) fn remarks(&self, mib: u64) -> Vec<String> {
        let mut remarks = Vec::new();
        if self.forgotten > 0 {
            remarks.push(format!(
                "the table was full (memory={mib} MiB): {} states were forgotten, {} are known",
                self.forgotten,
                self.len()
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
        self.index.bytes() + self.len() * size_of::<Record>() + self.arena.bytes()
    }

    #[inline]
    fn record(&self, state: State) -> &Record {
        &self.records[state.0 as usize]
    }

    #[inline]
    fn record_mut(&mut self, state: State) -> &mut Record {
        &mut self.records[state.0 as usize]
    }

    /// A state, if it is known.
    #[inline]
    pub(super) fn find(&self, key: u64) -> Option<State> {
        self.search(key).ok()
    }

    #[inline]
    fn search(&self, key: u64) -> Result<State, Vacant> {
        let found = self
            .index
            .search(key, |number| self.record(State(number)).key == key);
        found.map(State)
    }

    /// A state, known from now on; `None` if it is not and the table is full.
    #[inline]
    pub(super) fn insert(&mut self, key: u64) -> Option<State> {
        self.search(key)
            .map_or_else(|vacant| self.add(key, vacant), Some)
    }

    /// Counts a visit of a state, which is known from now on if there is room.
    #[inline]
    pub(super) fn reach(&mut self, key: u64) -> Option<State> {
        let state = self.insert(key)?;
        self.visit(state);
        Some(state)
    }

    fn add(&mut self, key: u64, vacant: Vacant) -> Option<State> {
        if self.bytes() + size_of::<Record>() > self.bytes_max {
            self.forgotten += 1;
            return None;
        }
        if self.index.is_full() {
            self.index
                .rebuild(self.records.iter().map(|record| record.key));
            self.index.insert(key, self.len() as u32);
        } else {
            self.index.fill(vacant, self.len() as u32);
        }
        Some(self.append(Record {
            key,
            count: 0,
            block: NO_ARM,
            first: Arm::default(),
        }))
    }

    fn append(&mut self, record: Record) -> State {
        self.records.push(record);
        State(self.len() as u32 - 1)
    }

    /// Counts a visit of a state; returns how many there were.
    #[inline]
    pub(super) fn visit(&mut self, state: State) -> u32 {
        let record = self.record_mut(state);
        record.count = record.count.saturating_add(1);
        record.count
    }

    /// How often a state was visited.
    #[inline(always)]
    pub(super) fn visits(&self, state: State) -> u32 {
        self.record(state).count
    }

    /// How many arms a state has.
    #[inline]
    pub(super) fn arms_len(&self, state: State) -> usize {
        let record = self.record(state);
        match record.block {
            NO_ARM => 0,
            ONE_ARM => 1,
            _ => record.first.tag as usize,
        }
    }

    /// The arms of a state, in the order in which they became known.
    #[inline(always)]
    pub(super) fn arms(&self, state: State) -> &[Arm] {
        let record = self.record(state);
        match record.block {
            NO_ARM => &[],
            ONE_ARM => std::slice::from_ref(&record.first),
            block => self.arena.arms(block, record.first.tag as usize),
        }
    }

    /// The arms of a state, to change their values.
    #[inline(always)]
    pub(super) fn arms_mut(&mut self, state: State) -> &mut [Arm] {
        let record = &mut self.records[state.0 as usize];
        match record.block {
            NO_ARM => &mut [],
            ONE_ARM => std::slice::from_mut(&mut record.first),
            block => self.arena.arms_mut(block, record.first.tag as usize),
        }
    }

    /// Which arm of a state an action is, if it is known.
    #[inline]
    pub(super) fn position(&self, state: State, tag: u32) -> Option<usize> {
        self.arms(state).iter().position(|arm| arm.tag == tag)
    }

    /// What an action is worth, if that is known.
    #[inline]
    pub(super) fn value(&self, state: State, tag: u32) -> Option<f32> {
        let mut arms = self.arms(state).iter();
        arms.find(|arm| arm.tag == tag).map(|arm| arm.value)
    }

    /// What an arm is worth.
    #[inline(always)]
    pub(super) fn value_mut(&mut self, state: State, arm: usize) -> &mut f32 {
        let record = &mut self.records[state.0 as usize];
        match record.block {
            NO_ARM | ONE_ARM => &mut record.first.value,
            block => &mut self.arena.arm_mut(block, arm).value,
        }
    }

    /// Sets what an action is worth. One beyond the last that a state can have is not stored.
    pub(super) fn set(&mut self, state: State, tag: u32, value: f32) {
        match self.position(state, tag) {
            Some(arm) => *self.value_mut(state, arm) = value,
            None => drop(self.add_arm(state, Arm { tag, value })),
        }
    }

    /// Counts that an arm was taken; returns how often it was.
    #[inline]
    pub(super) fn take(&mut self, state: State, arm: usize) -> u32 {
        let record = self.record_mut(state);
        record.count = record.count.saturating_add(1);
        if record.block == ONE_ARM {
            return record.count;
        }
        let block = record.block;
        let count = self.arena.count(block, arm);
        *count = count.saturating_add(1);
        *count
    }

    /// Adds the first arm of a state, if it has none. Returns whether it did.
    #[inline(always)]
    pub(super) fn add_first(&mut self, state: State, arm: impl FnOnce() -> Arm) -> bool {
        let record = self.record_mut(state);
        let fresh = record.block == NO_ARM;
        if fresh {
            (record.block, record.first) = (ONE_ARM, arm());
        }
        fresh
    }

    /// Adds an arm for an action that has none; returns its position, unless there are too many.
    pub(super) fn add_arm(&mut self, state: State, arm: Arm) -> Option<usize> {
        let record = *self.record(state);
        let (len, block) = match record.block {
            NO_ARM => return self.add_first(state, || arm).then_some(0),
            ONE_ARM => {
                let block = self.arena.add([record.first, arm]);
                if self.counts == Counts::Arms {
                    *self.arena.count(block, 0) = record.count;
                }
                (1, block)
            }
            block => {
                let len = record.first.tag as usize;
                if len == ARMS_MAX {
                    self.left_out += 1;
                    return None;
                }
                (len, self.arena.push(block, len, arm))
            }
        };
        let record = self.record_mut(state);
        record.block = block;
        record.first.tag = len as u32 + 1;
        Some(len)
    }

    /// How often an arm was taken (0 where that is not counted).
    fn taken(&self, state: State, arm: usize) -> u32 {
        let record = self.record(state);
        match (self.counts, record.block) {
            (Counts::States, _) => 0,
            (Counts::Arms, ONE_ARM) => record.count,
            (Counts::Arms, block) => self.arena.count_of(block, arm),
        }
    }

    /// Forgets states if so many new ones might not find room. Returns whether it did; known
    /// [`State`]s are void then.
    pub(super) fn make_room(&mut self, states: usize) -> bool {
        // A record, its slots and some arms, or what a state took so far; and growth of the index.
        let each = (self.bytes() / self.len().max(1)).clamp(40, 1000);
        let bytes = self.bytes() + states * each + self.index.bytes() / 2;
        let tight = bytes > self.bytes_max && self.len() > 0;
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
        (0..self.len() as u32).for_each(|n| histogram[step(self.record(State(n)).count)] += 1);
        // All below the threshold go, and so many of those at it.
        let mut going = self.len().div_ceil(2);
        let mut threshold = 0;
        while histogram[threshold] < going {
            going -= histogram[threshold];
            threshold += 1;
        }
        let old = std::mem::replace(self, Table::new(self.counts, self.bytes_max));
        for n in 0..old.len() as u32 {
            let record = *old.record(State(n));
            let step = step(record.count);
            if step < threshold {
                continue;
            }
            if step == threshold && going > 0 {
                going -= 1;
                continue;
            }
            let block = match record.block {
                NO_ARM | ONE_ARM => record.block,
                block => self
                    .arena
                    .adopt(&old.arena, block, record.first.tag as usize),
            };
            self.append(Record { block, ..record });
        }
        self.forgotten = old.forgotten + (old.len() - self.len()) as u64;
        self.left_out = old.left_out;
        self.index
            .rebuild(self.records.iter().map(|record| record.key));
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
