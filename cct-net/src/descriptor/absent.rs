//! Where there are no file descriptors of sockets.

use super::Kind;

pub(crate) struct Descriptor;

impl Descriptor {
    pub(crate) const fn new(_: Kind) -> Descriptor {
        Descriptor
    }
}

#[derive(Default)]
pub(crate) struct Lent;
