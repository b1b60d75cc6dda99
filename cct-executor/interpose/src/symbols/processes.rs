//! Processes that code under control starts.
//!
//! What they do nobody here is told of: who waits for that looks now and then.

use super::{Hidden, threads};
use crate::system;
use libc::{c_char, c_int, c_void, pid_t, posix_spawn_file_actions_t, posix_spawnattr_t};
use std::mem::transmute;
use std::time::Duration;

pub(super) type Fork = unsafe extern "C" fn() -> pid_t;
pub(super) type Spawn = unsafe extern "C" fn(
    *mut pid_t,
    *const c_char,
    *const posix_spawn_file_actions_t,
    *const posix_spawnattr_t,
    *const *mut c_char,
    *const *mut c_char,
) -> c_int;

fn note(started: bool) {
    if started && system::get().is_some() {
        threads::note_process();
    }
}

/// The processor's time that the other threads of the process have taken.
pub(crate) fn time_of_others() -> Duration {
    let taken = |who| {
        // SAFETY: all zeroes are a value of it, and there is one to be written.
        let usage = unsafe {
            let mut usage: libc::rusage = std::mem::zeroed();
            libc::getrusage(who, &raw mut usage);
            usage
        };
        let time = |time: libc::timeval| {
            Duration::new(time.tv_sec.unsigned_abs(), 0)
                + Duration::from_micros(time.tv_usec.unsigned_abs())
        };
        time(usage.ru_utime) + time(usage.ru_stime)
    };
    taken(libc::RUSAGE_SELF).saturating_sub(taken(libc::RUSAGE_THREAD))
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn fork() -> pid_t {
    static HIDDEN: Hidden = Hidden::new(b"fork\0");
    let Some(hidden) = HIDDEN.found() else {
        return -1;
    };
    // SAFETY: the type of a function of this name.
    let process = unsafe { transmute::<*mut c_void, Fork>(hidden)() };
    if process == 0 {
        // Nobody else of the world is in the copy, who could go on where this thread waits.
        system::set(None);
        threads::is_a_copy();
    }
    note(process > 0);
    process
}

/// # Safety
/// As the C library's.
#[unsafe(no_mangle)]
pub(super) unsafe extern "C" fn posix_spawnp(
    process: *mut pid_t,
    file: *const c_char,
    actions: *const posix_spawn_file_actions_t,
    attributes: *const posix_spawnattr_t,
    arguments: *const *mut c_char,
    environment: *const *mut c_char,
) -> c_int {
    static HIDDEN: Hidden = Hidden::new(b"posix_spawnp\0");
    let hidden = HIDDEN.get();
    if hidden.is_null() {
        return libc::ENOSYS;
    }
    // SAFETY: the type of a function of this name.
    let result = unsafe {
        let spawn = transmute::<*mut c_void, Spawn>(hidden);
        spawn(process, file, actions, attributes, arguments, environment)
    };
    note(result == 0);
    result
}
