//! Polls that would block their thread: on a lock of the standard library, or of another crate.
//!
//! A poll may be suspended while it holds such a lock. Whoever wants the lock then would block the only
//! thread, and the holder would never go on. So a poll that is about to block is suspended as well, until
//! the word of memory that it waits for changes: the task waits, as its thread would in a runtime with
//! more of them.
//!
//! 1. A word that another thread will change is waited for in the ordinary way, which takes no decision
//!    and leaves no trace (`outsiders.rs`).
//! 2. At granularity `await` nothing is suspended in the middle, and a thread that blocks, blocks; but closures of blocking
//!    tasks, which have threads of their own elsewhere, and while there are such, who may wait for one of them.
//! 3. While the world closes, a poll that waits goes on once its word has changed. One whose word does
//!    not change when all others are over is left where it is, with all it owns: it cannot be unwound
//!    through a lock. Only code around which there is a world (`lone.rs`) goes on waiting, by blocking.
//! 4. Who is parked goes on whenever anyone on this thread is unparked: all
//!    tasks are on one thread, and whoever parks has to reckon with that.
//!
//! Where a poll cannot be suspended and a time limit ends the wait, the clock moves by that. A poll that
//! unwinds from a panic cannot be: should it wait for one that is suspended, the panic is the failure.
//!
//! Does not: know which task holds a lock; suspend where a crate parks threads in thread-locals of its
//! own, as `parking_lot` does when it has spun in vain: the same thread must not wait there twice (copies of
//! it that `cargo cct` makes park on the stack).

use super::core::{Core, NONE, state};
use super::decide::Next;
use super::decider::Decider;
use super::helpers;
use super::outsiders::WAIT;
use super::panics;
use super::spans;
use super::waker::Waiter;
use super::world::{Phase, WORLD, World};
use crate::raw::shared::Home;
use crate::raw::stack;
use crate::words::explanation::ThreadWait;
use crate::words::{Access, ActionKey, Granularity, Op, OpKind, StepEvent};
use cct_interpose::{Waited, Word};
use std::panic::Location;
use std::sync::Arc;
use std::task::{Wake, Waker};
use std::time::Duration;

/// One of the waits that have no limit: seldom, so that its thread is seen to do nothing.
const HOUR: Duration = Duration::from_secs(3600);

/// How long other threads have before a deadlock is called one...
const LAST_WAIT: Duration = Duration::from_secs(1);
/// ...where one like it has been called one...
const LAST_WAIT_AGAIN: Duration = Duration::from_millis(100);
/// ...and how often words are looked at meanwhile.
const LOOK: Duration = Duration::from_millis(2);

/// So many words are remembered: a look at all of them takes no time.
const OWN_MAX: usize = 64;

/// A task that waits for a word, or only for the end of a time.
struct Waiting {
    key: u32,
    word: Option<Word>,
}

impl Waiting {
    fn is_for(&self, word: Word) -> bool {
        (self.word).is_some_and(|own| own.address() == word.address())
    }

    fn has_changed(&self) -> bool {
        self.word.is_some_and(Word::has_changed)
    }
}

/// Wakes a task that waits, when its time is over.
struct Expiry {
    serial: u64,
    key: u32,
}

impl Wake for Expiry {
    fn wake(self: Arc<Self>) {
        WORLD.with(|world| {
            if world.is_live() && world.serial.get() == self.serial {
                world.with(|core, decider| core.end_wait(self.key, decider));
            }
        });
    }
}

/// Who waits for words of memory, or sleeps.
#[derive(Default)]
pub(crate) struct Waits {
    waiting: Vec<Waiting>,
    /// Addresses of words that nobody outside of this world was seen to change.
    own: Vec<usize>,
}

impl Waits {
    pub(crate) fn reset(&mut self) {
        self.waiting.clear();
        self.own.clear();
    }

    /// Whether a task has waited for this word before, and for nobody outside of this world.
    pub(super) fn is_own(&self, word: Word) -> bool {
        self.own.contains(&word.address())
    }

    pub(super) fn remember_own(&mut self, word: Word) {
        if self.own.len() == OWN_MAX {
            self.own.clear(); // they are found out again
        }
        self.own.push(word.address());
    }

    /// Returns whether the task was waiting.
    fn forget(&mut self, key: u32) -> bool {
        let before = self.waiting.len();
        self.waiting.retain(|waiting| waiting.key != key);
        self.waiting.len() < before
    }
}

