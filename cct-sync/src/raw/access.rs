//! Access to a guarded value, and the permits that justify it.

use super::guarded::Lock;
use crate::batch_semaphore::{BatchSemaphore, Call};
use cct_executor::shim::{Access, OpKind};
use std::marker::PhantomData;
use std::mem::ManuallyDrop;
use std::ops::{Deref, DerefMut};
use std::panic::Location;
use std::sync::Arc;

/// What leads to a semaphore: a reference to it, or shared ownership of the lock around it.
pub(crate) trait Owner {
    fn semaphore(&self) -> &BatchSemaphore;
}

impl Owner for &BatchSemaphore {
    #[inline]
    fn semaphore(&self) -> &BatchSemaphore {
        self
    }
}

impl<L: Lock + ?Sized> Owner for Arc<L> {
    #[inline]
    fn semaphore(&self) -> &BatchSemaphore {
        self.guarded().semaphore()
    }
}

/// Permits that go back when this is dropped.
pub(crate) struct Hold<O: Owner> {
    owner: O,
    /// Where they were acquired; stands for the place where they go back, which has none.
    site: &'static Location<'static>,
    permits: u32,
    access: Access,
}

impl<O: Owner> Hold<O> {
    #[inline]
    pub(super) fn new(owner: O, permits: u32, call: Call) -> Self {
        Hold {
            owner,
            site: call.site,
            permits,
            access: call.access,
        }
    }

    #[inline]
    pub(crate) fn owner(&self) -> &O {
        &self.owner
    }

    /// Gives back all permits but one.
    fn keep_one(&mut self, access: Access) {
        let surplus = self.permits - 1;
        self.permits = 1;
        let semaphore = self.owner.semaphore();
        semaphore
            .resource()
            .sync_point(OpKind::Unlock, Access::Write, self.site);
        self.access = access;
        semaphore.release(surplus as usize, self.site);
    }
}

impl<O: Owner> Drop for Hold<O> {
    #[inline]
    fn drop(&mut self) {
        give_back(self.owner.semaphore(), self.permits, self.access, self.site);
    }
}

/// All that a holder does to give back what it has.
#[inline]
fn give_back(
    semaphore: &BatchSemaphore,
    permits: u32,
    access: Access,
    site: &'static Location<'static>,
) {
    let resource = semaphore.resource();
    resource.point_and_release(OpKind::Unlock, access, site);
    semaphore.release(permits as usize, site);
}

/// Sole access to all of a lock's value. Two pointers and no more: guards are moved from future to
/// future.
pub(crate) struct Sole<'a, L: Lock + ?Sized> {
    /// Invariant: this access holds all permits of it.
    lock: &'a L,
    /// Where they were acquired.
    site: &'static Location<'static>,
    /// What it stands for, and by which it may cross threads.
    value: PhantomData<&'a mut L::Value>,
}

impl<'a, L: Lock + ?Sized> Sole<'a, L> {
    /// The caller has acquired all permits of `lock`, and hands them over.
    #[inline]
    pub(super) fn new(lock: &'a L, site: &'static Location<'static>) -> Self {
        Sole {
            lock,
            site,
            value: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn lock(&self) -> &'a L {
        self.lock
    }

    /// The same access in a form that can be narrowed.
    #[inline]
    pub(crate) fn into_exclusive(self) -> Exclusive<&'a BatchSemaphore, L::Value> {
        let this = ManuallyDrop::new(self);
        let guarded = this.lock.guarded();
        let hold = Hold {
            owner: guarded.semaphore(),
            site: this.site,
            permits: guarded.all(),
            access: Access::Write,
        };
        Exclusive::new(guarded.value(), hold)
    }

    /// Narrows the access to a part of the value, if there is such a part.
    #[inline]
    pub(crate) fn try_map<V: ?Sized>(
        mut self,
        part: impl FnOnce(&mut L::Value) -> Option<&mut V>,
    ) -> Result<Exclusive<&'a BatchSemaphore, V>, Self> {
        let Some(value) = part(&mut self).map(std::ptr::from_mut) else {
            return Err(self);
        };
        let hold = self.into_exclusive().hold;
        Ok(Exclusive { value, hold })
    }
}

impl<L: Lock + ?Sized> Drop for Sole<'_, L> {
    #[inline]
    fn drop(&mut self) {
        let guarded = self.lock.guarded();
        give_back(guarded.semaphore(), guarded.all(), Access::Write, self.site);
    }
}

impl<L: Lock + ?Sized> Deref for Sole<'_, L> {
    type Target = L::Value;

    #[inline]
    fn deref(&self) -> &L::Value {
        // SAFETY: this access has all permits, so every other access to this lock is gone; what
        // comes from this one borrows it.
        unsafe { &*self.lock.guarded().value() }
    }
}

impl<L: Lock + ?Sized> DerefMut for Sole<'_, L> {
    #[inline]
    fn deref_mut(&mut self) -> &mut L::Value {
        // SAFETY: as in `deref`, and the borrow of this access is unique.
        unsafe { &mut *self.lock.guarded().value() }
    }
}

