//! Polls that would block their thread: on a lock of the standard library, or of another crate.
//!
//! A poll may be suspended while it holds such a lock. Whoever wants the lock then would block the only
//! thread, and the holder would never go on. So a poll that is about to block is suspended as well, until
//! the word of memory that it waits for changes: the task waits, as its thread would in a runtime with
//! more of them.
//!
//! 1. A word that another thread will change is waited for in the ordinary way, which takes no decision
//!    and leaves no trace. Whose it is shows by waiting: until every other thread that runs a world has
//!    made a step or come to its end, as a lock of a static is not held for longer; and not at all where
//!    it has shown before.
//! 2. At granularity `await` nothing is suspended in the middle, and a thread that blocks, blocks.
//! 3. While the world closes, a poll that waits goes on once its word has changed. One whose word does
//!    not change when all others are over is left where it is, with all it owns: it cannot be unwound
//!    through a lock.
//!
//! Does not: know which task holds a lock; handle waits with a time limit, nor parked threads, on which
//! the channels of `std` are built: they ask which thread they are on, and all tasks are on one.

use super::core::{Core, NONE, state};
use super::decide::Next;
use super::world::{Phase, WORLD, World};
use crate::raw::shared::Home;
use crate::raw::stack;
use crate::words::{Access, ActionKey, Granularity, Op, OpKind, StepEvent};
use cct_interpose::{Blocking, Word};
use std::panic::Location;
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::time::Duration;

/// How long other threads have at least to change a word. They hold locks that a scenario takes too for
/// far less.
const WAIT: Duration = Duration::from_millis(10);
/// How long they have at most, in one go.
const WAIT_MAX: Duration = Duration::from_secs(1);
/// How long they have before a deadlock is called one...
const LAST_WAIT: Duration = Duration::from_millis(100);
/// ...and how often words are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(2);
/// What the word has in which `std` parks a thread.
const PARKED: u32 = u32::MAX;

type Site = Location<'static>;

/// Places of operations after which tasks have waited for words of their own world. Which they are
/// decides nothing but how long it takes to find out. Not behind a lock, which might block.
static OWN: [AtomicPtr<Site>; 64] = [const { AtomicPtr::new(ptr::null_mut()) }; 64];

fn is_own(site: &'static Site) -> bool {
    let known = OWN.iter().map(|known| known.load(Ordering::Relaxed));
    known
        .take_while(|known| !known.is_null())
        .any(|known| ptr::eq(known, site))
}

fn remember_own(site: &'static Site) {
    let site = ptr::from_ref(site).cast_mut();
    let mut places = OWN.iter();
    let _ = places.find(|place| {
        let order = Ordering::Relaxed;
        let put = place.compare_exchange(ptr::null_mut(), site, order, order);
        put.is_ok() || put == Err(site)
    });
}

/// What the thread of a world does in the place of blocking.
pub(crate) const BLOCKING: Blocking = Blocking {
    wait: |word| WORLD.with(|world| world.wait_for(word)),
    wake: |word, most| WORLD.with(|world| world.wake_waiting(word, most)),
};

/// A task that waits for a word.
struct Waiting {
    key: u32,
    word: Word,
}

/// Who waits for words of memory.
#[derive(Default)]
pub(crate) struct Waits {
    waiting: Vec<Waiting>,
}

impl Waits {
    pub(crate) fn reset(&mut self) {
        self.waiting.clear();
    }

    fn forget(&mut self, key: u32) {
        self.waiting.retain(|waiting| waiting.key != key);
    }
}

/// Whether a thread parks there: `std` in a word of its own, others in a thread-local.
fn is_of_thread(word: Word) -> bool {
    word.expected() == PARKED || word.is_thread_local()
}

/// Blocks the thread until another one changes the word. Returns whether one may have; if not, none
/// will.
///
/// Who waits is woken in turn, so whoever misses its turn for as long as all others make steps waits for
/// nobody else. The time grows until all of them had a chance to.
fn changed_by_others(word: Word) -> bool {
    let home = Home::here().expect("cct bug: a world without home");
    home.note_blocked(word.address());
    let mut wait = WAIT;
    let changed = loop {
        let others = home.others();
        if word.block_for(wait) {
            break true;
        }
        if wait >= WAIT_MAX || !others.iter().any(|other| other.may_hold(word.address())) {
            break false;
        }
        wait *= 2;
    };
    home.note_blocked(0);
    changed
}

