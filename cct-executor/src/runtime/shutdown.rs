//! Errors of runtimes that are shut down.

use std::error::Error;
use std::io;

/// What tokio's sockets say when their runtime is gone.
const SHUTTING_DOWN: &str = "A Tokio 1.x context was found, but it is being shutdown.";

/// Whether an error says that a runtime was shut down.
///
/// # Differences from tokio
/// Sockets are the world's, and do not fail with the runtime that made them. Errors are known by their text,
/// which is tokio's.
pub fn is_rt_shutdown_err(err: &io::Error) -> bool {
    err.kind() == io::ErrorKind::Other
        && err.get_ref().is_some_and(|inner| {
            Error::source(inner).is_none() && inner.to_string() == SHUTTING_DOWN
        })
}
