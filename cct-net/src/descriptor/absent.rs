//! Where there are no file descriptors of sockets.

use super::Kind;
use crate::udp::inner::Inner;
use std::sync::Arc;

pub(crate) struct Descriptor;

impl Descriptor {
    pub(crate) const fn new(_: Kind) -> Descriptor {
        Descriptor
    }

    pub(crate) fn of_udp(socket: &Arc<Inner>) -> Descriptor {
        Descriptor::new(Kind::Udp { v6: socket.v6 })
    }
}

#[derive(Default)]
pub(crate) struct Lent;

#[derive(Default)]
pub(crate) struct Shown;

impl Shown {
    pub(crate) fn find(&self, _: u64) -> Option<Arc<Inner>> {
        None
    }
}
