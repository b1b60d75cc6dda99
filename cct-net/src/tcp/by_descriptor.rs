//! What is asked of a listener by its descriptor.

use crate::descriptor::ByDescriptor;
use cct_executor::shim::{Moved, OnSocket};
use std::io;
use std::net::SocketAddr;
use std::panic::Location;

/// The address at which one listens. The kernel's socket, which is not connected either, knows the rest.
pub(super) struct Listened(pub(super) SocketAddr);

impl ByDescriptor for Listened {
    fn by_descriptor(
        &self,
        what: &mut OnSocket<'_>,
        _: &'static Location<'static>,
    ) -> Option<io::Result<Moved>> {
        let told = Moved {
            address: Some(self.0),
            ..Moved::default()
        };
        matches!(what, OnSocket::Local).then_some(Ok(told))
    }
}
