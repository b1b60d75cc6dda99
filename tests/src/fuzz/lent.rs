//! Receivers that futures borrow.

use std::cell::RefCell;
use std::ops::{Deref, DerefMut};
use std::rc::Rc;

/// Where a handle lives that a future may need for itself; empty while one has it.
#[derive(Debug)]
pub struct Home<T>(Rc<RefCell<Option<T>>>);

impl<T> Home<T> {
    /// A handle at home.
    pub fn new(handle: T) -> Self {
        Home(Rc::new(RefCell::new(Some(handle))))
    }

    /// Takes the handle away until what is returned is dropped; nothing if it is away.
    pub fn lend(&self) -> Option<Lent<T>> {
        let handle = self.0.borrow_mut().take()?;
        Some(Lent {
            home: self.0.clone(),
            handle: Some(handle),
        })
    }
}

/// A handle that goes home when this is dropped; where home is gone, it is dropped.
#[derive(Debug)]
pub struct Lent<T> {
    home: Rc<RefCell<Option<T>>>,
    handle: Option<T>,
}

impl<T> Lent<T> {
    /// The handle, for good.
    pub fn keep(mut self) -> T {
        self.handle
            .take()
            .expect("it is here until this is dropped")
    }
}

impl<T> Deref for Lent<T> {
    type Target = T;

    fn deref(&self) -> &T {
        self.handle
            .as_ref()
            .expect("it is here until this is dropped")
    }
}

impl<T> DerefMut for Lent<T> {
    fn deref_mut(&mut self) -> &mut T {
        self.handle
            .as_mut()
            .expect("it is here until this is dropped")
    }
}

impl<T> Drop for Lent<T> {
    fn drop(&mut self) {
        *self.home.borrow_mut() = self.handle.take();
    }
}
