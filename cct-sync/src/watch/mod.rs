//! Channels that hold one value, of which receivers see the newest.
//!
//! tokio's `watch`.
//!
//! A [`Ref`] locks the value. Inside a world, an operation that finds it locked by a suspended task
//! suspends its own; where that is for ever, it is reported as a deadlock.
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
