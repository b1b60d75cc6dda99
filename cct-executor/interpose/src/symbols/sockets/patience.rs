//! For how long a call on a socket waits.

use super::options;
use libc::{c_int, timeval};
use std::time::Duration;

/// What the call's flags, the descriptor and the socket's option, which is the one for receiving or for sending, say.
pub(super) fn of(fd: c_int, flags: c_int, option: c_int) -> Duration {
    if flags & libc::MSG_DONTWAIT != 0 {
        return Duration::ZERO;
    }
    // SAFETY: nothing but the descriptor is looked at.
    let status = unsafe { libc::fcntl(fd, libc::F_GETFL) };
    if status < 0 || status & libc::O_NONBLOCK != 0 {
        return Duration::ZERO;
    }
    let Some(limit) = options::found::<timeval>(fd, libc::SOL_SOCKET, option) else {
        return Duration::MAX;
    };
    let seconds = Duration::from_secs(u64::try_from(limit.tv_sec).unwrap_or(0));
    let limit = seconds + Duration::from_micros(u64::try_from(limit.tv_usec).unwrap_or(0));
    if limit.is_zero() {
        Duration::MAX // which none is called
    } else {
        limit
    }
}
