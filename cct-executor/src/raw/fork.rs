//! A copy of this process, for work whose traces in statics nobody else is to see.
//!
//! 1. The copy has one thread, that which called. It ends without running anything of its own behind the
//!    work: no destructors, no exit handlers, nothing that is left in buffers.
//! 2. What it says goes through a pipe that no program which it starts inherits.
//!
//! Does not: know what the work is. Whoever calls sees to it that no other thread of the process holds a
//! lock that the work needs: in the copy nobody would give it back.

use std::fs::File;
use std::io::{self, Read, Write};
use std::os::fd::FromRawFd;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// A process that works. Killed when it is dropped before it was waited for.
pub(crate) struct Forked {
    process: libc::pid_t,
    said: Option<File>,
}

/// How such a process came to its end.
#[derive(Debug)]
pub(crate) enum Ended {
    /// With an answer.
    Said(Vec<u8>),
    /// By itself, with this status, before it had one.
    Exited(i32),
    /// By a signal.
    Killed(i32),
}

impl Forked {
    /// Begins the work, whose result is its answer.
    ///
    /// # Errors
    /// If the system has no room for another process or pipe.
    pub(crate) fn begin(work: impl FnOnce() -> Vec<u8>) -> io::Result<Forked> {
        let (said, mut says) = pipe()?;
        // SAFETY: the copy goes on with code that any thread of a process with one thread may run, under
        // the condition above; the C library keeps its own locks usable.
        let process = cct_interpose::uncounted(|| unsafe { libc::fork() });
        match process {
            -1 => Err(io::Error::last_os_error()),
            0 => {
                drop(said);
                let answer = catch_unwind(AssertUnwindSafe(work)).unwrap_or_default();
                let length = (answer.len() as u64).to_le_bytes();
                let written = says
                    .write_all(&length)
                    .and_then(|()| says.write_all(&answer));
                // SAFETY: ends the process at once.
                unsafe { libc::_exit(i32::from(written.is_err())) }
            }
            _ => Ok(Forked {
                process,
                said: Some(said),
            }),
        }
    }

    /// Waits until it has ended.
    ///
    /// # Errors
    /// If the system cannot tell.
    pub(crate) fn wait(mut self) -> io::Result<Ended> {
        let mut bytes = Vec::new();
        let mut said = self.said.take().expect("cct bug: waited for twice");
        said.read_to_end(&mut bytes)?;
        let status = reap(self.process)?;
        let length = bytes.first_chunk().map(|chunk| u64::from_le_bytes(*chunk));
        if length.is_some_and(|length| length == bytes.len() as u64 - 8) {
            return Ok(Ended::Said(bytes.split_off(8)));
        }
        Ok(if libc::WIFSIGNALED(status) {
            Ended::Killed(libc::WTERMSIG(status))
        } else {
            Ended::Exited(libc::WEXITSTATUS(status))
        })
    }
}

impl Drop for Forked {
    fn drop(&mut self) {
        if self.said.is_some() {
            // SAFETY: takes numbers; the process is ours, and nobody has waited for it.
            unsafe { libc::kill(self.process, libc::SIGKILL) };
            let _ = reap(self.process);
        }
    }
}

/// The ends to read and to write.
fn pipe() -> io::Result<(File, File)> {
    let mut ends = [0; 2];
    // SAFETY: there is room for both.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } == -1 {
        return Err(io::Error::last_os_error());
    }
    for end in ends {
        // SAFETY: takes numbers.
        unsafe { libc::fcntl(end, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    // SAFETY: both were made here, and belong to nobody else.
    unsafe { Ok((File::from_raw_fd(ends[0]), File::from_raw_fd(ends[1]))) }
}

fn reap(process: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: there is room for the status.
        let reaped = unsafe { libc::waitpid(process, &raw mut status, 0) };
        if reaped == process {
            return Ok(status);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Ended, Forked};
    use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

    #[test]
    fn what_it_leaves_in_statics_is_seen_by_nobody() {
        static LEFT: AtomicU32 = AtomicU32::new(0);
        for _ in 0..3 {
            let child = Forked::begin(|| vec![LEFT.fetch_add(1, Relaxed) as u8; 100_000]);
            let ended = child.unwrap().wait().unwrap();
            assert!(matches!(ended, Ended::Said(said) if said == vec![0; 100_000]));
        }
        assert_eq!(LEFT.load(Relaxed), 0);
    }

    #[test]
    fn an_early_end_is_told() {
        let exits = Forked::begin(|| std::process::exit(3)).unwrap();
        assert!(matches!(exits.wait().unwrap(), Ended::Exited(3)));
        let aborts = Forked::begin(|| std::process::abort()).unwrap();
        assert!(matches!(
            aborts.wait().unwrap(),
            Ended::Killed(libc::SIGABRT)
        ));
    }

    #[test]
    fn one_that_is_not_waited_for_is_ended() {
        let endless = Forked::begin(|| {
            loop {
                std::hint::spin_loop();
            }
        });
        drop(endless.unwrap());
    }
}
