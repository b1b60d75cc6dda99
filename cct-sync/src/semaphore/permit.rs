//! Permits of a semaphore, as values that give themselves back.
//!
//! For the wait-for graph, a permit object counts as one holder while it stands for at least one
//! permit.

use super::Semaphore;
use cct_executor::shim::{Access, OpKind};
use std::panic::Location;
use std::sync::Arc;

/// Permits that go back to their semaphore when this is dropped.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct SemaphorePermit<'a> {
    semaphore: &'a Semaphore,
    permits: usize,
    site: &'static Location<'static>,
}

/// Permits that go back to their semaphore when this is dropped, and keep it alive until then.
#[must_use]
#[clippy::has_significant_drop]
#[derive(Debug)]
pub struct OwnedSemaphorePermit {
    semaphore: Arc<Semaphore>,
    permits: usize,
    site: &'static Location<'static>,
}

macro_rules! permit {
    (impl[$($lt:lifetime)?] $permit:ty, $handle:ty, $same:path) => {
        impl $(<$lt>)? $permit {
            #[inline]
            pub(super) fn new(
                semaphore: $handle,
                permits: usize,
                site: &'static Location<'static>,
            ) -> Self {
                Self { semaphore, permits, site }
            }

            /// Drops the handle without giving the permits back: the semaphore has fewer from now
            /// on.
            pub fn forget(mut self) {
                self.surrender();
            }

            /// Adds the permits of `other` to this handle.
            ///
            /// # Panics
            /// If `other` is of another semaphore.
            #[track_caller]
            pub fn merge(&mut self, mut other: Self) {
                assert!(
                    $same(&self.semaphore, &other.semaphore),
                    "merging permits from different semaphore instances"
                );
                let sum = self.permits.checked_add(other.permits);
                let sum = sum.expect("number of permits overflowed");
                other.surrender();
                self.set_permits(sum, Location::caller());
            }

            /// Moves `n` permits into a handle of their own. `None` if there are fewer.
            #[track_caller]
            pub fn split(&mut self, n: usize) -> Option<Self> {
                let site = Location::caller();
                let left = self.permits.checked_sub(n)?;
                let mut part = Self { semaphore: self.semaphore.clone(), permits: 0, site };
                part.set_permits(n, site);
                self.set_permits(left, site);
                Some(part)
            }

            /// How many permits this handle stands for.
            pub fn num_permits(&self) -> usize {
                self.permits
            }

            fn surrender(&mut self) {
                self.set_permits(0, self.site);
            }

            /// Changes the number, and with it, maybe, whether this is a holder.
            fn set_permits(&mut self, permits: usize, site: &'static Location<'static>) {
                match (self.permits, permits) {
                    (0, 1..) => self.semaphore.inner.resource().acquired(site),
                    (1.., 0) => self.semaphore.inner.resource().released(),
                    _ => {}
                }
                self.permits = permits;
            }
        }

        impl $(<$lt>)? Drop for $permit {
            #[inline]
            fn drop(&mut self) {
                if self.permits > 0 {
                    let resource = self.semaphore.inner.resource();
                    resource.sync_point(OpKind::Release, Access::Write, self.site);
                    resource.released();
                    self.semaphore.inner.release(self.permits, self.site);
                }
            }
        }
    };
}

permit!(impl['a] SemaphorePermit<'a>, &'a Semaphore, same);
permit!(impl[] OwnedSemaphorePermit, Arc<Semaphore>, Arc::ptr_eq);

fn same(left: &&Semaphore, right: &&Semaphore) -> bool {
    std::ptr::eq(*left, *right)
}

impl SemaphorePermit<'_> {
    /// The semaphore.
    pub fn semaphore(&self) -> &Semaphore {
        self.semaphore
    }
}

impl OwnedSemaphorePermit {
    /// The semaphore.
    pub fn semaphore(&self) -> &Arc<Semaphore> {
        &self.semaphore
    }
}
