//! Files of the folder.

use anyhow::{Context as _, Result};
use std::fs;
use std::path::Path;

/// Cargo builds again what is newer than it was.
pub(super) fn write_if_changed(path: &Path, text: &str) -> Result<()> {
    if fs::read_to_string(path).is_ok_and(|present| present == text) {
        return Ok(());
    }
    let parent = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(parent)
        .and_then(|()| fs::write(path, text))
        .with_context(|| format!("cannot write `{}`", path.display()))
}

/// A manifest, read.
pub(super) fn read_manifest(path: &Path) -> Result<toml_edit::DocumentMut> {
    let text =
        fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
    text.parse()
        .with_context(|| format!("`{}` is no manifest", path.display()))
}
