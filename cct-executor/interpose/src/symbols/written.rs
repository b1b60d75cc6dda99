//! Files and folders that are made, written, or said to be of some time.
//!
//! The machine does it; here it is [noted](super::file_times) when, on a thread whose clocks are not the machine's.

use super::file_times::{Deed, Time, made_of, note, now};
use super::machine::wait_where_it_blocks;
use super::waits::piece;
use super::{Hidden, fifo, sockets};
use crate::system;
use libc::{c_char, c_int, c_void, mode_t, off64_t, size_t, ssize_t, timespec};
use std::mem::transmute;

/// Variadic in C. With one more argument of a word, it is called in the same way on x86-64 and AArch64 under Linux, and
/// reading one that was not passed is what the C library's does too.
type Open = unsafe extern "C" fn(*const c_char, c_int, mode_t) -> c_int;
type OpenAt = unsafe extern "C" fn(c_int, *const c_char, c_int, mode_t) -> c_int;
type Write = unsafe extern "C" fn(c_int, *const c_void, size_t) -> ssize_t;
type WriteAt = unsafe extern "C" fn(c_int, *const c_void, size_t, off64_t) -> ssize_t;
type MakeFolder = unsafe extern "C" fn(*const c_char, mode_t) -> c_int;
type Truncate = unsafe extern "C" fn(c_int, off64_t) -> c_int;
type SetTimes = unsafe extern "C" fn(c_int, *const timespec) -> c_int;
type SetTimesAt = unsafe extern "C" fn(c_int, *const c_char, *const timespec, c_int) -> c_int;

pub(super) fn keep() {
    std::hint::black_box((open as Open, open64 as Open));
    std::hint::black_box((openat as OpenAt, openat64 as OpenAt));
    std::hint::black_box((write as Write, pwrite64 as WriteAt));
    std::hint::black_box((ftruncate64 as Truncate, futimens as SetTimes));
    std::hint::black_box((utimensat as SetTimesAt, mkdir as MakeFolder));
}

/// Notes what was done with the file of a descriptor. Not what is written to a standard stream: that may be in the
/// middle of anything.
fn noted(fd: c_int, deed: Deed) {
    if let Some(now) = now().filter(|_| fd > libc::STDERR_FILENO) {
        // SAFETY: there is a path, which is empty.
        unsafe { note((fd, c"".as_ptr(), libc::AT_EMPTY_PATH), deed, now) };
    }
}

/// So many bytes were written, if they were.
pub(super) fn wrote(fd: c_int, written: ssize_t) -> ssize_t {
    if written > 0 {
        noted(fd, Deed::Write);
    }
    written
}

/// Opens a file by what `open` does, and notes whether it is made or emptied.
///
/// # Safety
/// As `openat`.
unsafe fn opened(
    (folder, path, flags): (c_int, *const c_char, c_int),
    open: impl FnOnce() -> c_int,
) -> c_int {
    if let Some(system) = system::get() {
        // SAFETY: the caller's promise.
        unsafe {
            if fifo::has_another_side(folder, path, flags) {
                return fifo::open(system, folder, path, flags).unwrap_or_else(open);
            }
        }
    }
    let makes = flags & libc::O_CREAT != 0;
    if !makes && flags & libc::O_TRUNC == 0 || now().is_none() {
        return open();
    }
    // SAFETY: the caller's promise.
    let was_there = !makes || unsafe { libc::faccessat(folder, path, libc::F_OK, 0) } == 0;
    let fd = open();
    if fd >= 0 && !was_there {
        noted(fd, Deed::Make);
    } else if fd >= 0 && flags & libc::O_TRUNC != 0 {
        noted(fd, Deed::Write);
    }
    fd
}

/// Two functions of the C library that are one where files may be of any size.
macro_rules! opens {
    ($(($name:ident, $symbol:literal))*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(path: *const c_char, flags: c_int, mode: mode_t) -> c_int {
            static HIDDEN: Hidden = Hidden::new($symbol);
            let Some(hidden) = HIDDEN.found() else {
                return -1;
            };
            // SAFETY: the caller's promise, and the type of a function of this name.
            unsafe {
                let open = || transmute::<*mut c_void, Open>(hidden)(path, flags, mode);
                opened((libc::AT_FDCWD, path, flags), open)
            }
        }
    )*};
}