impl Core {
    /// Enables the tasks whose words have changed by themselves. Returns whether there were any.
    pub(super) fn notice_changes(&mut self, decider: &mut dyn Decider) -> bool {
        let before = self.waits.waiting.len();
        while let Some(at) = self.waits.waiting.iter().position(Waiting::has_changed) {
            self.end_wait(self.waits.waiting[at].key, decider);
        }
        self.waits.waiting.len() < before
    }

    /// How long other threads have before this run ends in a deadlock.
    fn last_wait(&self, decider: &dyn Decider) -> Duration {
        match self.follows_failure(decider) {
            true => LAST_WAIT_AGAIN,
            false => LAST_WAIT,
        }
    }

    /// Whether this run is tried, or told of, because one like it has failed.
    pub(super) fn follows_failure(&self, decider: &dyn Decider) -> bool {
        self.recorder.is_some() || decider.follows_failure()
    }

    /// Nothing is enabled. Other threads may have changed words in the meantime; if nothing else can
    /// happen, they are given time to. Returns whether they have.
    pub(crate) fn words_have_changed(&mut self, at_last: bool, decider: &mut dyn Decider) -> bool {
        if self.waits.waiting.is_empty() {
            return false;
        }
        let mut left = match at_last {
            true => self.last_wait(decider),
            false => Duration::ZERO,
        };
        while !self.notice_changes(decider) {
            let Some(word) = self.waits.waiting.iter().find_map(|waiting| waiting.word) else {
                return false;
            };
            let home = Home::here().filter(|_| self.open.is_some());
            // What other threads have asked for or woken comes first: they may be waiting for that.
            if home.is_some_and(|home| home.has_mail() || home.has_jobs()) {
                return false;
            }
            // So does the machine, which is looked at elsewhere, and words with it.
            if home.is_some() && self.machine.is_awaited() {
                return false;
            }
            if self.helpers.may_act() {
                self.helpers.look();
            } else if left.is_zero() {
                return false;
            }
            left = left.saturating_sub(LOOK);
            let block = || {
                if word.is_parker() {
                    helpers::nap(LOOK); // nobody is woken by it
                } else {
                    word.block_for(LOOK);
                }
            };
            match home {
                Some(home) => home.aside(block),
                None => block(),
            }
        }
        true
    }

    /// Whether anyone is parked on the world's own thread. Closures that may block have others.
    pub(super) fn is_thread_parked(&self) -> bool {
        let mut parked =
            (self.waits.waiting.iter()).filter(|it| it.word.is_some_and(Word::is_parker));
        parked.any(|it| {
            let subject = self.actions[it.key as usize].subject;
            !self.tasks[subject as usize].blocking
        })
    }

    /// Enables those who are parked, if anyone was unparked. Returns whether anyone is parked still.
    pub(super) fn see_to_parked(&mut self, decider: &mut dyn Decider) -> bool {
        let is_parker = |waiting: &Waiting| waiting.word.is_some_and(Word::is_parker);
        while let Some(parked) = self.waits.waiting.iter().find(|&w| is_parker(w)) {
            if !parked.has_changed() {
                return true;
            }
            self.end_wait(parked.key, decider);
        }
        false
    }

    /// The running task is about to wait as a thread does, somewhere after its last operation, the place
    /// of which stands for this one.
    pub(super) fn announce_thread_wait(
        &mut self,
        key: u32,
        kind: OpKind,
    ) -> &'static Location<'static> {
        self.sweep();
        let site = self.actions[key as usize].op.site;
        let op = Op {
            kind,
            access: Access::Read,
            resource: 0,
            site,
        };
        if self.announce(key, op) & state::GROUPED != 0 {
            self.take_group_turn(key);
        }
        site
    }

    /// Whether any poll is suspended in its middle.
    fn suspends_any(&self) -> bool {
        let mut actions = self.actions.iter();
        actions.any(|action| action.state & state::FROZEN != 0)
    }

    /// A task need not wait any more.
    fn end_wait(&mut self, key: u32, decider: &mut dyn Decider) {
        if !self.waits.forget(key) {
            return;
        }
        self.insert(key);
        if self.interests.readiness {
            decider.observe(&StepEvent::Enabled(ActionKey(key)));
        }
    }
}

