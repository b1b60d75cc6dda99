//! Workers: pooled stacks on which the step loop runs and on which polls can be suspended.
//!
//! 1. `RUNNING` points to where the worker whose stack this thread executes on keeps its yielder,
//!    and is null on the thread's own stack.
//! 2. A guest, for which a worker waits, freezes otherwise, as `GUEST` says: its stack is its own.
//! 3. A worker is dropped only when it has returned or is idle at the top of its stack; the
//!    engine's teardown sees to it.
//!
//! Does not: know tasks, decide anything.

use super::room;
#[cfg(windows)]
use corosensei::stack::StackTebFields;
use corosensei::stack::{DefaultStack, StackPointer};
use corosensei::{Coroutine, CoroutineResult, Yielder};
use std::cell::{Cell, RefCell};
use std::io;
use std::mem::ManuallyDrop;
use std::ptr;
use std::rc::Rc;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// What a worker is told when its stack goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resume {
    /// Run the step loop, beginning with this action.
    Run(u32),
    /// Go on with the poll that was suspended.
    Continue,
    /// Return, so that the stack can be freed.
    Quit,
}

/// Why a worker's stack stopped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Suspend {
    /// The step loop returned; the stack is empty and can serve again.
    Idle,
    /// A poll is suspended in the middle; the stack stays as it is.
    Frozen,
}

type Yields = Yielder<Resume, Suspend>;

/// Stacks whose threads have ended, for threads to come: where each iteration has a thread of its own,
/// asking the system for stacks anew would take longer than most iterations.
static SPARE: Mutex<Vec<DefaultStack>> = Mutex::new(Vec::new());

/// So many are kept at most.
const SPARE_MAX: usize = 256;

fn spare() -> MutexGuard<'static, Vec<DefaultStack>> {
    SPARE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Null until the worker's stack executes for the first time.
type Seat = Cell<*const Yields>;

thread_local! {
    static RUNNING: Cell<*const Seat> = const { Cell::new(ptr::null()) };
    static GUEST: RefCell<Option<Rc<dyn Freeze>>> = const { RefCell::new(None) };
}

/// A stack that begins somewhat below its top.
///
/// Stacks are whole pages, so the first frames of all of them would lie at the same places in their
/// pages, for which a processor's innermost cache has room a dozen times. Beginning at different
/// places, the frames of many suspended polls fit side by side.
struct Staggered {
    stack: DefaultStack,
    below: usize,
}

impl Staggered {
    /// The stack of the worker with this number.
    fn new(number: u32) -> io::Result<Staggered> {
        const PAGE: usize = 4096;
        /// Odd multiples of a cache line reach all places before they repeat. Those in half a page
        /// will do, and most frames then still lie in one page.
        const STRIDE: usize = 13 * 64;
        let bytes = room::bytes() + PAGE;
        let mut spare = spare();
        let spare = std::iter::from_fn(|| spare.pop()).find(|stack| length(stack) >= bytes);
        Ok(Staggered {
            stack: spare.map_or_else(|| DefaultStack::new(bytes), Ok)?,
            below: number as usize * STRIDE % (PAGE / 2),
        })
    }
}

fn length(stack: &impl corosensei::stack::Stack) -> usize {
    stack.base().get() - stack.limit().get()
}

// SAFETY: `stack` is as the trait asks; the part of it from `below` its base on is too, as `below` is
// a multiple of every alignment a base needs, and less than the page that `new` added.
unsafe impl corosensei::stack::Stack for Staggered {
    fn base(&self) -> StackPointer {
        let base = self.stack.base().get() - self.below;
        StackPointer::new(base).unwrap_or_else(|| self.stack.base())
    }

    fn limit(&self) -> StackPointer {
        self.stack.limit()
    }

    #[cfg(windows)]
    fn teb_fields(&self) -> StackTebFields {
        self.stack.teb_fields()
    }

    #[cfg(windows)]
    fn update_teb_fields(&mut self, stack_limit: usize, guaranteed_stack_bytes: usize) {
        self.stack
            .update_teb_fields(stack_limit, guaranteed_stack_bytes);
    }
}

/// A stack with a coroutine on it. In one cache line, as with many of them it has left the near
/// caches when its turn comes.
#[repr(align(64))]
pub(crate) struct Worker {
    /// Taken when the worker is dropped.
    coroutine: ManuallyDrop<Coroutine<Resume, Suspend, (), Staggered>>,
    yielder: Seat,
    /// How much room there was to be when it was made.
    bytes: usize,
}

impl Worker {
    /// A worker that calls `body` with the first action of each stretch of the step loop. `number`
    /// tells it from the thread's other workers.
    ///
    /// # Errors
    /// When the operating system has no memory for another stack.
    pub(crate) fn new(number: u32, body: fn(u32)) -> io::Result<Worker> {
        let bytes = room::bytes();
        let stack = Staggered::new(number)?;
        let coroutine = Coroutine::with_stack(stack, move |yields: &Yields, first: Resume| {
            // SAFETY: by invariant 1, and this stack executes.
            unsafe { (*RUNNING.get()).set(yields) };
            let mut next = first;
            while let Resume::Run(action) = next {
                body(action);
                next = yields.suspend(Suspend::Idle);
            }
        });
        Ok(Worker {
            coroutine: ManuallyDrop::new(coroutine),
            yielder: Cell::new(ptr::null()),
            bytes,
        })
    }

