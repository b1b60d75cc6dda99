//! Channels from many senders to one receiver.
//!
//! tokio's `mpsc`. A channel is one state behind one cell: a queue of messages and a counting
//! semaphore for the room in it, served strictly first come, first served.
//!
//! - [`channel`]: bounded; a sender waits for room.
//! - [`unbounded_channel`]: sending never waits.
//!
//! Every asynchronous method passes one scheduling point, in its first poll and before it acts. The
//! other methods, and dropping a handle or a permit, are points at granularity `sync` only. At `spawn` (on Linux)
//! and finer there is one between taking room and putting the message in, in all methods that do both: on threads a
//! receiver can be dropped there. The message then stays in the channel, and with it the answer it may ask for,
//! until the last sender is gone. At `spawn` there is another after a message has woken the receiver.
//!
//! # Differences from tokio
//! None.

mod bounded;
mod chan;
mod inbox;
mod permit;
mod receive;
mod receiver;
mod reserve;
mod unbounded;
mod weak;

pub mod error;

pub use bounded::{Sender, channel};
pub use permit::{OwnedPermit, Permit, PermitIterator};
pub use receiver::{Receiver, UnboundedReceiver};
pub use unbounded::{UnboundedSender, unbounded_channel};
pub use weak::{WeakSender, WeakUnboundedSender};
