//! Flags of `open` that have no method of their own.

use crate::errno::Errno;
use std::io;

/// Flags as the C library has them.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct CustomFlags(i32);

/// What makes no difference to a file on a simulated disk: nothing blocks, no program is started, and every
/// file is its reader's own.
const WITHOUT_EFFECT: i32 =
    libc::O_CLOEXEC | libc::O_NOCTTY | libc::O_NONBLOCK | libc::O_LARGEFILE | libc::O_NOATIME;

impl CustomFlags {
    /// How the file is accessed is none of their business.
    pub(super) fn new(flags: i32) -> CustomFlags {
        CustomFlags(flags & !libc::O_ACCMODE)
    }

    /// Whether a symbolic link at the end of the path is an error.
    pub(super) fn keeps_off_links(self) -> bool {
        self.0 & libc::O_NOFOLLOW != 0
    }

    /// Whether there has to be a directory.
    pub(super) fn wants_directory(self) -> bool {
        self.0 & libc::O_DIRECTORY != 0
    }

    pub(super) fn check(self, creates: bool) -> io::Result<()> {
        let known = WITHOUT_EFFECT | libc::O_NOFOLLOW | libc::O_DIRECTORY;
        let others = self.0 & !known;
        if others != 0 {
            let text = format!(
                "custom flags {others:#o} of a file are not modelled: O_NOFOLLOW and O_DIRECTORY are"
            );
            return Err(io::Error::new(io::ErrorKind::Unsupported, text));
        }
        match creates && self.wants_directory() {
            true => Err(Errno::EINVAL.into()),
            false => Ok(()),
        }
    }

    /// What stands at the end of a path may be opened.
    pub(super) fn allow(self, is_symlink: bool, is_directory: bool) -> Result<(), Errno> {
        if self.wants_directory() && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        match is_symlink {
            true => Err(Errno::ELOOP),
            false => Ok(()),
        }
    }
}
