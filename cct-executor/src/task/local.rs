//! Task-local values.
//!
//! 1. A value's place belongs to the task, so a poll that is suspended inside a scope shows its
//!    value to no other task. What runs outside tasks shares the thread's places.
//! 2. A place is filled only while a scope is being polled (or dropped); then the value goes back
//!    into the scope's own slot.
//! 3. The core is not borrowed while user code looks at a value: only its place is.

use crate::execution::tasks::Local;
use crate::execution::world::WORLD;
use pin_project_lite::pin_project;
use std::any::Any;
use std::cell::RefCell;
use std::fmt;
use std::marker::{PhantomData, PhantomPinned};
use std::mem;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::atomic::AtomicU8;
use std::task::{Context, Poll};

/// Where a task keeps the value of a key.
type Place<T> = Rc<RefCell<Option<T>>>;

thread_local! {
    /// The places of code that runs in no task.
    static OUTSIDE: RefCell<Vec<Local>> = const { RefCell::new(Vec::new()) };
}

/// A value that each task has for itself. Declared with [`task_local!`](crate::task_local).
///
/// # Differences from tokio
/// Tasks of a `LocalSet` do not see the values of the task that awaits the set.
pub struct LocalKey<T: 'static> {
    /// Gives the static an address of its own, which identifies the key.
    _address: AtomicU8,
    _value: PhantomData<fn() -> T>,
}

/// The value is not set in this task.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct AccessError(());

/// Why a scope cannot be entered.
enum ScopeError {
    Borrowed,
    Destroyed,
}

impl ScopeError {
    #[track_caller]
    fn panic(&self) -> ! {
        match self {
            ScopeError::Borrowed => {
                panic!("cannot enter a task-local scope while the task-local storage is borrowed")
            }
            ScopeError::Destroyed => panic!(
                "cannot enter a task-local scope during or after destruction of the underlying \
                 thread-local"
            ),
        }
    }
}

impl<T: 'static> LocalKey<T> {
    /// For `task_local!`.
    #[doc(hidden)]
    pub const fn __new() -> Self {
        LocalKey {
            _address: AtomicU8::new(0),
            _value: PhantomData,
        }
    }

    fn find(&'static self, locals: &[Local]) -> Option<Rc<dyn Any>> {
        let key = self.address();
        locals
            .iter()
            .find(|local| local.key == key)
            .map(|local| local.value.clone())
    }

    fn address(&'static self) -> usize {
        (&raw const *self).addr()
    }

    /// This key's place in the list, which is added when it is missing.
    fn find_or_add(&'static self, locals: &mut Vec<Local>, new: &Place<T>) -> Rc<dyn Any> {
        self.find(locals).unwrap_or_else(|| {
            locals.push(Local {
                key: self.address(),
                value: new.clone(),
            });
            new.clone()
        })
    }

    /// Runs `f` on the current task's list, or on the thread's. `None` while the thread ends.
    fn with_locals<R>(f: impl FnOnce(&mut Vec<Local>) -> R) -> Option<R> {
        let mut f = Some(f);
        let in_task = WORLD.with(|world| {
            let key = world.current()?;
            let f = f.take()?;
            Some(world.with(|core, _| f(core.task(key).locals())))
        });
        if let Some(result) = in_task {
            return Some(result);
        }
        let f = f?;
        OUTSIDE.try_with(|locals| f(&mut locals.borrow_mut())).ok()
    }

    fn typed(place: Rc<dyn Any>) -> Place<T> {
        place
            .downcast()
            .expect("cct bug: two types for one task-local key")
    }

    /// The value's place, if it was ever set in this task.
    fn place(&'static self) -> Option<Place<T>> {
        Self::with_locals(|locals| self.find(locals))
            .flatten()
            .map(Self::typed)
    }

    /// The value's place, made when it is missing.
    fn place_or_new(&'static self) -> Option<Place<T>> {
        if let Some(place) = self.place() {
            return Some(place);
        }
        let new = Rc::new(RefCell::new(None));
        Self::with_locals(|locals| self.find_or_add(locals, &new)).map(Self::typed)
    }

    /// Runs a future with the value set whenever it is polled or dropped. A scope inside another
    /// hides the outer value.
    pub fn scope<F: Future>(&'static self, value: T, f: F) -> TaskLocalFuture<T, F> {
        TaskLocalFuture {
            key: self,
            slot: Some(value),
            future: Some(f),
            _pinned: PhantomPinned,
        }
    }

    /// Runs a closure with the value set.
    ///
    /// # Panics
    /// Inside [`with`](Self::with) of the same key.
    #[track_caller]
    pub fn sync_scope<F, R>(&'static self, value: T, f: F) -> R
    where
        F: FnOnce() -> R,
    {
        match self.enter(&mut Some(value), f) {
            Ok(result) => result,
            Err(error) => error.panic(),
        }
    }

    /// Runs `f` while `slot` and the key's place are swapped.
    fn enter<R>(
        &'static self,
        slot: &mut Option<T>,
        f: impl FnOnce() -> R,
    ) -> Result<R, ScopeError> {
        struct Leave<'a, T> {
            place: Place<T>,
            slot: &'a mut Option<T>,
        }
        impl<T> Drop for Leave<'_, T> {
            fn drop(&mut self) {
                mem::swap(self.slot, &mut *self.place.borrow_mut());
            }
        }
        let place = self.place_or_new().ok_or(ScopeError::Destroyed)?;
        match place.try_borrow_mut() {
            Ok(mut value) => mem::swap(slot, &mut *value),
            Err(_) => return Err(ScopeError::Borrowed),
        }
        let _leave = Leave { place, slot };
        Ok(f())
    }

    /// Runs a closure on the current task's value.
    ///
    /// # Panics
    /// When the value is not set.
    #[track_caller]
    pub fn with<F, R>(&'static self, f: F) -> R
    where
        F: FnOnce(&T) -> R,
    {
        match self.try_with(f) {
            Ok(result) => result,
            Err(_) => panic!("cannot access a task-local storage value without setting it first"),
        }
    }

    /// Runs a closure on the current task's value.
    ///
    /// # Errors
    /// When the value is not set.
    pub fn try_with<F, R>(&'static self, f: F) -> Result<R, AccessError>
    where
        F: FnOnce(&T) -> R,
    {
        let place = self.place().ok_or(AccessError(()))?;
        let value = place.borrow();
        value.as_ref().map(f).ok_or(AccessError(()))
    }
}

impl<T: Clone + 'static> LocalKey<T> {
    /// A copy of the current task's value.
    ///
    /// # Panics
    /// When the value is not set.
    #[track_caller]
    pub fn get(&'static self) -> T {
        self.with(T::clone)
    }

    /// A copy of the current task's value.
    ///
    /// # Errors
    /// When the value is not set.
    pub fn try_get(&'static self) -> Result<T, AccessError> {
        self.try_with(T::clone)
    }
}

