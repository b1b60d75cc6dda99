//! What is asked of descriptors of the machine.

use crate::io::{Interest, Ready};
use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, BorrowedFd};

/// The descriptor of its owner.
///
/// # Panics
/// If that has none.
pub(crate) fn of<T: AsRawFd>(owner: &T) -> BorrowedFd<'_> {
    let number = owner.as_raw_fd();
    assert_ne!(number, -1, "no descriptor");
    // SAFETY: it is a number of one. As in tokio it is open as long as its owner lives; should it not be, the system says so.
    unsafe { BorrowedFd::borrow_raw(number) }
}

/// Whether waiting for it means anything: files and folders are always ready, and `epoll` refuses them.
pub(crate) fn can_be_watched(fd: BorrowedFd<'_>) -> io::Result<bool> {
    let metadata = File::from(fd.try_clone_to_owned()?).metadata()?;
    Ok(!metadata.is_file() && !metadata.is_dir())
}

/// What it is ready for now, of this; and errors in any case.
pub(crate) fn readiness(fd: BorrowedFd<'_>, interest: Interest) -> Ready {
    let (to_read, to_write) = (interest.is_readable(), interest.is_writable());
    #[cfg(any(target_os = "linux", target_os = "android"))]
    let urgent = interest.is_priority();
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    let urgent = false;
    let event = |wanted: bool, event: libc::c_short| if wanted { event } else { 0 };
    let mut asked = libc::pollfd {
        fd: fd.as_raw_fd(),
        events: event(to_read, libc::POLLIN)
            | event(to_write, libc::POLLOUT)
            | event(urgent, libc::POLLPRI),
        revents: 0,
    };
    // SAFETY: one record, which lives.
    let _ = unsafe { libc::poll(&mut asked, 1, 0) };
    let part = |events: libc::c_short, ready: Ready| {
        if asked.revents & events != 0 {
            ready
        } else {
            Ready::EMPTY
        }
    };
    let mut ready = part(libc::POLLERR, Ready::ERROR);
    if to_read {
        ready |= part(libc::POLLIN | libc::POLLHUP, Ready::READABLE);
    }
    if to_read || urgent {
        ready |= part(libc::POLLHUP, Ready::READ_CLOSED);
    }
    #[cfg(any(target_os = "linux", target_os = "android"))]
    if urgent {
        ready |= part(libc::POLLPRI, Ready::PRIORITY);
    }
    if to_write {
        ready |= part(libc::POLLOUT, Ready::WRITABLE);
        ready |= part(libc::POLLERR | libc::POLLHUP, Ready::WRITE_CLOSED);
    }
    ready
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, nonblocking: bool) -> io::Result<()> {
    let fd = fd.as_raw_fd();
    let done = |answer: libc::c_int| match answer {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    };
    // SAFETY: it takes and returns numbers.
    let flags = done(unsafe { libc::fcntl(fd, libc::F_GETFL) })?;
    let flags = match nonblocking {
        true => flags | libc::O_NONBLOCK,
        false => flags & !libc::O_NONBLOCK,
    };
    // SAFETY: as above.
    done(unsafe { libc::fcntl(fd, libc::F_SETFL, flags) }).map(drop)
}
