//! What sockets are ready for: the names of `tokio::io`.

#[cfg(any(target_os = "android", target_os = "fuchsia", target_os = "linux"))]
pub(crate) mod device;
mod interest;
pub(crate) mod known;
mod ready;
pub(crate) mod service;
pub(crate) mod spare;

pub use interest::Interest;
pub use ready::Ready;