impl<T: 'static> fmt::Debug for LocalKey<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("LocalKey { .. }")
    }
}

impl fmt::Debug for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("AccessError")
    }
}

impl fmt::Display for AccessError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad("task-local value not set")
    }
}

impl std::error::Error for AccessError {}

pin_project! {
    /// The future of [`LocalKey::scope`].
    #[must_use = "futures do nothing unless polled"]
    pub struct TaskLocalFuture<T: 'static, F> {
        key: &'static LocalKey<T>,
        slot: Option<T>,
        #[pin]
        future: Option<F>,
        #[pin]
        _pinned: PhantomPinned,
    }

    impl<T: 'static, F> PinnedDrop for TaskLocalFuture<T, F> {
        fn drop(this: Pin<&mut Self>) {
            let this = this.project();
            let mut future = this.future;
            if mem::needs_drop::<F>() && future.is_some() {
                // Where the value cannot be set the future is dropped without it.
                let _ = this.key.enter(this.slot, || future.set(None));
            }
        }
    }
}

impl<T: 'static, F> TaskLocalFuture<T, F> {
    /// Takes the value out, as one does when the future is done. If it is polled afterwards, the
    /// value is not set.
    pub fn take_value(self: Pin<&mut Self>) -> Option<T> {
        self.project().slot.take()
    }
}

impl<T: 'static, F: Future> Future for TaskLocalFuture<T, F> {
    type Output = F::Output;

    #[track_caller]
    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<F::Output> {
        let this = self.project();
        let mut future = this.future;
        let polled = this.key.enter(this.slot, || {
            let polled = future.as_mut().as_pin_mut()?.poll(cx);
            if polled.is_ready() {
                future.set(None);
            }
            Some(polled)
        });
        match polled {
            Ok(Some(polled)) => polled,
            Ok(None) => panic!("`TaskLocalFuture` polled after completion"),
            Err(error) => error.panic(),
        }
    }
}

impl<T: fmt::Debug + 'static, F> fmt::Debug for TaskLocalFuture<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut out = f.debug_struct("TaskLocalFuture");
        match &self.slot {
            Some(value) => out.field("value", value),
            None => out.field("value", &format_args!("<missing>")),
        };
        out.finish()
    }
}