impl World {
    /// In the place of blocking the thread until the word changes, or for so long.
    pub(super) fn wait_for(&self, word: Word, limit: Option<Duration>) -> Waited {
        let key = self.running.get().key;
        // Finding out whose word it is takes locks as well.
        let asks = Home::here().is_none_or(Home::is_blocked);
        if key == NONE || asks || !self.is_free() || self.phase.get() == Phase::Idle {
            return Waited::No;
        }
        // Whoever rests may be who is waited for.
        Home::here().inspect(|home| home.end_turn());
        if !self.may_stand_aside() || word.is_thread_local() {
            return match limit {
                None if self.waits_for_suspended(key, word) => panics::stop_unwinding(),
                None => Waited::No,
                Some(_) if word.block_for(WAIT) => Waited::Changed,
                Some(limit) => {
                    self.let_time_pass(limit);
                    Waited::TimedOut
                }
            };
        }
        if self.phase.get() == Phase::Closing {
            return self.wait_while_closing(key, Some(word), limit);
        }
        if self.is_changed_from_outside(key, word, limit) {
            return Waited::Changed;
        }
        self.suspend_until(key, Some(word), limit)
    }

    /// In the place of a thread that sleeps. Returns whether it need not.
    pub(super) fn sleep_for(&self, time: Duration) -> bool {
        let key = self.running.get().key;
        if key == NONE || !self.is_free() || self.phase.get() == Phase::Idle {
            return false;
        }
        if self.phase.get() == Phase::Running && !time.is_zero() {
            if self.with(|core, _| core.sleeps_in_frozen_time(key, time)) {
                return true;
            }
            let suspends = self.suspends_polls() || self.with(|core, _| core.task(key).blocking);
            if suspends && self.may_leave_stack() {
                let time = self.with(|core, _| core.sleeps_for(key, time));
                self.suspend_until(key, None, Some(time));
            } else {
                self.let_time_pass(time);
            }
        }
        true
    }

    /// Whether the running poll can be suspended here, where it waits for others.
    pub(super) fn may_stand_aside(&self) -> bool {
        let key = self.running.key.get();
        let by_closures = || self.with(|core, _| core.task(key).blocking || core.suspends_any());
        (self.suspends_polls() || by_closures()) && self.may_leave_stack()
    }

    /// Whether polls are suspended in the middle.
    fn suspends_polls(&self) -> bool {
        self.granularity.get() != Granularity::Await
    }

    fn may_leave_stack(&self) -> bool {
        stack::on_worker() && !std::thread::panicking()
    }

    /// Whether a poll that unwinds waits for a lock that a suspended one holds, as nobody else changes the
    /// word.
    fn waits_for_suspended(&self, key: u32, word: Word) -> bool {
        let unwinds = std::thread::panicking() && self.phase.get() == Phase::Running;
        let is_lock = !word.is_parker() && !word.is_thread_local();
        unwinds
            && is_lock
            && self.with(|core, _| core.suspends_any())
            && !self.is_changed_from_outside(key, word, None)
            && !word.block_for(self.with(|core, decider| core.last_wait(decider)))
    }

    /// Nobody can do anything on this thread for so long.
    fn let_time_pass(&self, time: Duration) {
        if self.phase.get() == Phase::Running {
            self.move_clock(self.running.get().key, time);
            self.with(|core, _| core.looks.waited(time));
        }
    }

