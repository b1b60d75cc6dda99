//! Polls that give way to other threads: loops around `std::thread::yield_now`, and locks of other crates,
//! which spin before they block.
//!
//! What they wait for is done by a task that is suspended in the middle of its poll, or not polled yet;
//! on the only thread it would never come. So giving way is a scheduling point.
//!
//! 1. The first times nothing happens but that other threads come on, that those which run worlds rest between two
//!    steps, as a lock of a static is not held for longer, and that those have time which the scenario has
//!    started. That takes no decision and leaves no trace.
//! 2. Who gives way after that is enabled all the time, as after a yield of tokio. Who goes on doing so
//!    in one poll spins: it is enabled again when nothing else is, and, before the clock moves, only if anything
//!    has happened since. It is as slow as a thread may be, but never in the way: `parking_lot` blocks
//!    the thread when it has given way seven times in vain, `crossbeam` and `std` park it.
//! 3. Where all that is left is to spin, it is a deadlock after a number of turns in which other threads
//!    have time.
//! 4. At granularity `await` nothing is suspended in the middle, and giving way is the system's.

use super::core::{Core, NONE};
use super::decider::Decider;
use super::helpers;
use super::world::{Phase, World};
use crate::raw::shared::Home;
use crate::words::explanation::ThreadWait;
use crate::words::{ActionKey, OpKind, StepEvent};
use std::time::Duration;

/// So often others elsewhere have time first, or once more where threads of the scenario's own may act...
const ELSEWHERE: u8 = 2;
/// ...and so often a poll gives way to others here before it is said to spin.
const AT_ONCE: u8 = 1;
/// So many turns they have when nothing else can happen...
const LAST_TURNS: u32 = 11;
/// ...or so many, in a run that is tried because one like it has failed...
const LAST_TURNS_AGAIN: u32 = 8;
/// ...the first after this time, each other after twice the time of the one before.
const LAST_WAIT: Duration = Duration::from_micros(500);

/// A task that spins.
struct Spinner {
    key: u32,
    /// How much had happened when it last gave way.
    seen: u64,
}

/// Who spins.
#[derive(Default)]
pub(crate) struct Spinners {
    /// Who has given way for longest comes first.
    waiting: Vec<Spinner>,
    /// Steps that were turns of spinners.
    turns: u64,
    /// The step in which a poll gave way to threads elsewhere, and how often it did.
    elsewhere: (u64, u8),
    /// How much had happened when the last turns began, and how many there were.
    last: (u64, u32),
}

impl Spinners {
    pub(crate) fn reset(&mut self) {
        self.waiting.clear();
        self.turns = 0;
        self.elsewhere = (0, 0);
        self.last = (0, 0);
    }

    /// What happens in the step `now` belongs to what the same poll did in the step `before`.
    pub(super) fn goes_on(&mut self, before: u64, now: u64) {
        if self.elsewhere.0 == before {
            self.elsewhere.0 = now;
        }
    }

    pub(super) fn forget(&mut self, key: u32) {
        self.waiting.retain(|spinner| spinner.key != key);
    }
}

impl Core {
    /// How many steps there were that were not turns of spinners.
    fn happened(&self) -> u64 {
        self.point.step.saturating_sub(self.spinners.turns)
    }

    /// Whether anything has happened since one that spins gave way.
    fn spinner_may_look(&self) -> bool {
        let happened = self.happened();
        let mut waiting = self.spinners.waiting.iter();
        waiting.any(|spinner| spinner.seen < happened)
    }

    /// Nothing else is enabled. Enables one that spins if anything has happened since it gave way, or,
    /// at last, although nothing has. Returns whether there was one.
    pub(super) fn spinner_goes_on(&mut self, at_last: bool, decider: &mut dyn Decider) -> bool {
        let happened = self.happened();
        let waiting = &self.spinners.waiting;
        let found = match waiting.iter().position(|spinner| spinner.seen < happened) {
            None if at_last && !waiting.is_empty() => {
                let turns = match self.follows_failure(decider) {
                    true => LAST_TURNS_AGAIN,
                    false => LAST_TURNS,
                };
                self.last_turn(happened, turns).then_some(0)
            }
            found => found,
        };
        let Some(at) = found else {
            return false;
        };
        let Spinner { key, .. } = self.spinners.waiting.remove(at);
        self.insert(key);
        if self.interests.readiness {
            decider.observe(&StepEvent::Enabled(ActionKey(key)));
        }
        true
    }

