//! Ctrl-C.

use super::kind::SignalKind;
use super::listener::listen;
use std::io;
use std::panic::Location;

/// Waits for a SIGINT at the running task's node, from the first poll on: it registers then, and SIGINT no
/// longer ends the node's process, be this dropped or over.
///
/// # Scheduling points
/// One, before it looks, and at granularity `sync` another one, before it registers.
///
/// # Cancel safety
/// A signal that came before it is dropped is lost with it: another call hears of later ones only.
///
/// # Errors
/// Outside a scenario it is `Unsupported`.
#[track_caller]
pub fn ctrl_c() -> impl Future<Output = io::Result<()>> + Send {
    let site = Location::caller();
    async move {
        listen(SignalKind::interrupt(), site)?.recv_at(site).await;
        Ok(())
    }
}
