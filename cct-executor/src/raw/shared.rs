//! Cells that belong to a thread while it runs a world.
//!
//! Shims must be `Send` and `Sync` as tokio's types are, yet inside a world one thread touches
//! them, millions of times. An uncontended mutex costs two locked instructions per use, more than
//! all the rest of a step. So a thread that runs a world holds *one* lock for all of it, its
//! [`Home`]; a [`Shared`] made inside the world remembers that home, and its use on the home's
//! thread is a comparison of two pointers. Any other thread has to take the home's lock first, and
//! so waits until the world is over, or [steps aside](Home::aside) for it; not as a task of a world that it may run
//! itself, but as the thread it is. A `Shared` made outside a world has a lock
//! of its own.
//!
//! 1. `ENTERED` names a home only while this very thread holds that home's lock.
//! 2. A value is reached only by the thread that holds its home's lock (or its own, without home),
//!    and only once at a time (`busy`).
//!
//! Does not: wake or abort anybody, know tasks but for the numbers that other threads leave or ask for.

use super::afar::Afar;
use super::door::Door;
use super::entangled::{Entangled, Notes};
use cct_interpose::Blocks;
use std::cell::{Cell, UnsafeCell};
use std::collections::BTreeSet;
use std::marker::PhantomData;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};

/// What a thread without a name is called that runs another world.
const RUNS_A_WORLD: &str = "cct-iteration";

/// A wake-up that came from a thread other than the home's.
pub(crate) struct ForeignWake {
    /// Of which world.
    pub(crate) serial: u64,
    /// The action.
    pub(crate) key: u32,
    /// The task is to be aborted, if this is still its number.
    pub(crate) aborts: Option<u64>,
    /// The name of the thread.
    pub(crate) thread: Option<String>,
}

/// The lock that a thread holds while it runs a world. Homes live for ever and are reused, so
/// there are as many as threads that ever ran a world at the same time.
pub(crate) struct Home {
    door: Door,
    /// Something was put in the inbox since it was last emptied.
    mail: AtomicBool,
    inbox: Mutex<Vec<ForeignWake>>,
    /// The numbers of the tasks that have ended, of the last world that was open to others, and that world's own.
    ended: Mutex<(u64, BTreeSet<u64>)>,
    /// Whether others may come in while the thread waits for what belongs to another home, and ask for things.
    pub(super) afar: Afar,
    /// What a watchdog is to know.
    notes: Notes,
    /// Counts the steps of the thread's worlds.
    heartbeat: Mutex<Arc<AtomicU64>>,
    /// Address of the word that the thread waits for, or 0.
    blocked_on: AtomicUsize,
    /// Whether the thread was given up, and is not waited for: it stands still, or is in a poll that does not return.
    lost: AtomicBool,
    /// Address of the scenario that the thread runs, or ran last...
    scenario: AtomicUsize,
    /// ...and how many worlds have begun here.
    worlds: AtomicU64,
    /// The number of the thread's own turn to have others rest, or 0...
    pub(super) turn: AtomicU64,
    /// ...and that of the turn for which it rests, or has rested last.
    pub(super) rests_for: AtomicU64,
}

thread_local! {
    static ENTERED: Cell<Option<&'static Home>> = const { Cell::new(None) };
    /// This thread was started to run iterations, and has its test's name.
    static EXPLORES: Cell<bool> = const { Cell::new(false) };
    /// Where this thread is at the moment without running a world there.
    static VISITED: Cell<Option<&'static Home>> = const { Cell::new(None) };
}

/// Homes that no thread uses at the moment.
static FREE: Mutex<Vec<&'static Home>> = Mutex::new(Vec::new());

/// Every home there is.
static ALL: Mutex<Vec<&'static Home>> = Mutex::new(Vec::new());

