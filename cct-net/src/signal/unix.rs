//! Listening for any signal, by the names of `tokio::signal::unix`. It is there on every system.

pub use super::kind::SignalKind;
pub use super::listener::{Signal, signal};
