//! Being interrupted: the project's lock file must come back, so whoever interrupts is obeyed a little later.
//!
//! Ctrl-C reaches the whole foreground group, cargo and tests included. A signal for this process alone is passed
//! on to the cargo that runs, which ends; then this program goes on, and puts back what it has changed.

use crate::say;
use std::process::{Child, ExitCode};
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// What shells report for a program that was interrupted.
const INTERRUPTED_CODE: u8 = 130;

/// Nothing has been changed yet, and the end may come at once.
static AT_ONCE: AtomicBool = AtomicBool::new(false);
static INTERRUPTED: AtomicBool = AtomicBool::new(false);
/// The process of the cargo that runs, or 0.
static CHILD: AtomicU32 = AtomicU32::new(0);

/// From now on interrupts are noted, and passed on.
pub(crate) fn listen() {
    let heard = ctrlc::set_handler(|| {
        INTERRUPTED.store(true, Ordering::SeqCst);
        if AT_ONCE.load(Ordering::SeqCst) {
            std::process::exit(INTERRUPTED_CODE.into());
        }
        pass_on(CHILD.load(Ordering::SeqCst));
    });
    if let Err(error) = heard {
        say::note(format_args!(
            "interrupts are not heard ({error}); after one, the next call puts `Cargo.lock` back"
        ));
    }
}

/// Waits for something before anything has been changed: whoever interrupts need not wait, too.
pub(crate) fn ends_at_once<T>(wait: impl FnOnce() -> T) -> T {
    AT_ONCE.store(true, Ordering::SeqCst);
    let waited = wait();
    AT_ONCE.store(false, Ordering::SeqCst);
    waited
}

/// Whether somebody has interrupted.
pub(crate) fn happened() -> bool {
    INTERRUPTED.load(Ordering::SeqCst)
}

/// The exit code, if somebody has interrupted.
pub(crate) fn code() -> Option<ExitCode> {
    happened().then(|| ExitCode::from(INTERRUPTED_CODE))
}

/// For as long as this lives, interrupts are passed on to the child.
pub(crate) struct Forwarding(());

impl Forwarding {
    pub(crate) fn to(child: &Child) -> Self {
        CHILD.store(child.id(), Ordering::SeqCst);
        // The signal may have come before the child was known.
        if happened() {
            pass_on(child.id());
        }
        Self(())
    }
}

impl Drop for Forwarding {
    fn drop(&mut self) {
        CHILD.store(0, Ordering::SeqCst);
    }
}

#[cfg(unix)]
fn pass_on(child: u32) {
    use nix::sys::signal::{Signal, kill};
    use nix::unistd::Pid;
    if let (1.., Ok(pid)) = (child, i32::try_from(child)) {
        // Cargo may just have ended, and then there is nobody to tell.
        let _ = kill(Pid::from_raw(pid), Signal::SIGTERM);
    }
}

/// Elsewhere an interrupt reaches the console's whole group.
#[cfg(not(unix))]
fn pass_on(_child: u32) {}