pub(super) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits for a lock of the engine's own, which no task of this thread's world holds: it is the thread that waits, and
/// no task.
fn lock_as_a_thread<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    #[cold]
    fn wait<'a, T>(mutex: &'a Mutex<T>, home: &'static Home) -> MutexGuard<'a, T> {
        home.end_turn();
        home.note_blocked(ptr::from_ref(mutex).addr());
        let guard = lock(mutex);
        home.go_on();
        guard
    }
    match (mutex.try_lock(), ENTERED.get()) {
        (Ok(guard), _) => guard,
        (Err(TryLockError::Poisoned(poisoned)), _) => poisoned.into_inner(),
        (Err(TryLockError::WouldBlock), Some(home)) => wait(mutex, home),
        (Err(TryLockError::WouldBlock), None) => lock(mutex),
    }
}

/// Another thread, as it was when it was looked at.
pub(crate) struct Other {
    home: &'static Home,
    /// How many worlds had begun there, and how many steps the last of them had made.
    stand: (u64, u64),
}

impl Other {
    /// Whether it may hold a lock that it held then: it has made no step since, nor come to the end
    /// of its world. One that waits for another word than this is not counted.
    pub(crate) fn may_hold(&self, word: usize) -> bool {
        let on = self.home.blocked_on.load(Ordering::Acquire);
        self.home.is_taken() && self.home.stand() == self.stand && (on == 0 || on == word)
    }

    /// Whether it may be in the middle of a step during this turn, and waits for nothing.
    pub(super) fn moves_in(&self, turn: u64) -> bool {
        let rests = self.home.rests_for.load(Ordering::SeqCst) == turn;
        self.home.is_taken() && !rests && !self.home.is_blocked()
    }

    /// Whether this is the same one, which has made no step since.
    pub(crate) fn is_still(&self, other: &Other) -> bool {
        ptr::eq(self.home, other.home) && self.stand == other.stand
    }
}

