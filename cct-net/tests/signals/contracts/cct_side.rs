//! Ours.

pub(crate) use cct_executor::time::timeout;
pub(crate) use cct_net::signal;
use cct_net::signal::unix::SignalKind;

/// By the C library's functions where they are under control.
fn by_the_c_library(kind: SignalKind) -> Option<nix::sys::signal::Signal> {
    let signal = nix::sys::signal::Signal::try_from(kind.as_raw_value());
    signal.ok().filter(|_| cct_interpose::CONTROLLED)
}

pub(crate) fn raise(kind: SignalKind) {
    match by_the_c_library(kind) {
        Some(signal) => nix::sys::signal::raise(signal).unwrap(),
        None => cct_net::signal::raise(kind),
    }
}

pub(crate) fn kill_itself(kind: SignalKind) {
    match by_the_c_library(kind) {
        Some(signal) => nix::sys::signal::kill(nix::unistd::Pid::this(), signal).unwrap(),
        None => cct_net::signal::raise(kind),
    }
}

pub(crate) async fn pause() {
    cct_executor::time::sleep(std::time::Duration::from_millis(20)).await;
}