impl Core {
    /// Enables the tasks whose words have changed by themselves. Returns whether there were any.
    fn notice_changes(&mut self) -> bool {
        let before = self.waits.waiting.len();
        while let Some(at) = (self.waits.waiting.iter()).position(|w| w.word.has_changed()) {
            let Waiting { key, .. } = self.waits.waiting.remove(at);
            self.insert(key);
        }
        self.waits.waiting.len() < before
    }

    /// Nothing is enabled. Other threads may have changed words in the meantime; if nothing else can
    /// happen, they are given time to. Returns whether they have.
    pub(crate) fn words_have_changed(&mut self, at_last: bool) -> bool {
        if self.waits.waiting.is_empty() {
            return false;
        }
        let mut left = if at_last { LAST_WAIT } else { Duration::ZERO };
        while !self.notice_changes() {
            if left.is_zero() {
                return false;
            }
            left = left.saturating_sub(LOOK);
            self.waits.waiting[0].word.block_for(LOOK);
        }
        true
    }
}

impl World {
    /// In the place of blocking the thread. Returns whether it was seen to.
    fn wait_for(&self, word: Word) -> bool {
        let key = self.running.get().key;
        let suspends = self.granularity.get() != Granularity::Await
            && key != NONE
            && stack::on_worker()
            && !std::thread::panicking()
            && !is_of_thread(word);
        // Finding out whose word it is takes locks as well.
        let asks = Home::here().is_none_or(Home::is_blocked);
        if !suspends || asks || !self.is_free() {
            return false;
        }
        match self.phase.get() {
            Phase::Idle => return false,
            Phase::Closing => {
                self.wait_while_closing(key, word);
                return true;
            }
            Phase::Running => {}
        }
        let site = self.with(|core, _| core.actions[key as usize].op.site);
        // What is static is shared with other worlds.
        let known = is_own(site) && !word.is_static();
        if known || !changed_by_others(word) {
            remember_own(site);
            self.suspend_until_changed(key, word);
        }
        true
    }

    fn suspend_until_changed(&self, key: u32, word: Word) {
        self.with(|core, decider| {
            core.sweep();
            let op = Op {
                kind: OpKind::Block,
                access: Access::Read,
                resource: 0,
                site: core.actions[key as usize].op.site,
            };
            if core.announce(key, op) & state::GROUPED != 0 {
                core.take_group_turn(key);
            }
            core.waits.waiting.push(Waiting { key, word });
            if core.interests.readiness {
                decider.observe(&StepEvent::Blocked(ActionKey(key)));
            }
            if let Some(recorder) = &mut core.recorder {
                recorder.thread_blocked.insert(key);
            }
        });
        match self.decide(NONE) {
            Next::Run(next) if next == key => self.with(|core, _| core.runs_on(key)),
            next => {
                let next = if let Next::Run(next) = next {
                    next
                } else {
                    NONE
                };
                if !self.stand_aside(key, next) {
                    return self.wait_while_closing(key, word);
                }
            }
        }
        self.with(|core, _| {
            core.waits.forget(key);
            if let Some(recorder) = &mut core.recorder {
                recorder.thread_blocked.remove(&key);
            }
        });
    }

    /// Leaves this stack until the task is picked. Returns whether it was: the world may have closed.
    fn stand_aside(&self, key: u32, next: u32) -> bool {
        self.with(|core, _| {
            core.sweep();
            core.suspend(key, self.worker.get());
            // Its poll goes on as far as wake-ups are concerned: they ask for another one.
            core.action(key).state |= state::RUNNING;
        });
        let saved = self.running.get();
        self.next_key.set(next);
        stack::freeze();
        self.running.set(saved);
        if self.phase.get() == Phase::Closing {
            return false;
        }
        self.with(|core, decider| core.resumed(key, decider));
        true
    }

    /// Leaves the stack to others that are to come to their end, as often as it takes.
    fn wait_while_closing(&self, key: u32, word: Word) {
        self.with(|core, _| core.waits.forget(key));
        while !word.has_changed() {
            self.stand_aside(key, NONE);
        }
    }

    /// So many of those who wait for the word are to go on. Returns how many do.
    fn wake_waiting(&self, word: Word, most: u32) -> u32 {
        if !self.is_live() || !self.is_free() {
            return 0;
        }
        self.with(|core, decider| {
            let mut woken = 0;
            while woken < most {
                let same = |w: &Waiting| w.word.address() == word.address();
                let Some(at) = core.waits.waiting.iter().position(same) else {
                    break;
                };
                let Waiting { key, .. } = core.waits.waiting.remove(at);
                core.insert(key);
                if core.interests.readiness {
                    decider.observe(&StepEvent::Enabled(ActionKey(key)));
                }
                woken += 1;
            }
            woken
        })
    }
}