impl Home {
    /// One for a thread whose worlds count their steps here.
    pub(crate) fn obtain(heartbeat: Arc<AtomicU64>) -> &'static Home {
        let free = lock(&FREE).pop();
        let home = free.unwrap_or_else(|| {
            let home: &'static Home = Box::leak(Box::new(Home {
                door: Door::new(),
                mail: AtomicBool::new(false),
                inbox: Mutex::new(Vec::new()),
                ended: Mutex::default(),
                afar: Afar::new(),
                notes: Notes::default(),
                heartbeat: Mutex::default(),
                blocked_on: AtomicUsize::new(0),
                lost: AtomicBool::new(false),
                scenario: AtomicUsize::new(0),
                worlds: AtomicU64::new(0),
                turn: AtomicU64::new(0),
                rests_for: AtomicU64::new(0),
            }));
            lock(&ALL).push(home);
            home
        });
        *lock(&home.heartbeat) = heartbeat;
        home
    }

    /// One that no thread ever enters.
    pub(crate) fn nobodys() -> &'static Home {
        static NOBODYS: OnceLock<&'static Home> = OnceLock::new();
        NOBODYS.get_or_init(|| Home::obtain(Arc::default()))
    }

    pub(super) fn all() -> impl Iterator<Item = &'static Home> {
        lock(&ALL).clone().into_iter()
    }

    /// The other threads that run worlds at this moment, but for those that were given up.
    pub(crate) fn others(&'static self) -> Vec<Other> {
        let others = Home::all().filter(|home| !ptr::eq(*home, self));
        let others = others.filter(|home| home.is_taken() && !home.lost.load(Ordering::Relaxed));
        let others = others.map(|home| Other {
            home,
            stand: home.stand(),
        });
        others.collect()
    }

    /// Whether it runs the scenario that this one runs, too, and so has what that has captured.
    pub(crate) fn shares_scenario(&self, other: &Other) -> bool {
        let scenario = |home: &Home| home.scenario.load(Ordering::Relaxed);
        scenario(other.home) == scenario(self)
    }

    /// Notes that a world begins here, and which scenario it runs, by its address.
    pub(crate) fn note_scenario(&self, address: usize) {
        self.worlds.fetch_add(1, Ordering::Relaxed);
        self.lost.store(false, Ordering::Relaxed);
        self.notes.begin();
        self.scenario.store(address, Ordering::Relaxed);
    }

    /// Notes that nobody is to wait for this home's thread, until a world begins there again.
    pub(crate) fn note_lost(&self) {
        self.lost.store(true, Ordering::Relaxed);
    }

    /// Notes that this home's thread waits for the word at this address, or, with 0, for none.
    pub(crate) fn note_blocked(&self, on: usize) {
        self.blocked_on.store(on, Ordering::SeqCst);
    }

    /// Whether this home's thread waits for a word.
    pub(crate) fn is_blocked(&self) -> bool {
        self.blocked_on.load(Ordering::SeqCst) != 0
    }

    fn stand(&self) -> (u64, u64) {
        let steps = lock(&self.heartbeat).load(Ordering::Relaxed);
        (self.worlds.load(Ordering::Relaxed), steps)
    }

    fn is_taken(&self) -> bool {
        self.door.is_taken()
    }

    pub(crate) fn give_back(&'static self) {
        lock(&FREE).push(self);
    }

    /// Takes the lock for as long as the result lives.
    pub(crate) fn enter(&'static self) -> Entered {
        assert!(ENTERED.get().is_none(), "cct bug: a world inside a world");
        self.come_in();
        Entered {
            home: self,
            _thread: PhantomData,
        }
    }

    fn come_in(&'static self) {
        self.door.take();
        ENTERED.set(Some(self));
    }

    fn go_out(&'static self) {
        // Before others come in, so that invariant 1 holds throughout.
        ENTERED.set(None);
        self.door.leave();
    }

    /// Lets others in while `f` runs, which must reach nothing that belongs here.
    ///
    /// # Panics
    /// If this thread does not hold the lock.
    pub(crate) fn aside(&'static self, f: impl FnOnce()) {
        struct Back(&'static Home);
        impl Drop for Back {
            fn drop(&mut self) {
                self.0.come_in();
            }
        }
        assert!(self.is_here(), "cct bug: aside from another's home");
        self.go_out();
        let _back = Back(self);
        f();
    }

    /// Whether this thread holds this home's lock.
    #[inline]
    pub(crate) fn is_here(&'static self) -> bool {
        ENTERED.get().is_some_and(|home| std::ptr::eq(home, self))
    }

    /// The home of the world that this thread runs, if any.
    #[inline]
    pub(crate) fn here() -> Option<&'static Home> {
        ENTERED.get()
    }

    /// This thread holds the lock of this home from here on, or of none, and `home` that which the thread held.
    pub(super) fn exchange(home: &mut Option<&'static Home>) {
        *home = ENTERED.replace(*home);
    }

    /// Leaves a wake-up for the world to find, or an abort of the task with this number.
    pub(crate) fn post(&self, serial: u64, key: u32, aborts: Option<u64>) {
        #[expect(
            clippy::disallowed_methods,
            reason = "a name for the report, of what is a failure anyway"
        )]
        let thread = std::thread::current().name().map(str::to_owned);
        let thread = thread.filter(|_| !EXPLORES.get());
        let in_a_world = EXPLORES.get() || ENTERED.get().is_some();
        let thread = thread.or_else(|| in_a_world.then(|| RUNS_A_WORLD.to_owned()));
        lock(&self.inbox).push(ForeignWake {
            serial,
            key,
            aborts,
            thread,
        });
        self.mail.store(true, Ordering::Release);
    }

    /// Notes, for other threads, that a task of this world has ended.
    pub(crate) fn note_ended(&self, world: u64, number: u64) {
        let (of, numbers) = &mut *lock(&self.ended);
        if *of != world {
            numbers.clear();
        }
        *of = world;
        numbers.insert(number);
    }

    /// Whether a task of a world that is open to others has ended.
    pub(crate) fn has_ended(&self, world: u64, number: u64) -> bool {
        let (of, numbers) = &*lock(&self.ended);
        *of == world && numbers.contains(&number)
    }

    #[inline]
    pub(crate) fn has_mail(&self) -> bool {
        self.mail.load(Ordering::Acquire)
    }

    /// Whether there is a wake-up for this world; those for earlier ones may still come in.
    pub(crate) fn has_mail_for(&self, world: u64) -> bool {
        self.has_mail() && lock(&self.inbox).iter().any(|wake| wake.serial == world)
    }

    pub(crate) fn take_mail(&self) -> Vec<ForeignWake> {
        let mut inbox = lock(&self.inbox);
        self.mail.store(false, Ordering::Release);
        std::mem::take(&mut *inbox)
    }

    /// Whether some thread waits to use what belongs to the world that runs here.
    pub(crate) fn has_visitors(&self) -> bool {
        self.notes.has_visitors()
    }

    /// Says what this thread, which runs a world, blocks for.
    pub(crate) fn note_blocks(what: Blocks) {
        if let Some(home) = Home::here() {
            home.notes.blocks_for(what);
        }
    }

    /// What the thread's poll has to do with others.
    pub(crate) fn entangled(&self) -> Entangled {
        self.notes.now()
    }

    /// Says that the world of this number is open to others, or with 0 none.
    pub(crate) fn open_to_others(&self, world: u64) {
        self.afar.open(world);
    }

    /// Takes the lock from a thread that is not at home here. Others may come in at its own home meanwhile: two that
    /// wait for what is the other's would do so for ever.
    fn visit(&'static self) -> Visit {
        let own = ENTERED.get();
        if let Some(own) = own {
            // Whoever rests may be who is waited for.
            own.end_turn();
            own.go_out();
        }
        let before = VISITED.get();
        // Who looks at one cell while it is at another is there already.
        let already = before.is_some_and(|home| ptr::eq(home, self));
        if !already {
            self.notes.visitor_comes();
            self.door.take();
            VISITED.set(Some(self));
            self.notes.visitor_is_in();
        }
        Visit {
            home: (!already).then_some(self),
            before,
            own,
        }
    }
}

