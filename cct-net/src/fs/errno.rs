//! Errors as Linux gives them: with their number, so that kind and text are the real ones.

use std::io;

/// An error number of Linux.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Errno(i32);

impl Errno {
    pub(super) const EPERM: Errno = Errno(1);
    pub(super) const ENOENT: Errno = Errno(2);
    pub(super) const EIO: Errno = Errno(5);
    pub(super) const EBADF: Errno = Errno(9);
    pub(super) const EACCES: Errno = Errno(13);
    pub(super) const EBUSY: Errno = Errno(16);
    pub(super) const EEXIST: Errno = Errno(17);
    pub(super) const ENOTDIR: Errno = Errno(20);
    pub(super) const EISDIR: Errno = Errno(21);
    pub(super) const EINVAL: Errno = Errno(22);
    pub(super) const EFBIG: Errno = Errno(27);
    pub(super) const ENOSPC: Errno = Errno(28);
    pub(super) const ENAMETOOLONG: Errno = Errno(36);
    pub(super) const ENOTEMPTY: Errno = Errno(39);
    pub(super) const ELOOP: Errno = Errno(40);
}

impl From<Errno> for io::Error {
    fn from(errno: Errno) -> io::Error {
        io::Error::from_raw_os_error(errno.0)
    }
}
