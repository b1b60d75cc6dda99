//! The setter of `Command` that is `unsafe`.

use crate::process::Command;
use std::io;
use std::os::unix::process::CommandExt as _;

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