/// A thread holds the lock of a home that is not its own. Not `Send`, as a lock's guard is not.
struct Visit {
    /// Nothing where the thread was there before.
    home: Option<&'static Home>,
    before: Option<&'static Home>,
    own: Option<&'static Home>,
}

impl Drop for Visit {
    fn drop(&mut self) {
        if let Some(home) = self.home {
            VISITED.set(self.before);
            home.door.leave();
        }
        if let Some(own) = self.own {
            own.come_in();
            own.go_on();
        }
    }
}

/// Proof that this thread holds its home's lock. Not `Send`.
pub(crate) struct Entered {
    home: &'static Home,
    _thread: PhantomData<*const ()>,
}

impl Drop for Entered {
    fn drop(&mut self) {
        self.home.go_out();
    }
}

#[cfg(cct_atomics)]
thread_local! {
    /// How many cells this thread is at.
    static REACHED: Cell<u32> = const { Cell::new(0) };
}

/// From now on this thread runs iterations.
pub(crate) fn explores_here() {
    EXPLORES.set(true);
}

/// Whether this thread is at a cell, where it must not be preempted. Known only where it might be, for the rest of
/// the world tells of its own accord.
pub(crate) fn is_reaching() -> bool {
    #[cfg(cct_atomics)]
    let reaching = REACHED.get() > 0;
    #[cfg(not(cct_atomics))]
    let reaching = false;
    reaching
}

/// Runs what the shims do for themselves, which no program would do: atomic operations in there are no points, although
/// this may be compiled, and instrumented, with another crate. `f` must not pass points.
#[inline(always)]
pub(crate) fn unseen<R>(f: impl FnOnce() -> R) -> R {
    #[cfg(cct_atomics)]
    let _reaching = Reaching::begin();
    f()
}

#[cfg(cct_atomics)]
struct Reaching;

