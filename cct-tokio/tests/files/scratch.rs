//! Directories for tests.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// An empty directory, gone when this is dropped. Its name has one length, as contracts look at paths that
/// are almost too long.
pub(crate) struct Scratch(PathBuf);

/// Worlds may run at the same time.
static MADE: AtomicU32 = AtomicU32::new(0);

impl Scratch {
    pub(crate) fn new(name: &str) -> Scratch {
        let (process, number) = (std::process::id(), MADE.fetch_add(1, Relaxed));
        let name = format!("cct-{process}-{number}-{name}");
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir(&path).expect("a directory for a test");
        Scratch(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}
