//! The real one: signals that this very process sends itself.

pub(crate) use tokio::signal;
use tokio::signal::unix::SignalKind;
pub(crate) use tokio::time::timeout;

pub(crate) fn raise(kind: SignalKind) {
    let number = kind.as_raw_value();
    let signal = nix::sys::signal::Signal::try_from(number).expect("a signal of POSIX");
    nix::sys::signal::raise(signal).expect("a signal to oneself");
}

/// As another program would, and programs do that test themselves.
pub(crate) fn kill_itself(kind: SignalKind) {
    let number = kind.as_raw_value();
    let signal = nix::sys::signal::Signal::try_from(number).expect("a signal of POSIX");
    nix::sys::signal::kill(nix::unistd::Pid::this(), signal).expect("a signal to oneself");
}

pub(crate) async fn pause() {
    tokio::time::sleep(std::time::Duration::from_millis(20)).await;
}
