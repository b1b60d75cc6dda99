//! Channels in which every receiver gets every message.
//!
//! tokio's `broadcast`. A channel keeps the newest messages, up to its capacity; a receiver that
//! is slower than that is told how many it missed.
//!
//! # Differences from tokio
//! None.

mod chan;
mod receiver;
mod sender;
mod state;

pub mod error;

pub use receiver::Receiver;
pub use sender::{Sender, WeakSender, channel};
