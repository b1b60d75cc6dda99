//! A task in one allocation: its future, the cell its result goes to, and its waker.
//!
//! 1. A [`Body`] is the one way to the future. It is neither cloned nor sent to another thread, and
//!    drops the future when it is dropped: however long join handles and wakers keep the allocation,
//!    and on whatever thread, by then it holds no future any more.
//! 2. What a body has [`Lent`] is that way for as long as it lasts, and there is one at a time. A body that
//!    is dropped meanwhile leaves everything where it is, for good.
//! 3. The waker is the task itself only where the cell may go to other threads, as wakers do.
//!
//! Does not: know what becomes of a result, or what a wake-up does.

mod body;

pub(crate) use body::{Body, Lent};

use body::Free;
use std::any::Any;
use std::cell::{Cell, UnsafeCell};
use std::marker::PhantomData;
use std::mem::{self, ManuallyDrop};
use std::ops::Deref;
use std::pin::Pin;
use std::ptr;
use std::sync::Arc;
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Waker, ready};

/// Where a future's end is told. Told when the future is dropped already.
pub(crate) trait Ending<T> {
    /// It is ready.
    fn ended(&self, output: T);

    /// It was dropped before its end.
    fn cancelled(&self);

    /// Its poll panicked. Returns whether anybody can still learn of it.
    fn panicked(&self, payload: Box<dyn Any + Send>) -> bool;

    /// Whether the future is dropped while a panic of its poll unwinds. If not, that is done after it.
    fn drops_in_unwinding(&self) -> bool {
        true
    }
}

/// What wakes the task.
pub(crate) trait WakeTask {
    /// Wakes the task.
    fn wake_task(&self);

    /// There is one more waker of the task, or one less.
    #[inline]
    fn wakers_changed(&self, more: bool) {
        let _ = more;
    }
}

/// `repr(C)`, for its head is looked for at the beginning.
#[repr(C)]
struct Task<F, E, W> {
    head: Head<E>,
    waker: W,
    /// Present until the end.
    future: UnsafeCell<Option<F>>,
}

/// What of a task is reached without knowing its kind of future. `repr(C)`, for the mark that it is lent is
/// looked for at the beginning without knowing its kind of ending either.
#[repr(C)]
struct Head<E> {
    /// Touched on the body's thread only.
    lent: Cell<bool>,
    ending: E,
}

/// Where the waker of a task comes from.
trait WakerOf<C> {
    /// The waker, not counted. It must not outlive the task, whose address in its `Arc` is `task`.
    fn waker(&self, task: *const C) -> ManuallyDrop<Waker>;
}

/// The task is its own waker.
struct Itself;

/// The waker is a thing apart.
struct Apart(Waker);

impl<F, E: WakeTask> WakerOf<Task<F, E, Itself>> for Itself {
    #[inline(always)]
    fn waker(&self, task: *const Task<F, E, Itself>) -> ManuallyDrop<Waker> {
        // SAFETY: the functions treat the pointer as one `Arc`, as the contract of wakers wants.
        // They may be called on any thread by invariant 3.
        ManuallyDrop::new(unsafe { Waker::from_raw(raw_waker::<F, E>(task.cast())) })
    }
}

#[inline(always)]
fn raw_waker<F, E: WakeTask>(task: *const ()) -> RawWaker {
    let vtable = &const {
        RawWakerVTable::new(
            clone::<F, E>,
            wake::<F, E>,
            wake_by_ref::<F, E>,
            forget::<F, E>,
        )
    };
    RawWaker::new(task, vtable)
}

impl<C> WakerOf<C> for Apart {
    #[inline(always)]
    fn waker(&self, _: *const C) -> ManuallyDrop<Waker> {
        // SAFETY: a copy that is never dropped, while the original lives.
        ManuallyDrop::new(unsafe { ptr::read(&raw const self.0) })
    }
}

unsafe fn clone<F, E: WakeTask>(task: *const ()) -> RawWaker {
    // SAFETY: `task` came from an `Arc`, which lives while its waker is cloned.
    unsafe { Arc::increment_strong_count(task.cast::<Task<F, E, Itself>>()) };
    // SAFETY: as in `wake_by_ref`.
    unsafe { &(*task.cast::<Task<F, E, Itself>>()).head.ending }.wakers_changed(true);
    raw_waker::<F, E>(task)
}

unsafe fn wake<F, E: WakeTask>(task: *const ()) {
    // SAFETY: this waker owned one count, which ends here.
    let task = unsafe { Arc::from_raw(task.cast::<Task<F, E, Itself>>()) };
    task.head.ending.wakers_changed(false);
    task.head.ending.wake_task();
}

