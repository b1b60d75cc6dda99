//! What sockets are ready for: the names of `tokio::io`.

mod interest;
pub(crate) mod known;
mod ready;
pub(crate) mod service;
pub(crate) mod spare;

pub use interest::Interest;
pub use ready::Ready;
