//! What sockets are ready for: the names of `tokio::io`.

mod interest;
mod ready;

pub use interest::Interest;
pub use ready::Ready;
