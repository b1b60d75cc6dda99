//! Handles that several futures use at once.

use std::cell::RefCell;
use std::fmt;
use std::rc::Rc;

/// Where a handle lives that futures borrow, each for as long as it is under way: many that share it,
/// or one that has it alone. Whoever comes at the wrong time gets nothing.
pub struct Place<T>(Rc<RefCell<Option<T>>>);

impl<T> Clone for Place<T> {
    fn clone(&self) -> Self {
        Place(self.0.clone())
    }
}

impl<T> fmt::Debug for Place<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Place").finish_non_exhaustive()
    }
}

impl<T> Place<T> {
    /// A handle in its place.
    pub fn new(handle: T) -> Self {
        Place(Rc::new(RefCell::new(Some(handle))))
    }

    /// A place without a handle.
    pub fn empty() -> Self {
        Place(Rc::default())
    }

    /// Whether there is a handle, be it in use.
    pub fn is_taken(&self) -> bool {
        self.0.try_borrow().map_or(true, |handle| handle.is_some())
    }

    /// Whether there is a handle that nobody uses.
    pub fn is_free(&self) -> bool {
        self.0.try_borrow_mut().is_ok_and(|handle| handle.is_some())
    }

    /// Puts a handle into an empty place.
    pub fn put(&self, handle: T) {
        *self.0.borrow_mut() = Some(handle);
    }

    /// Takes the handle away for good, if nobody uses it.
    pub fn take(&self) -> Option<T> {
        self.0.try_borrow_mut().ok()?.take()
    }

    /// Looks at the handle, if nobody has it alone.
    pub fn look<R>(&self, f: impl FnOnce(&T) -> R) -> Option<R> {
        Some(f(self.0.try_borrow().ok()?.as_ref()?))
    }

    /// A future that shares the handle.
    #[expect(
        clippy::await_holding_refcell_ref,
        reason = "who comes meanwhile is told so"
    )]
    pub async fn share<R>(self, f: impl AsyncFnOnce(&T) -> R) -> Option<R> {
        let handle = self.0.try_borrow().ok()?;
        Some(f(handle.as_ref()?).await)
    }

    /// A future that has the handle alone.
    #[expect(
        clippy::await_holding_refcell_ref,
        reason = "who comes meanwhile is told so"
    )]
    pub async fn alone<R>(self, f: impl AsyncFnOnce(&mut T) -> R) -> Option<R> {
        let mut handle = self.0.try_borrow_mut().ok()?;
        Some(f(handle.as_mut()?).await)
    }
}
