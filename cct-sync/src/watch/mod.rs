//! Channels that hold one value, of which receivers see the newest.
//!
//! tokio's `watch`.
//!
//! The value is behind a lock of the standard library, and a [`Ref`] holds it. A task that is
//! suspended while it has a `Ref` keeps senders from going on; as with tokio, keep them short.
//!
//! # Differences from tokio
//! None. The order in which waiting receivers are woken, which tokio draws, is a choice.

mod chan;
mod receiver;
mod sender;
mod value;

pub mod error;

pub use receiver::Receiver;
pub use sender::{Sender, channel};
pub use value::Ref;
