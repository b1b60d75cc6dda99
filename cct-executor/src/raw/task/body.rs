//! What a task is owned by, and the loan of it for one poll; invariants 1 and 2 of the module above.

use super::{Apart, Ending, Head, Itself, Runs, Share, Task, WakeTask, WakerOf};
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::task::{Poll, Waker};

/// What a task is owned by. Two words, so that it travels in registers; as an `Arc` gives them away
/// and takes them back, so that a poll need not look up where in the allocation the task lies.
pub(crate) struct Body(*const dyn Runs);

/// The right to poll a task, once. The body stays where it is, which spares a poll two moves.
pub(crate) struct Lent(*const dyn Runs);

impl Body {
    /// A task that is its own waker, and its ending, which others may hold.
    pub(crate) fn new<F, E>(future: F, ending: E) -> (Body, Share<E>)
    where
        F: Future + 'static,
        E: Ending<F::Output> + WakeTask + Send + Sync + 'static,
    {
        Body::with(future, ending, Itself)
    }

    /// A task with a waker of its own, for endings that must stay on their thread.
    pub(crate) fn local<F, E>(future: F, ending: E, waker: Waker) -> (Body, Share<E>)
    where
        F: Future + 'static,
        E: Ending<F::Output> + 'static,
    {
        Body::with(future, ending, Apart(waker))
    }

    fn with<F, E, W>(future: F, ending: E, waker: W) -> (Body, Share<E>)
    where
        F: Future + 'static,
        E: Ending<F::Output> + 'static,
        W: WakerOf<Task<F, E, W>> + 'static,
    {
        let task = Arc::new(Task {
            head: Head {
                lent: Cell::new(false),
                ending,
            },
            waker,
            future: UnsafeCell::new(Some(future)),
        });
        let share = Share(Arc::into_raw(task.clone()), PhantomData);
        (Body(Arc::into_raw(task)), share)
    }

    #[inline(always)]
    fn task(&self) -> &dyn Runs {
        // SAFETY: the body owns one count.
        unsafe { &*self.0 }
    }

    #[inline(always)]
    fn mark(&self) -> &Cell<bool> {
        // SAFETY: the body owns one count, and stays on its thread.
        unsafe { mark(self.0) }
    }

    /// The right to poll; none while somebody has it.
    #[inline(always)]
    pub(crate) fn lend(&self) -> Option<Lent> {
        let free = !self.mark().replace(true);
        free.then_some(Lent(self.0))
    }

    /// Whether somebody has the right to poll.
    pub(crate) fn is_lent(&self) -> bool {
        self.mark().get()
    }

    /// Drops the future instead of polling it, and tells the ending.
    pub(crate) fn cancel(&mut self) {
        self.lend().expect(LENT).cancel();
    }

    /// Drops the future, whose poll panicked, and tells the ending. Returns whether anybody can
    /// still learn of the panic.
    pub(crate) fn panicked(&mut self, payload: Box<dyn Any + Send>) -> bool {
        let lent = self.lend().expect(LENT);
        // SAFETY: as in `Lent::poll`.
        unsafe { lent.task().drop_future() };
        lent.task().panicked(payload)
    }

    /// Data pointer of the waker that it polls with; only to be compared.
    pub(crate) fn waker_data(&self) -> *const () {
        self.task().waker_data(self.0.cast())
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        if self.is_lent() {
            return; // invariant 2
        }
        // SAFETY: the count that the body owns ends here, also if dropping the future panics.
        let _task = unsafe { Arc::from_raw(self.0) };
        // SAFETY: there is nothing lent. This upholds invariant 1.
        unsafe { self.task().drop_future() };
    }
}

const LENT: &str = "cct bug: the body of a task is lent";

impl Lent {
    #[inline(always)]
    fn task(&self) -> &dyn Runs {
        // SAFETY: the body owns one count, and does not give it up before this is dropped.
        unsafe { &*self.0 }
    }

    /// Polls. When it is done it has dropped the future and told the ending.
    #[inline(always)]
    pub(crate) fn poll(self) -> Poll<()> {
        let lent = ManuallyDrop::new(self); // the poll itself ends the loan, with less to do
        // SAFETY: this is what was lent, by invariant 2 the only one.
        unsafe { lent.task().poll(lent.0.cast()) }
    }

    /// Drops the future instead of polling it, and tells the ending.
    pub(crate) fn cancel(self) {
        // SAFETY: as in `poll`.
        unsafe { self.task().drop_future() };
        self.task().cancelled();
    }
}

impl Drop for Lent {
    fn drop(&mut self) {
        // SAFETY: as in `task`; like the body it stays on its thread.
        drop(Free(unsafe { mark(self.0) }));
    }
}

/// Ends a loan when it is dropped.
pub(super) struct Free<'a>(pub(super) &'a Cell<bool>);

impl Drop for Free<'_> {
    #[inline(always)]
    fn drop(&mut self) {
        self.0.set(false);
    }
}

/// Whether a task is lent.
///
/// # Safety
/// The task lives as long as the answer is used, on the thread of its body.
#[inline(always)]
unsafe fn mark<'a>(task: *const dyn Runs) -> &'a Cell<bool> {
    // SAFETY: each `Task` begins with it, as `repr(C)` says.
    unsafe { &*task.cast::<Cell<bool>>() }
}
