//! What is told of files, and files that are none of the machine's: those of sockets that are bound to a path in a world.
//!
//! A path is looked up as it is given: links in it are not followed.

use super::{Hidden, file_times};
use crate::system::{self, OnFile, SocketFile};
use libc::{c_char, c_int, c_uint, c_void, mode_t};
use std::ffi::{CStr, OsStr};
use std::mem::transmute;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

pub(super) type Statx =
    unsafe extern "C" fn(c_int, *const c_char, c_int, c_uint, *mut libc::statx) -> c_int;
pub(super) type Unlink = unsafe extern "C" fn(*const c_char) -> c_int;
pub(super) type Chmod = unsafe extern "C" fn(*const c_char, mode_t) -> c_int;
pub(super) type Rename = unsafe extern "C" fn(*const c_char, *const c_char) -> c_int;

/// What is left of a mode beside the kind of the file.
const PERMISSIONS: u32 = 0o7777;

/// The path that a C string is.
///
/// # Safety
/// It is null, or a C string that lives for so long.
unsafe fn path_of<'a>(path: *const c_char) -> Option<&'a Path> {
    if path.is_null() {
        return None;
    }
    // SAFETY: the caller's promise.
    let bytes = unsafe { CStr::from_ptr(path) }.to_bytes();
    Some(Path::new(OsStr::from_bytes(bytes)))
}

/// Does it, if the file is none of the machine's.
///
/// # Safety
/// The path is null, or a C string.
unsafe fn done(path: *const c_char, what: OnFile<'_>) -> Option<SocketFile> {
    let system = system::get()?;
    // SAFETY: the caller's promise.
    (system.file)(unsafe { path_of(path) }?, what)
}

/// As the kernel tells of a file.
fn told(file: SocketFile) -> libc::statx {
    // SAFETY: all zeroes are a value of it.
    let mut told: libc::statx = unsafe { std::mem::zeroed() };
    let mut made = told.stx_btime;
    made.tv_sec = i64::try_from(file.made.as_secs()).unwrap_or(i64::MAX);
    made.tv_nsec = file.made.subsec_nanos();
    told.stx_mask = libc::STATX_BASIC_STATS | libc::STATX_BTIME;
    told.stx_blksize = 4096;
    told.stx_nlink = 1;
    // SAFETY: the calls take nothing.
    (told.stx_uid, told.stx_gid) = unsafe { (libc::geteuid(), libc::getegid()) };
    told.stx_mode = (libc::S_IFSOCK | file.mode & PERMISSIONS) as u16;
    told.stx_ino = file.number;
    told.stx_atime = made;
    told.stx_btime = made;
    told.stx_ctime = made;
    told.stx_mtime = made;
    told
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn statx(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    into: *mut libc::statx,
) -> c_int {
    // SAFETY: the caller's promise.
    unsafe {
        if folder == libc::AT_FDCWD && !into.is_null() {
            if let Some(file) = done(path, OnFile::Look) {
                into.write(told(file));
                return 0;
            }
        }
        let Some(now) = file_times::now().filter(|_| !into.is_null()) else {
            return of_the_machine(folder, path, flags, mask, into);
        };
        let outcome = of_the_machine(folder, path, flags, mask | file_times::TIMES, into);
        if outcome == 0 {
            file_times::show(&mut *into, now);
        }
        outcome
    }
}

/// As the machine tells of a file.
///
/// # Safety
/// As the C library's.
pub(super) unsafe fn of_the_machine(
    folder: c_int,
    path: *const c_char,
    flags: c_int,
    mask: c_uint,
    into: *mut libc::statx,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"statx\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe { transmute::<*mut c_void, Statx>(hidden)(folder, path, flags, mask, into) }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn unlink(path: *const c_char) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"unlink\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if done(path, OnFile::Remove).is_some() {
            return 0;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, Unlink>(hidden)(path)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn chmod(path: *const c_char, mode: mode_t) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"chmod\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if done(path, OnFile::SetMode(mode & PERMISSIONS)).is_some() {
            return 0;
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, Chmod>(hidden)(path, mode)
    }
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn rename(from: *const c_char, to: *const c_char) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"rename\0");
    // SAFETY: the caller's promise, and the type of a function of this name.
    unsafe {
        if let Some(to) = path_of(to) {
            if done(from, OnFile::Rename(to)).is_some() {
                return 0;
            }
        }
        let Some(hidden) = HIDDEN.found() else {
            return -1;
        };
        transmute::<*mut c_void, Rename>(hidden)(from, to)
    }
}