    fn suspend_until(&self, key: u32, word: Option<Word>, limit: Option<Duration>) -> Waited {
        let serial = self.serial.get();
        let stack = self.stack();
        let expiry = limit.map(|_| Waiter::of(Waker::from(Arc::new(Expiry { serial, key }))));
        let timer = self.with(|core, decider| {
            let site = core.announce_thread_wait(key, OpKind::Block);
            core.waits.waiting.push(Waiting { key, word });
            if let Some(parker) = word.filter(|word| word.is_parker()) {
                parker.leave();
                core.alert();
            }
            if core.interests.readiness {
                decider.observe(&StepEvent::Blocked(ActionKey(key)));
            }
            if let Some(recorder) = &mut core.recorder {
                let how = match word {
                    None => ThreadWait::Sleep,
                    Some(word) if word.is_parker() => ThreadWait::Park,
                    Some(_) => ThreadWait::Lock,
                };
                recorder.thread_waits.insert(key, (how, stack));
            }
            if core.clock_stands_for(key) {
                core.stands(key, limit?, expiry?);
                return None;
            }
            let timer = core.add_timer(core.deadline_after(key, limit?), key, site)?;
            core.poll_timer(timer, |_| expiry);
            Some(timer)
        });
        if !self.let_others_run(key) {
            return self.wait_while_closing(key, word, limit);
        }
        let mut stood = false;
        let (in_time, waiter) = self.with(|core, _| {
            core.waits.forget(key);
            if let Some(recorder) = &mut core.recorder {
                recorder.waited_as_thread(key, None);
            }
            if let Some((over, waiter)) = core.stands_no_more(key) {
                stood = true;
                return (!over, waiter);
            }
            let Some(timer) = timer else {
                return (limit.is_none(), None);
            };
            let in_time = !core.poll_timer(timer, |_| None).0;
            (in_time, core.drop_timer(timer))
        });
        drop(waiter);
        let in_time = in_time || word.is_some_and(Word::has_changed);
        if let (false, false, Some(limit)) = (in_time, stood, limit) {
            self.with(|core, _| core.looks.waited(limit));
        }
        if in_time {
            if let Some(parker) = word.filter(|word| word.is_parker()) {
                parker.unpark();
            }
            Waited::Changed
        } else {
            Waited::TimedOut
        }
    }

    /// The task waits in the middle of its poll, or is enabled: decides who runs. Returns whether it is
    /// this task again, at last: the world may have closed.
    pub(super) fn let_others_run(&self, key: u32) -> bool {
        match self.decide(NONE) {
            Next::Run(next) if next == key => {
                self.with(|core, _| core.runs_on(key));
                true
            }
            Next::Run(next) => self.stand_aside(key, next),
            _ => self.stand_aside(key, NONE),
        }
    }

    /// Leaves this stack until the task is picked. Returns whether it was: the world may have closed.
    pub(super) fn stand_aside(&self, key: u32, next: u32) -> bool {
        self.with(|core, _| {
            core.sweep();
            core.suspend(key, self.worker.get());
            // Its poll goes on as far as wake-ups are concerned: they ask for another one.
            core.action(key).state |= state::RUNNING;
        });
        let saved = self.running.get();
        self.next_key.set(next);
        if self.recording.get() || spans::may_be() {
            self.freeze_watched(key);
        } else {
            stack::freeze();
        }
        self.running.set(saved);
        if self.phase.get() == Phase::Closing {
            return false;
        }
        self.with(|core, decider| core.resumed(key, decider));
        true
    }

    /// Leaves the stack to others that are to come to their end, as often as it takes. Time is over for
    /// all.
    fn wait_while_closing(&self, key: u32, word: Option<Word>, limit: Option<Duration>) -> Waited {
        self.with(|core, _| core.waits.forget(key));
        let Some(word) = word.filter(|_| limit.is_none()) else {
            return Waited::TimedOut;
        };
        if word.is_parker() {
            word.leave();
        }
        while !word.has_changed() {
            // Code around which there is a world is on the thread's own stack, which cannot be left: it blocks. Whom it
            // waits for may be at the door.
            if self.is_alone_around(key) {
                let block = || {
                    word.block_for(HOUR);
                };
                match Home::here() {
                    Some(home) => home.aside(block),
                    None => block(),
                }
            } else {
                self.stand_aside(key, NONE);
            }
        }
        Waited::Changed
    }

    /// Whether the task is the code around which there is this world, and no poll of others is suspended.
    pub(super) fn is_alone_around(&self, key: u32) -> bool {
        let others = |core: &mut Core| {
            let mut keys = 0..core.suspended.len() as u32;
            keys.any(|other| other != key && core.worker_of(other) != NONE)
        };
        self.is_code_around(key) && !self.with(|core, _| others(core))
    }

    /// So many of those who wait for the word are to go on. Returns how many do.
    pub(super) fn wake_waiting(&self, word: Word, most: u32) -> u32 {
        if !self.is_live() || !self.is_free() {
            return 0;
        }
        self.with(|core, decider| {
            let mut woken = 0;
            while woken < most {
                let Some(waiting) = core.waits.waiting.iter().find(|w| w.is_for(word)) else {
                    break;
                };
                core.end_wait(waiting.key, decider);
                woken += 1;
            }
            if woken < most && core.open.is_some() {
                core.helpers.are_asked();
            }
            woken
        })
    }
}
