//! Making directories in more ways than one.

use crate::pool;
use std::io;
use std::panic::Location;
use std::path::Path;

/// How directories are to be made.
#[derive(Debug, Default)]
pub struct DirBuilder {
    recursive: bool,
    #[cfg(unix)]
    mode: Option<u32>,
}

impl DirBuilder {
    /// Makes one directory, which must not be there.
    pub fn new() -> DirBuilder {
        DirBuilder::default()
    }

    /// Whether the directories on the way are made as well.
    pub fn recursive(&mut self, recursive: bool) -> &mut DirBuilder {
        self.recursive = recursive;
        self
    }

    /// The permissions of what is made.
    #[cfg(unix)]
    pub fn mode(&mut self, mode: u32) -> &mut DirBuilder {
        self.mode = Some(mode);
        self
    }

    /// Makes a directory.
    #[track_caller]
    pub fn create(&self, path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> {
        let site = Location::caller();
        async move {
            let (builder, path) = (self.std(), path.as_ref().to_owned());
            pool::run(site, "DirBuilder::create", move || builder.create(path)).await
        }
    }

    fn std(&self) -> std::fs::DirBuilder {
        let mut builder = std::fs::DirBuilder::new();
        builder.recursive(self.recursive);
        #[cfg(unix)]
        if let Some(mode) = self.mode {
            std::os::unix::fs::DirBuilderExt::mode(&mut builder, mode);
        }
        builder
    }
}