    /// Whether its stack has as much room as a new one's would.
    #[inline]
    pub(crate) fn has_room(&self) -> bool {
        self.bytes >= room::bytes()
    }

    /// Switches to the worker's stack until it is idle or frozen.
    #[inline(always)]
    pub(crate) fn resume(&mut self, how: Resume) -> Suspend {
        RUNNING.set(&raw const self.yielder);
        let result = self.coroutine.resume(how);
        RUNNING.set(ptr::null());
        match result {
            CoroutineResult::Yield(suspend) => suspend,
            CoroutineResult::Return(()) => Suspend::Idle,
        }
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // An idle worker returns; there is nothing on its stack to unwind.
        if self.coroutine.started() && !self.coroutine.done() {
            self.resume(Resume::Quit);
        }
        // SAFETY: taken once, here, and not used any more.
        let coroutine = unsafe { ManuallyDrop::take(&mut self.coroutine) };
        // One that never started has nothing on its stack either, but does not part with it.
        if coroutine.done() {
            let mut spare = spare();
            if spare.len() < SPARE_MAX {
                spare.push(coroutine.into_stack().stack);
            }
        }
    }
}

/// Whether this code runs on a worker's stack.
#[inline]
pub(crate) fn on_worker() -> bool {
    !RUNNING.get().is_null() || on_guest()
}

/// Whether this code runs on a thread's own stack, and a worker of another's waits for it.
#[cold]
pub(crate) fn on_guest() -> bool {
    // At the thread's end it may be gone.
    GUEST
        .try_with(|guest| guest.borrow().is_some())
        .unwrap_or(false)
}

/// What freezes a stack that is no worker's.
pub(super) trait Freeze {
    /// Returns when the stack is to go on.
    fn freeze(&self);
}

/// What a thread executes on.
pub(super) struct Stack {
    worker: *const Seat,
    guest: Option<Rc<dyn Freeze>>,
}

impl Stack {
    /// The thread's own, as if it were a worker's.
    pub(super) fn of_guest(freeze: Rc<dyn Freeze>) -> Stack {
        Stack {
            worker: ptr::null(),
            guest: Some(freeze),
        }
    }

    /// Has the thread on this one, and returns the one that it was on.
    pub(super) fn exchange(self) -> Stack {
        Stack {
            worker: RUNNING.replace(self.worker),
            guest: GUEST.replace(self.guest),
        }
    }
}

#[cold]
fn freeze_as_guest() {
    let freeze = GUEST.with_borrow(Clone::clone);
    let Some(freeze) = freeze else {
        panic!("cct bug: a poll is suspended outside a worker")
    };
    freeze.freeze();
}

/// Freezes the running worker's stack until it is resumed.
///
/// # Panics
/// When not [`on_worker`].
#[inline(always)]
pub(crate) fn freeze() {
    let seat = RUNNING.get();
    if seat.is_null() {
        return freeze_as_guest();
    }
    // SAFETY: by invariant 1 this leads to the yielder of the coroutine that executes now; the
    // coroutine's closure holds the reference for as long as its stack exists.
    let how = unsafe { (*(*seat).get()).suspend(Suspend::Frozen) };
    debug_assert_eq!(how, Resume::Continue);
}

/// Where on its stack a suspended poll stands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stand {
    frames: *const u8,
    /// The base of the stack, where a change of stacks notes the way back.
    base: *const Yields,
    worker: *const Seat,
}

impl Stand {
    /// Nowhere: there is nothing to fetch.
    pub(crate) const NOWHERE: Stand = Stand {
        frames: ptr::null(),
        base: ptr::null(),
        worker: ptr::null(),
    };

    /// Of the poll that runs.
    #[inline(always)]
    pub(crate) fn here() -> Stand {
        let here = 0_u8;
        let worker = RUNNING.get();
        if worker.is_null() {
            return Stand::NOWHERE;
        }
        Stand {
            frames: &raw const here,
            // SAFETY: by invariant 1.
            base: unsafe { (*worker).get() },
            worker,
        }
    }

    /// Fetches what going on with the poll needs first into the near caches: all at once, where
    /// else each frame would be waited for when the one before it returns.
    #[inline(always)]
    pub(crate) fn prefetch(self) {
        /// The engine's innermost frames and those of the operation.
        const FRAMES_BYTES: usize = 5 * LINE;
        const LINE: usize = 64;
        for at in (0..FRAMES_BYTES).step_by(LINE) {
            prefetch(self.frames.wrapping_add(at));
        }
        prefetch(self.base.cast());
        prefetch(self.worker.cast());
    }
}

/// Fetches what is at this address into the near caches, where the processor can be asked to.
#[inline(always)]
fn prefetch(at: *const u8) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: changes nothing that the program can see, whatever the address.
    unsafe {
        use std::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
        _mm_prefetch::<_MM_HINT_T0>(at.cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = at;
}
