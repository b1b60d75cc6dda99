//! Where there are no file descriptors of sockets.

use super::{ByDescriptor, Kind};
use std::sync::Arc;

pub(crate) struct Descriptor;

impl Descriptor {
    pub(crate) const fn new(_: Kind) -> Descriptor {
        Descriptor
    }
}

#[derive(Default)]
pub(crate) struct Lent;

#[derive(Default)]
pub(crate) struct Shown;

impl Shown {
    pub(crate) fn find(&self, _: u64) -> Option<Arc<dyn ByDescriptor>> {
        None
    }
}
