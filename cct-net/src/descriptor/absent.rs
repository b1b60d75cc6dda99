//! Where there are no file descriptors of sockets.

use super::{ByDescriptor, Kind};
use std::sync::Arc;

pub(crate) struct Descriptor;

impl Descriptor {
    pub(crate) const fn new(_: Kind) -> Descriptor {
        Descriptor
    }
}

macro_rules! inherits {
    ($($Socket:ident),*) => {$(
        impl $Socket {
            /// There is none.
            pub(super) fn inherit(&mut self, _: &mut $crate::descriptor::Descriptor) {}
        }
    )*};
}

pub(crate) use inherits;

#[derive(Default)]
pub(crate) struct Lent;

#[derive(Default)]
pub(crate) struct Shown;

impl Shown {
    pub(crate) fn find(&self, _: u64) -> Option<Arc<dyn ByDescriptor>> {
        None
    }
}