    /// Gives other threads time, so often. Returns whether a spinner may look once more.
    fn last_turn(&mut self, happened: u64, turns: u32) -> bool {
        let last = &mut self.spinners.last;
        if last.0 != happened {
            *last = (happened, 0);
        }
        if last.1 >= turns {
            return false;
        }
        helpers::nap(LAST_WAIT * (1 << last.1));
        last.1 += 1;
        true
    }

    /// If the running task is to give way to threads elsewhere only, how often it has done so in this step. Those that the
    /// scenario has started have had time then: ten times as much each time, as whoever asks may not do so often.
    fn gives_way_elsewhere(&mut self) -> Option<u8> {
        let step = self.point.step;
        let elsewhere = &mut self.spinners.elsewhere;
        if elsewhere.0 != step {
            *elsewhere = (step, 0);
        }
        let helpers = self.helpers.may_act();
        let most = ELSEWHERE + u8::from(helpers);
        let before = elsewhere.1;
        if before >= most {
            return None;
        }
        elsewhere.1 += 1;
        if helpers {
            self.helpers.have_time(10_u32.pow(before.into()));
        }
        Some(before)
    }

    /// The running task gives way; it spins, or not.
    fn gives_way_to_threads(&mut self, key: u32, spins: bool, decider: &mut dyn Decider) {
        self.announce_thread_wait(key, OpKind::Yield);
        self.point.yielded = true;
        if !spins {
            return self.insert(key);
        }
        self.spinners.turns += 1;
        let seen = self.happened();
        self.spinners.waiting.push(Spinner { key, seen });
        if self.interests.readiness {
            decider.observe(&StepEvent::Blocked(ActionKey(key)));
        }
        if let Some(recorder) = &mut self.recorder {
            recorder.thread_waits.insert(key, (ThreadWait::Spin, None));
        }
    }
}

impl World {
    /// In the place of letting other threads go first. Returns whether it was done; if not, the system is to do it.
    pub(super) fn give_way(&self) -> bool {
        let key = self.running.key.get();
        let here = key != NONE && self.is_free() && self.phase.get() != Phase::Idle;
        if !here || !self.may_stand_aside() {
            return false;
        }
        if self.phase.get() == Phase::Closing {
            self.with(|core, _| core.spinners.forget(key));
            let gives_way = !self.is_alone_around(key);
            if gives_way {
                self.stand_aside(key, NONE);
            }
            return gives_way;
        }
        let before = match self.with(|core, _| core.actions[key as usize].op.kind) {
            OpKind::Yield => self.running.gave_way.get(),
            _ => 0, // it has done something else since
        };
        if before == 0 {
            match self.with(|core, _| core.gives_way_elsewhere()) {
                // To have others rest takes longer than they hold a lock, most often.
                Some(0) => {
                    return self.with(|_, _| Home::here().is_none_or(|h| h.others().is_empty()));
                }
                Some(_) => {
                    self.let_others_rest();
                    return true;
                }
                None => {}
            }
        }
        self.comes_after_others(key, before >= AT_ONCE);
        self.running.gave_way.set(before.saturating_add(1));
        true
    }

    /// The running poll spins, without a call that says so: comes after all others, and after what is to come with time.
    /// Returns whether there was any; if not, it may be a loop that only looks like it. So may that of another that has
    /// stood back, which comes next if anything has happened since: it may hold the very lock.
    pub(super) fn stands_back(&self, key: u32) -> bool {
        let others = self.with(|core, _| {
            !core.enabled.is_empty()
                || core.alerted
                || core.next_deadline().is_some()
                || core.spinner_may_look()
        });
        if others {
            self.comes_after_others(key, true);
        }
        others
    }

    fn comes_after_others(&self, key: u32, spins: bool) {
        let stack = self.stack();
        self.with(|core, decider| core.gives_way_to_threads(key, spins, decider));
        self.let_others_run(key);
        self.with(|core, _| {
            core.spinners.forget(key);
            if let Some(recorder) = &mut core.recorder {
                recorder.waited_as_thread(key, stack);
            }
        });
    }
}
