//! The folder in the target folder that is ours, held by one `cargo cct` at a time.

use crate::interrupt;
use crate::say;
use anyhow::{Context as _, Result};
use fs4::{FileExt, TryLockError};
use std::fs::{self, File};
use std::io::{Read as _, Seek as _, Write as _};
use std::path::{Path, PathBuf};

/// The folder, for as long as this lives nobody else's.
#[derive(Debug)]
pub(crate) struct Place {
    folder: PathBuf,
    _held: File,
}

impl Place {
    /// Enters the folder, after whoever is in it; `who` is told to those who wait then.
    pub(crate) fn enter(folder: PathBuf, who: &Path) -> Result<Self> {
        let path = folder.join("held");
        let held = hold(&folder, &path, who)
            .with_context(|| format!("cannot hold the folder `{}`", folder.display()))?;
        Ok(Self {
            folder,
            _held: held,
        })
    }

    pub(crate) fn join(&self, name: &str) -> PathBuf {
        self.folder.join(name)
    }
}

fn hold(folder: &Path, path: &Path, who: &Path) -> Result<File> {
    fs::create_dir_all(folder)?;
    let mut file = File::options()
        .read(true)
        .write(true)
        .create(true)
        .truncate(false)
        .open(path)?;
    // Those of `File` itself are younger than the oldest compiler.
    match FileExt::try_lock(&file) {
        Ok(()) => {}
        Err(TryLockError::WouldBlock) => {
            say::note(format_args!(
                "waiting for {}, which uses `{}`",
                holder(&mut file),
                folder.display()
            ));
            interrupt::ends_at_once(|| FileExt::lock(&file))?;
        }
        Err(TryLockError::Error(error)) => return Err(error.into()),
    }
    file.set_len(0)?;
    file.rewind()?;
    write!(file, "{} in `{}`", std::process::id(), who.display())?;
    Ok(file)
}

/// Where a file that is held can be read.
fn holder(file: &mut File) -> String {
    let mut text = String::new();
    match file.read_to_string(&mut text) {
        Ok(1..) => format!("the `cargo cct` of process {text}"),
        _ => "another `cargo cct`".to_owned(),
    }
}
