//! Ways to say which node.

use crate::fabric::network;
use cct_executor::node::{self, Node, NodeId};
use std::{fmt, io};

/// Something that names a node: the node, its number, or its name.
pub trait Peer {
    /// The node's number.
    ///
    /// # Errors
    /// `NotFound` if there is no node of this name, or the node is one of another scenario.
    fn node(&self) -> io::Result<NodeId>;
}

pub(super) fn no_node(node: impl fmt::Display) -> io::Error {
    io::Error::new(io::ErrorKind::NotFound, format!("there is no node {node}"))
}

impl Peer for NodeId {
    fn node(&self) -> io::Result<NodeId> {
        Ok(*self)
    }
}

impl Peer for Node {
    fn node(&self) -> io::Result<NodeId> {
        if !self.is_here() && network().is_ok() {
            // Its number stands for somebody else here.
            return Err(no_node(format_args!(
                "`{}` in this scenario: its handle was kept from another one; make a node anew in each \
                 iteration",
                self.name()
            )));
        }
        Ok(self.id())
    }
}

impl Peer for str {
    fn node(&self) -> io::Result<NodeId> {
        node::find(self).ok_or_else(|| no_node(format_args!("`{self}`")))
    }
}

impl Peer for String {
    fn node(&self) -> io::Result<NodeId> {
        self.as_str().node()
    }
}

impl<P: Peer + ?Sized> Peer for &P {
    fn node(&self) -> io::Result<NodeId> {
        (**self).node()
    }
}
