//! How a thread waits for what the machine has for it: others of its world go on meanwhile, where that can be.

use crate::clocks_outside;
use crate::system::{self, Blocks, System};
use libc::{c_int, c_short, pollfd, ssize_t};
use std::io;
use std::time::Duration;

/// What the thread has in the place of the system, if it would wait.
pub(super) fn would_wait(patience: Duration) -> Option<System> {
    system::get().filter(|_| !patience.is_zero())
}

/// Waits until this is so, or for so long. It is asked whether it is so within a time. Returns whether it is.
pub(super) fn wait(
    system: System,
    patience: Duration,
    is_so: &mut dyn FnMut(Duration) -> bool,
) -> bool {
    let begin = clocks_outside().monotonic;
    let left = || patience.saturating_sub(clocks_outside().monotonic.saturating_sub(begin));
    let mut so = is_so(Duration::ZERO);
    if !so
        && !(system.join)(&mut || {
            so = is_so(Duration::ZERO);
            so || left().is_zero()
        })
    {
        (system.blocks)(Blocks::Machine);
        so = is_so(left());
        (system.blocks)(Blocks::No);
    }
    so
}

/// Waits until a call on the descriptor would not block, or for so long. Returns whether it would not.
pub(super) fn wait_for(fd: c_int, events: c_short, patience: Duration) -> bool {
    would_wait(patience)
        .is_none_or(|system| wait(system, patience, &mut |within| is_ready(fd, events, within)))
}

/// Waits until the descriptor is ready, unless it is one on which no call blocks.
pub(super) fn wait_where_it_blocks(fd: c_int, events: c_short) {
    if system::get().is_some() && !is_ready(fd, events, Duration::ZERO) && blocks(fd) {
        wait_for(fd, events, Duration::MAX);
    }
}

/// What comes of sending by a call that takes these flags: a part of it at least. In a world it does not wait in the middle for
/// whoever is to make room.
pub(super) fn send_a_part(
    fd: c_int,
    patience: Duration,
    call: impl Fn(c_int) -> ssize_t,
) -> ssize_t {
    if would_wait(patience).is_none() {
        return call(0);
    }
    loop {
        let sent = call(libc::MSG_DONTWAIT);
        let waits = sent < 0 && io::Error::last_os_error().kind() == io::ErrorKind::WouldBlock;
        if !waits {
            return sent;
        }
        if !wait_for(fd, libc::POLLOUT, patience) {
            super::set_errno(libc::EAGAIN);
            return -1;
        }
    }
}

/// Whether calls on the descriptor block.
fn blocks(fd: c_int) -> bool {
    // SAFETY: nothing but the descriptor is looked at.
    let status = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    status >= 0 && status & libc::O_NONBLOCK == 0
}

/// Whether a call would not block within so long; without end where that is more than a month.
pub(super) fn is_ready(fd: c_int, events: c_short, within: Duration) -> bool {
    let mut asked = pollfd {
        fd,
        events,
        revents: 0,
    };
    // SAFETY: there is one.
    unsafe { super::waits::polled(&raw mut asked, 1, milliseconds(within)) != 0 }
}

/// As calls have it that wait for so long.
pub(super) fn milliseconds(within: Duration) -> c_int {
    c_int::try_from(within.as_millis()).unwrap_or(-1)
}

/// For how long a call waits that has this for its limit.
pub(super) fn patience(milliseconds: c_int) -> Duration {
    u64::try_from(milliseconds).map_or(Duration::MAX, Duration::from_millis)
}
