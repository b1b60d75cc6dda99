//! Calls that block a thread until the machine has something for it: bytes in a pipe, a process that has ended, a lock of
//! a file. In a world the others go on meanwhile, where that can be, as those of other threads do.
//!
//! Not among them: `select`, `fcntl`, and `open` of a pipe by its path.

use super::machine::{milliseconds, patience, wait, wait_where_it_blocks, would_wait};
use super::{Hidden, sockets};
use crate::system;
use libc::{c_int, c_void, epoll_event, id_t, idtype_t, nfds_t, pid_t, pollfd, size_t, ssize_t};
use std::io;
use std::mem::transmute;
use std::time::Duration;

type Read = unsafe extern "C" fn(c_int, *mut c_void, size_t) -> ssize_t;
type Poll = unsafe extern "C" fn(*mut pollfd, nfds_t, c_int) -> c_int;
type Events = unsafe extern "C" fn(c_int, *mut epoll_event, c_int, c_int) -> c_int;
type WaitPid = unsafe extern "C" fn(pid_t, *mut c_int, c_int) -> pid_t;
type WaitId = unsafe extern "C" fn(idtype_t, id_t, *mut libc::siginfo_t, c_int) -> c_int;
type Lock = unsafe extern "C" fn(c_int, c_int) -> c_int;

pub(super) fn keep() {
    std::hint::black_box((read as Read, poll as Poll, epoll_wait as Events));
    std::hint::black_box((waitpid as WaitPid, waitid as WaitId, flock as Lock));
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn read(fd: c_int, into: *mut c_void, length: size_t) -> ssize_t {
    static HIDDEN: Hidden = Hidden::new(b"read\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    wait_where_it_blocks(fd, libc::POLLIN);
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, Read>(hidden)(fd, into, length) }
}

/// How much of so much may be written to a descriptor without waiting in the middle, once there is room for anything:
/// all, but to a pipe.
pub(super) fn piece(fd: c_int, length: size_t) -> size_t {
    if length <= libc::PIPE_BUF || system::get().is_none() {
        return length;
    }
    let mut found = std::mem::MaybeUninit::<libc::stat>::uninit();
    // SAFETY: the buffer has room for it, and is looked at only where it was filled.
    let is_pipe = unsafe {
        libc::fstat(fd, found.as_mut_ptr()) == 0
            && found.assume_init().st_mode & libc::S_IFMT == libc::S_IFIFO
    };
    if is_pipe { libc::PIPE_BUF } else { length }
}

/// As the machine does it.
///
/// # Safety
/// As `poll`.
pub(super) unsafe fn polled(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"poll\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, Poll>(hidden)(fds, count, timeout) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn poll(fds: *mut pollfd, count: nfds_t, timeout: c_int) -> c_int {
    if !fds.is_null() {
        // SAFETY: the caller's promise.
        let asked = unsafe { std::slice::from_raw_parts(fds, count as usize) };
        let reads = asked.iter().filter(|one| one.events & libc::POLLIN != 0);
        reads.for_each(|one| sockets::enter_if_it_listens(one.fd));
    }
    // SAFETY: the caller's promise.
    let call = |timeout| unsafe { polled(fds, count, timeout) };
    awaited(timeout, call)
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn epoll_wait(
    epoll: c_int,
    into: *mut epoll_event,
    most: c_int,
    timeout: c_int,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"epoll_wait\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    let call =
        |timeout| unsafe { transmute::<*mut c_void, Events>(hidden)(epoll, into, most, timeout) };
    awaited(timeout, call)
}

/// What a call returns that waits until it has anything else than 0, or for so many milliseconds.
fn awaited(timeout: c_int, call: impl Fn(c_int) -> c_int) -> c_int {
    let patience = patience(timeout);
    let Some(system) = would_wait(patience) else {
        return call(timeout);
    };
    let mut found = 0;
    wait(system, patience, &mut |within| {
        found = call(milliseconds(within));
        found != 0
    });
    if found < 0 { call(0) } else { found } // `errno` is another's by now
}

/// Waits until the call would not, which asks for a process.
fn wait_for_process((kind, id): (idtype_t, id_t), options: c_int) {
    let is_patient = options & libc::WNOHANG == 0;
    let Some(system) = system::get().filter(|_| is_patient) else {
        return;
    };
    let looks = options | libc::WNOHANG | libc::WNOWAIT;
    wait(system, Duration::MAX, &mut |within| {
        // SAFETY: all zeroes are a value of it, and there is one to be written.
        unsafe {
            let mut found: libc::siginfo_t = std::mem::zeroed();
            let options = if within.is_zero() {
                looks
            } else {
                looks & !libc::WNOHANG
            };
            waited(kind, id, &raw mut found, options) != 0 || found.si_pid() != 0
        }
    });
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn waitpid(process: pid_t, status: *mut c_int, options: c_int) -> pid_t {
    static HIDDEN: Hidden = Hidden::new(b"waitpid\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    let whom = match process {
        -1 => (libc::P_ALL, 0),
        1.. => (libc::P_PID, process.unsigned_abs()),
        0 => (libc::P_PGID, 0),
        _ => (libc::P_PGID, process.unsigned_abs()),
    };
    // What is asked for by the same names, but for the first, which is always meant.
    wait_for_process(whom, options | libc::WEXITED);
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, WaitPid>(hidden)(process, status, options) }
}

/// As the machine does it.
///
/// # Safety
/// As `waitid`.
unsafe fn waited(kind: idtype_t, id: id_t, into: *mut libc::siginfo_t, options: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"waitid\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, WaitId>(hidden)(kind, id, into, options) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn waitid(
    kind: idtype_t,
    id: id_t,
    into: *mut libc::siginfo_t,
    options: c_int,
) -> c_int {
    wait_for_process((kind, id), options);
    // SAFETY: the caller's promise.
    unsafe { waited(kind, id, into, options) }
}

/// Whether there are children none of which has ended: of one that has and was not waited for yet, nobody knows whether it
/// ever will be.
pub(crate) fn children_run() -> bool {
    let looks = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: all zeroes are a value of it, and there is one to be written.
    unsafe {
        let mut found: libc::siginfo_t = std::mem::zeroed();
        waited(libc::P_ALL, 0, &raw mut found, looks) == 0 && found.si_pid() == 0
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
unsafe extern "C" fn flock(fd: c_int, operation: c_int) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"flock\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the type of a function of this name.
    let call = |operation| unsafe { transmute::<*mut c_void, Lock>(hidden)(fd, operation) };
    let is_patient = operation & (libc::LOCK_NB | libc::LOCK_UN) == 0;
    let Some(system) = system::get().filter(|_| is_patient) else {
        return call(operation);
    };
    let mut outcome = -1;
    wait(system, Duration::MAX, &mut |within| {
        let at_once = if within.is_zero() { libc::LOCK_NB } else { 0 };
        outcome = call(operation | at_once);
        outcome == 0 || io::Error::last_os_error().kind() != io::ErrorKind::WouldBlock
    });
    if outcome == 0 { 0 } else { call(operation) } // `errno` is another's by now
}
