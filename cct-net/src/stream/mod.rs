//! Byte streams: what TCP connections and Unix streams have in common.
//!
//! [`state`] is the two ends of a connection as kernels keep them; [`conn`] ties it to the network
//! and to tasks; [`ops`] are the operations of a handle, which `forward`, `futures_io` and `halves`
//! give to the public types; [`listening`] is a queue of connections to accept; [`carried`] takes a stream elsewhere.
//!
//! 1. Packets leave, and tasks are woken, after the state's cell is free.
//! 2. A connection over the network has a flow in each direction. Without flows (Unix streams)
//!    packets arrive at once.
//! 3. A packet that nobody expects is answered by a reset.

#[cfg(unix)]
mod anew;
#[cfg(unix)]
mod by_descriptor;
pub(crate) mod carried;
pub(crate) mod conn;
pub(crate) mod first_look;
mod forward;
mod futures_io;
mod halves;
pub(crate) mod listening;
pub(crate) mod ops;
pub(crate) mod state;
pub(crate) mod waiters;

pub(crate) use forward::{
    peek_methods, read_methods, ready_methods, stream_methods, write_methods,
};
pub(crate) use futures_io::{futures_read, futures_write};
pub(crate) use halves::stream_halves;
