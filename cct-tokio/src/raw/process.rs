//! The setter of `Command` that is `unsafe`, and what is asked of processes.

use crate::process::Command;
use std::io;
use std::os::unix::process::CommandExt as _;
use std::process::Child;

impl Command {
    /// What the new process does before the program begins.
    ///
    /// # Safety
    /// As for [`pre_exec`](std::os::unix::process::CommandExt::pre_exec).
    pub unsafe fn pre_exec<F>(&mut self, f: F) -> &mut Command
    where
        F: FnMut() -> io::Result<()> + Send + Sync + 'static,
    {
        // SAFETY: the caller says so.
        unsafe { self.as_std_mut().pre_exec(f) };
        self
    }
}

/// Whether a process has ended, or is somebody else's by now. How it has ended can still be asked.
pub(crate) fn has_ended(child: &Child) -> bool {
    // SAFETY: all zeros are a record of this kind.
    let mut found: libc::siginfo_t = unsafe { std::mem::zeroed() };
    let how = libc::WEXITED | libc::WNOHANG | libc::WNOWAIT;
    // SAFETY: the record lives.
    let answer = unsafe { libc::waitid(libc::P_PID, child.id(), &raw mut found, how) };
    // SAFETY: it is that of the end of a process, or as it was.
    answer != 0 || unsafe { found.si_pid() } != 0
}
