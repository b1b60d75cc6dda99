//! Questions to types, answered by the compiler.

use std::error::Error;
use std::fmt::{Debug, Display};
use std::ops::{Deref, DerefMut};
use std::panic::{RefUnwindSafe, UnwindSafe};

/// What has no trait at all, not even `Debug`.
pub(crate) struct NoTraits;
pub(crate) type NotUnpin = std::marker::PhantomPinned;

pub(crate) fn is<T>(_: T) {}
pub(crate) fn sent<T>(_: impl Future<Output = T> + Send) {}
pub(crate) fn local<T>(_: impl Future<Output = T>) {}
pub(crate) fn is_debug<T: Debug>() {}
pub(crate) fn is_display<T: Display>() {}
pub(crate) fn is_clone<T: Clone>() {}
pub(crate) fn is_copy<T: Copy>() {}
pub(crate) fn is_default<T: Default>() {}
pub(crate) fn is_eq<T: Eq>() {}
pub(crate) fn is_unpin<T: Unpin>() {}
pub(crate) fn is_error<T: Error + Send + Sync + 'static>() {}
pub(crate) fn unwinds<T: UnwindSafe + RefUnwindSafe>() {}
pub(crate) fn is_read_guard<G: Deref<Target = T> + Debug + Display, T>() {}
pub(crate) fn is_guard<G: DerefMut<Target = T> + Debug + Display, T>() {}
pub(crate) fn is_hash<T: std::hash::Hash>() {}
pub(crate) fn is_ord<T: Ord>() {}