/// Sole access to a value, or to a part of it.
pub(crate) struct Exclusive<O: Owner, U: ?Sized> {
    /// Invariant: points into the value of the lock that `hold` holds all permits of.
    value: *mut U,
    hold: Hold<O>,
}

impl<O: Owner, U: ?Sized> Exclusive<O, U> {
    /// `hold` holds all permits of the lock that `value` points into.
    #[inline]
    pub(super) fn new(value: *mut U, hold: Hold<O>) -> Self {
        Exclusive { value, hold }
    }

    #[inline]
    pub(crate) fn owner(&self) -> &O {
        self.hold.owner()
    }

    /// Narrows the access to a part of the value.
    #[inline]
    pub(crate) fn map<V: ?Sized>(mut self, part: impl FnOnce(&mut U) -> &mut V) -> Exclusive<O, V> {
        let value: *mut V = part(&mut self);
        Exclusive {
            value,
            hold: self.hold,
        }
    }

    /// Narrows the access to a part of the value, if there is such a part.
    #[inline]
    pub(crate) fn try_map<V: ?Sized>(
        mut self,
        part: impl FnOnce(&mut U) -> Option<&mut V>,
    ) -> Result<Exclusive<O, V>, Self> {
        let Some(value) = part(&mut self).map(std::ptr::from_mut) else {
            return Err(self);
        };
        Ok(Exclusive {
            value,
            hold: self.hold,
        })
    }

    /// Lets readers in. `access` is how the permit that stays will go back.
    pub(crate) fn downgrade(mut self, access: Access) -> Joint<O, U> {
        self.hold.keep_one(access);
        Joint {
            value: self.value,
            hold: self.hold,
        }
    }

    /// Lets readers in and narrows the access to a part of the value.
    #[inline]
    pub(crate) fn downgrade_map<V: ?Sized>(
        mut self,
        access: Access,
        part: impl FnOnce(&U) -> &V,
    ) -> Joint<O, V> {
        let value: *const V = part(&self);
        self.hold.keep_one(access);
        Joint {
            value,
            hold: self.hold,
        }
    }

    /// As [`downgrade_map`](Self::downgrade_map), if there is such a part.
    #[inline]
    pub(crate) fn try_downgrade_map<V: ?Sized>(
        mut self,
        access: Access,
        part: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Joint<O, V>, Self> {
        let Some(value) = part(&self).map(std::ptr::from_ref) else {
            return Err(self);
        };
        self.hold.keep_one(access);
        Ok(Joint {
            value,
            hold: self.hold,
        })
    }
}

impl<O: Owner, U: ?Sized> Deref for Exclusive<O, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: `value` is alive, as `owner` borrows or shares the lock. `hold` has all permits,
        // so every other access to this lock is gone; what comes from this access borrows it.
        unsafe { &*self.value }
    }
}

impl<O: Owner, U: ?Sized> DerefMut for Exclusive<O, U> {
    #[inline]
    fn deref_mut(&mut self) -> &mut U {
        // SAFETY: as in `deref`, and the borrow of this access is unique.
        unsafe { &mut *self.value }
    }
}

/// Access to a value, or to a part of it, that others may have too.
pub(crate) struct Joint<O: Owner, U: ?Sized> {
    /// Invariant: points into the value of the lock that `hold` holds a permit of.
    value: *const U,
    hold: Hold<O>,
}

impl<O: Owner, U: ?Sized> Joint<O, U> {
    /// `hold` holds a permit of the lock that `value` points into.
    #[inline]
    pub(super) fn new(value: *const U, hold: Hold<O>) -> Self {
        Joint { value, hold }
    }

    #[inline]
    pub(crate) fn owner(&self) -> &O {
        self.hold.owner()
    }

    /// Narrows the access to a part of the value.
    #[inline]
    pub(crate) fn map<V: ?Sized>(self, part: impl FnOnce(&U) -> &V) -> Joint<O, V> {
        let value: *const V = part(&self);
        Joint {
            value,
            hold: self.hold,
        }
    }

    /// Narrows the access to a part of the value, if there is such a part.
    #[inline]
    pub(crate) fn try_map<V: ?Sized>(
        self,
        part: impl FnOnce(&U) -> Option<&V>,
    ) -> Result<Joint<O, V>, Self> {
        let Some(value) = part(&self).map(std::ptr::from_ref) else {
            return Err(self);
        };
        Ok(Joint {
            value,
            hold: self.hold,
        })
    }
}

impl<O: Owner, U: ?Sized> Deref for Joint<O, U> {
    type Target = U;

    #[inline]
    fn deref(&self) -> &U {
        // SAFETY: `value` is alive, as `owner` borrows or shares the lock. `hold` has a permit, so
        // nobody has all of them: there is no exclusive access to this lock.
        unsafe { &*self.value }
    }
}
