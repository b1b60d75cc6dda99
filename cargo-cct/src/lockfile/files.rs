//! Reading and writing files as a whole, those that need not exist among them.

use super::rules::Content;
use anyhow::{Context as _, Result};
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::Path;

/// What the file says, if it is there.
pub(super) fn read(path: &Path) -> Result<Content> {
    match fs::read(path) {
        Ok(content) => Ok(Some(content)),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(error).with_context(|| format!("cannot read `{}`", path.display())),
    }
}

/// All at once, so that nobody, and no power cut, sees half a file.
pub(super) fn replace(path: &Path, content: &Content) -> Result<()> {
    let Some(content) = content else {
        return remove(path);
    };
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let new = path.with_file_name(format!(".{name}.cargo-cct"));
    let write = || {
        let mut file = File::create(&new)?;
        file.write_all(content)?;
        if let Ok(old) = fs::metadata(path) {
            file.set_permissions(old.permissions())?;
        }
        file.sync_all()?;
        fs::rename(&new, path)
    };
    write().with_context(|| format!("cannot write `{}`", path.display()))
}

/// It need not be there.
pub(super) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(error).with_context(|| format!("cannot remove `{}`", path.display()))
        }
        _ => Ok(()),
    }
}