macro_rules! opens_at {
    ($(($name:ident, $symbol:literal))*) => {$(
        /// # Safety
        /// As the C library's.
        #[unsafe(no_mangle)]
        unsafe extern "C" fn $name(
            folder: c_int,
            path: *const c_char,
            flags: c_int,
            mode: mode_t,
        ) -> c_int {
            static HIDDEN: Hidden = Hidden::new($symbol);
            let Some(hidden) = HIDDEN.found() else {
                return -1;
            };
            // SAFETY: the caller's promise, and the type of a function of this name.
            unsafe {
                let open = || transmute::<*mut c_void, OpenAt>(hidden)(folder, path, flags, mode);
                opened((folder, path, flags), open)
            }
        }
    )*};
}

opens! { (open, b"open\0") (open64, b"open64\0") }
opens_at! { (openat, b"openat\0") (openat64, b"openat64\0") }

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn write(fd: c_int, data: *const c_void, length: size_t) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"write\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    let mut length = length;
    if fd > libc::STDERR_FILENO {
        // SAFETY: the caller's promise.
        if let Some(written) = unsafe { sockets::written(fd, data, length) } {
            return written;
        }
        wait_where_it_blocks(fd, libc::POLLOUT);
        length = piece(fd, length);
    }
    // SAFETY: the caller's promise, and the type of a function of this name.
    wrote(fd, unsafe {
        transmute::<*mut c_void, Write>(hidden)(fd, data, length)
    })
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn pwrite64(
    fd: c_int,
    data: *const c_void,
    length: size_t,
    offset: off64_t,
) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"pwrite64\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    wrote(fd, unsafe {
        transmute::<*mut c_void, WriteAt>(hidden)(fd, data, length, offset)
    })
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn mkdir(path: *const c_char, mode: mode_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"mkdir\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        let outcome = transmute::<*mut c_void, MakeFolder>(hidden)(path, mode);
        if let (0, Some(now)) = (outcome, now()) {
            note((libc::AT_FDCWD, path, 0), Deed::Make, now);
        }
        outcome
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn ftruncate64(fd: c_int, length: off64_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"ftruncate64\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the type of a function of this name.
    let outcome = unsafe { transmute::<*mut c_void, Truncate>(hidden)(fd, length) };
    if outcome == 0 {
        noted(fd, Deed::Write);
    }
    outcome
}

/// What two times say, those of reading and of changing; none are the time that it is.
///
/// # Safety
/// It is null, or there are two.
unsafe fn set(times: *const timespec, now: Time) -> Deed {
    let told = |time: timespec| match time.tv_nsec {
        libc::UTIME_OMIT => None,
        libc::UTIME_NOW => Some(now),
        nanoseconds => Some(made_of(time.tv_sec, nanoseconds)),
    };
    let [read, changed] = if times.is_null() {
        [Some(now); 2]
    } else {
        // SAFETY: the caller's promise.
        unsafe { [told(*times), told(*times.add(1))] }
    };
    Deed::Set { changed, read }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn futimens(fd: c_int, times: *const timespec) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"futimens\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        let outcome = transmute::<*mut c_void, SetTimes>(hidden)(fd, times);
        if let (0, Some(now)) = (outcome, now()) {
            noted(fd, set(times, now));
        }
        outcome
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn utimensat(
    folder: c_int,
    path: *const c_char,
    times: *const timespec,
    flags: c_int,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"utimensat\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        let outcome = transmute::<*mut c_void, SetTimesAt>(hidden)(folder, path, times, flags);
        if let (0, Some(now), false) = (outcome, now(), path.is_null()) {
            let flags = flags & libc::AT_SYMLINK_NOFOLLOW;
            note((folder, path, flags), set(times, now), now);
        }
        outcome
    }
}
