//! The system's handle of a `File`.

use super::File;

#[cfg(unix)]
mod unix {
    use super::File;
    use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd, RawFd};

    impl From<OwnedFd> for File {
        #[track_caller]
        fn from(fd: OwnedFd) -> File {
            File::from_std(fd.into())
        }
    }

    impl AsFd for File {
        fn as_fd(&self) -> BorrowedFd<'_> {
            self.std.as_fd()
        }
    }

    impl AsRawFd for File {
        fn as_raw_fd(&self) -> RawFd {
            self.std.as_raw_fd()
        }
    }
}

#[cfg(windows)]
mod windows {
    use super::File;
    use std::os::windows::io::{AsHandle, AsRawHandle, BorrowedHandle, OwnedHandle, RawHandle};

    impl From<OwnedHandle> for File {
        #[track_caller]
        fn from(handle: OwnedHandle) -> File {
            File::from_std(handle.into())
        }
    }

    impl AsHandle for File {
        fn as_handle(&self) -> BorrowedHandle<'_> {
            self.std.as_handle()
        }
    }

    impl AsRawHandle for File {
        fn as_raw_handle(&self) -> RawHandle {
            self.std.as_raw_handle()
        }
    }
}
