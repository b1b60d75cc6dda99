//! `DirBuilder`.

use super::path_ops::make_dir;
use std::io;
use std::panic::Location;
use std::path::Path;

/// How a directory is to be made.
#[derive(Debug)]
pub struct DirBuilder {
    recursive: bool,
    mode: u32,
}

impl Default for DirBuilder {
    fn default() -> DirBuilder {
        DirBuilder {
            recursive: false,
            mode: 0o777,
        }
    }
}

impl DirBuilder {
    /// Only the directory itself.
    pub fn new() -> DirBuilder {
        DirBuilder::default()
    }

    /// Also those above it that are missing; then it may be there already.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.recursive = recursive;
        self
    }

    /// The permissions of what is made; group and others never may write (`umask` is 022). 0o777 at
    /// first.
    pub fn mode(&mut self, mode: u32) -> &mut DirBuilder {
        self.mode = mode;
        self
    }

    /// Makes the directory.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// As for [`create_dir`](super::create_dir) or [`create_dir_all`](super::create_dir_all).
    #[track_caller]
    pub fn create<P: AsRef<Path>>(
        &self,
        path: P,
    ) -> impl Future<Output = io::Result<()>> + Send + use<P> {
        let (path, site) = (path.as_ref().to_owned(), Location::caller());
        make_dir(path, (self.recursive, self.mode), site)
    }
}