#[cfg(cct_atomics)]
impl Reaching {
    fn begin() -> Reaching {
        REACHED.set(REACHED.get() + 1);
        Reaching
    }
}

#[cfg(cct_atomics)]
impl Drop for Reaching {
    fn drop(&mut self) {
        REACHED.set(REACHED.get() - 1);
    }
}

/// What keeps others out of a cell that a thread has come to from outside its home.
enum Stay<'a> {
    Visit(#[expect(dead_code, reason = "ends when it is dropped")] Visit),
    OwnLock(#[expect(dead_code, reason = "ends when it is dropped")] MutexGuard<'a, ()>),
}

#[cold]
fn come_from_outside<'a>(home: Option<&'static Home>, own: &'a Mutex<()>) -> Stay<'a> {
    match home {
        Some(home) => Stay::Visit(home.visit()),
        None => Stay::OwnLock(lock_as_a_thread(own)),
    }
}

/// A cell with the interface of a mutex, free of locked instructions inside a world.
///
/// `Sync` whenever `T: Send`, as `std::sync::Mutex` is.
///
/// The closure given to [`with`](Self::with) must not reach the same cell again, must not call
/// wakers (take them out and wake afterwards), and must not be a scheduling point.
pub struct Shared<T> {
    home: Option<&'static Home>,
    own: Mutex<()>,
    busy: AtomicBool,
    value: UnsafeCell<T>,
}

// SAFETY: `with` gives `&mut T` to one thread at a time (invariant 2), as a mutex does.
unsafe impl<T: Send> Sync for Shared<T> {}

impl<T> Shared<T> {
    /// A cell of the world that this thread runs, or with a lock of its own where there is none.
    pub fn new(value: T) -> Self {
        let mut cell = Self::const_new(value);
        cell.home = ENTERED.get();
        cell
    }

    /// A cell with a lock of its own, for statics.
    pub const fn const_new(value: T) -> Self {
        Shared {
            home: None,
            own: Mutex::new(()),
            busy: AtomicBool::new(false),
            value: UnsafeCell::new(value),
        }
    }

    /// Runs `f` with exclusive access to the value.
    ///
    /// # Panics
    /// If `f` reaches this cell again.
    #[inline]
    pub fn with<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        // One call of `f` for both cases: it is compiled wherever a cell is used.
        let _stay = match self.home {
            Some(home) if home.is_here() => None,
            home => Some(come_from_outside(home, &self.own)),
        };
        self.exclusive(f)
    }

    /// The caller holds the home's lock, or the cell's own where it has no home.
    #[inline(always)]
    fn exclusive<R>(&self, f: impl FnOnce(&mut T) -> R) -> R {
        struct Reset<'a>(&'a AtomicBool);
        impl Drop for Reset<'_> {
            #[inline]
            fn drop(&mut self) {
                self.0.store(false, Ordering::Relaxed);
            }
        }
        #[cfg(cct_atomics)]
        let _reaching = Reaching::begin();
        // Plain loads and stores: the lock orders them between threads.
        assert!(
            !self.busy.load(Ordering::Relaxed),
            "cct bug: reentrant use of a shared cell"
        );
        self.busy.store(true, Ordering::Relaxed);
        let _reset = Reset(&self.busy);
        // SAFETY: the lock keeps every other thread out until it is released, and `busy` keeps
        // this thread from coming here again while the reference lives.
        f(unsafe { &mut *self.value.get() })
    }

    /// Exclusive access without any check, as the borrow proves it.
    pub fn get_mut(&mut self) -> &mut T {
        self.value.get_mut()
    }

    /// The value.
    pub fn into_inner(self) -> T {
        self.value.into_inner()
    }
}

impl<T: Default> Default for Shared<T> {
    fn default() -> Self {
        Shared::new(T::default())
    }
}

impl<T> std::fmt::Debug for Shared<T> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared").finish_non_exhaustive()
    }
}

#[cfg(test)]
#[path = "shared_tests.rs"]
mod tests;