unsafe fn wake_by_ref<F, E: WakeTask>(task: *const ()) {
    // SAFETY: the waker lives, and with it the task. Only its `ending` is touched, which may be
    // from any thread by invariant 3.
    unsafe { &(*task.cast::<Task<F, E, Itself>>()).head.ending }.wake_task();
}

unsafe fn forget<F, E: WakeTask>(task: *const ()) {
    // SAFETY: this waker owned one count, which ends here.
    let task = unsafe { Arc::from_raw(task.cast::<Task<F, E, Itself>>()) };
    task.head.ending.wakers_changed(false);
}

/// A task whose kind of future is forgotten.
trait Runs {
    /// Polls, and is not lent any more. `task` is this task's address in its `Arc`.
    ///
    /// # Safety
    /// Called by what the body lent, or by the body while that is nothing, and not in the middle of
    /// another call.
    unsafe fn poll(&self, task: *const ()) -> Poll<()>;

    /// Drops the future, unless it was.
    ///
    /// # Safety
    /// As with [`poll`](Self::poll).
    unsafe fn drop_future(&self);

    fn cancelled(&self);

    fn panicked(&self, payload: Box<dyn Any + Send>) -> bool;

    fn waker_data(&self, task: *const ()) -> *const ();
}

impl<F, E, W> Runs for Task<F, E, W>
where
    F: Future,
    E: Ending<F::Output>,
    W: WakerOf<Self>,
{
    unsafe fn poll(&self, task: *const ()) -> Poll<()> {
        let _free = Free(&self.head.lent);
        // SAFETY: nobody else comes here, so there is no other reference, and the future stays where
        // it is, in an `Arc`, until it is dropped in place.
        let future = unsafe { &mut *self.future.get() };
        let pinned = future.as_mut().expect("cct bug: poll after the end");
        // SAFETY: as said.
        let pinned = unsafe { Pin::new_unchecked(pinned) };
        let waker = self.waker.waker(task.cast());
        let unwinds = InUnwinding(self);
        let polled = pinned.poll(&mut Context::from_waker(&waker));
        mem::forget(unwinds);
        let output = ready!(polled);
        // SAFETY: as in `drop_future`, which takes what the reference above has had.
        unsafe { self.drop_future() };
        self.head.ending.ended(output);
        Poll::Ready(())
    }

    unsafe fn drop_future(&self) {
        // SAFETY: as in `poll`.
        unsafe { *self.future.get() = None };
    }

    fn cancelled(&self) {
        self.head.ending.cancelled();
    }

    fn panicked(&self, payload: Box<dyn Any + Send>) -> bool {
        self.head.ending.panicked(payload)
    }

    fn waker_data(&self, task: *const ()) -> *const () {
        self.waker.waker(task.cast()).data()
    }
}

/// Drops the future of a poll that panics, so that what it owns sees `std::thread::panicking`, as what lies on its stack
/// does.
struct InUnwinding<'a, F, E: Ending<F::Output>, W>(&'a Task<F, E, W>)
where
    F: Future;

impl<F: Future, E: Ending<F::Output>, W> Drop for InUnwinding<'_, F, E, W> {
    fn drop(&mut self) {
        if self.0.head.ending.drops_in_unwinding() {
            // SAFETY: the poll is over, and with it the reference that it has had; the loan ends after this.
            unsafe { *self.0.future.get() = None };
        }
    }
}

/// A task's ending, held besides its body; as an `Arc` gives it away and takes it back, so that who looks
/// at the ending need not look up where in the allocation that lies.
pub(crate) struct Share<E>(*const dyn Held, PhantomData<E>);

/// A task whose kind is forgotten, and which is dropped some time.
trait Held {}

impl<F, E, W> Held for Task<F, E, W> {}

// SAFETY: a share reaches nothing but the ending. Should it be the last to go it drops the ending, a
// waker and, by invariant 1, no future.
unsafe impl<E: Send + Sync> Send for Share<E> {}
// SAFETY: as said.
unsafe impl<E: Send + Sync> Sync for Share<E> {}

impl<E> Unpin for Share<E> {}

impl<E> Clone for Share<E> {
    fn clone(&self) -> Self {
        // SAFETY: it owns one count of what came from an `Arc`.
        unsafe { Arc::increment_strong_count(self.0) };
        Share(self.0, PhantomData)
    }
}

impl<E> Deref for Share<E> {
    type Target = E;

    #[inline(always)]
    fn deref(&self) -> &E {
        // SAFETY: it owns one count of a `Task<_, E, _>`, which begins with this, as `repr(C)` says.
        unsafe { &(*self.0.cast::<Head<E>>()).ending }
    }
}

impl<E> Drop for Share<E> {
    fn drop(&mut self) {
        // SAFETY: the count that it owns ends here.
        drop(unsafe { Arc::from_raw(self.0) });
    }
}

#[cfg(test)]
mod tests;
