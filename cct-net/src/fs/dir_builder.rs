//! `DirBuilder`.

use super::path_ops::make_dir;
use std::io;
use std::panic::Location;
use std::path::Path;

/// How a directory is to be made.
///
/// # Differences from tokio
/// It has no mode: permissions of directories are not modelled.
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
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

    /// Makes the directory.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    #[track_caller]
    pub fn create<P: AsRef<Path>>(
        &self,
        path: P,
    ) -> impl Future<Output = io::Result<()>> + Send + use<P> {
        let (path, site) = (path.as_ref().to_owned(), Location::caller());
        make_dir(path, self.recursive, site)
    }
}
