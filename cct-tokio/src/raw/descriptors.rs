//! What is asked of descriptors of the machine.

use crate::io::{Interest, Ready};
use std::fs::File;
use std::io;
use std::os::fd::{AsFd as _, AsRawFd, BorrowedFd, FromRawFd as _, OwnedFd};

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

fn done(answer: libc::c_int) -> io::Result<libc::c_int> {
    match answer {
        -1 => Err(io::Error::last_os_error()),
        answer => Ok(answer),
    }
}

fn flags(fd: BorrowedFd<'_>) -> io::Result<libc::c_int> {
    // SAFETY: it takes and returns numbers.
    done(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_GETFL) })
}

/// Whether one may write to it, or read from it.
pub(crate) fn is_open_to(fd: BorrowedFd<'_>, write: bool) -> io::Result<bool> {
    let mode = flags(fd)? & libc::O_ACCMODE;
    let alone = if write {
        libc::O_WRONLY
    } else {
        libc::O_RDONLY
    };
    Ok(mode == libc::O_RDWR || mode == alone)
}

/// A pipe of the machine's, which does not block: the end that is written, and the one that is read.
pub(crate) fn pipe() -> io::Result<[OwnedFd; 2]> {
    let mut ends = [-1; 2];
    // A process that somebody starts meanwhile is not to have them.
    #[cfg(any(target_os = "linux", target_os = "android"))]
    // SAFETY: it writes two numbers.
    done(unsafe { libc::pipe2(ends.as_mut_ptr(), libc::O_CLOEXEC) })?;
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    // SAFETY: as above.
    done(unsafe { libc::pipe(ends.as_mut_ptr()) })?;
    // SAFETY: they are open, and nobody else's.
    let [read, written] = ends.map(|end| unsafe { OwnedFd::from_raw_fd(end) });
    for end in [&read, &written] {
        set_nonblocking(end.as_fd(), true)?;
        // SAFETY: it takes and returns numbers.
        done(unsafe { libc::fcntl(end.as_raw_fd(), libc::F_SETFD, libc::FD_CLOEXEC) })?;
    }
    Ok([written, read])
}

pub(crate) fn set_nonblocking(fd: BorrowedFd<'_>, nonblocking: bool) -> io::Result<()> {
    let flags = match nonblocking {
        true => flags(fd)? | libc::O_NONBLOCK,
        false => flags(fd)? & !libc::O_NONBLOCK,
    };
    // SAFETY: it takes and returns numbers.
    done(unsafe { libc::fcntl(fd.as_raw_fd(), libc::F_SETFL, flags) }).map(drop)
}
