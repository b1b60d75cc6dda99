//! What there is to know about a path, and its permissions.

use super::{change, look};
use crate::errno::Errno;
use crate::fs::metadata::{Metadata, Permissions};
use crate::fs::tree::Tree;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

fn metadata_of(tree: &mut Tree, path: &Path) -> Result<Metadata, Errno> {
    let ino = tree.lookup(path)?;
    Ok(Metadata::of(tree.inode(ino)))
}

/// What is known of a file or a directory.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors).
#[track_caller]
pub fn metadata(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Metadata>> + Send {
    look(path, Location::caller(), metadata_of)
}

/// As [`metadata`], but of a symbolic link itself instead of what it leads to.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors).
#[track_caller]
pub fn symlink_metadata(
    path: impl AsRef<Path>,
) -> impl Future<Output = io::Result<Metadata>> + Send {
    look(path, Location::caller(), |tree, path| {
        let ino = tree.lookup_link(path)?;
        Ok(Metadata::of(tree.inode(ino)))
    })
}

/// Whether something is there.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors), but for ENOENT, which is `false`.
#[track_caller]
pub fn try_exists(path: impl AsRef<Path>) -> impl Future<Output = io::Result<bool>> + Send {
    look(path, Location::caller(), |tree, path| {
        match tree.lookup(path) {
            Ok(_) => Ok(true),
            Err(Errno::ENOENT) => Ok(false),
            Err(error) => Err(error),
        }
    })
}

/// The path from the root, without `.`, `..` and symbolic links. Relative paths begin at the root.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors).
#[track_caller]
pub fn canonicalize(path: impl AsRef<Path>) -> impl Future<Output = io::Result<PathBuf>> + Send {
    look(path, Location::caller(), Tree::canonicalize)
}

/// Changes who may do what with a file or a directory.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors).
#[track_caller]
pub fn set_permissions(
    path: impl AsRef<Path>,
    permissions: Permissions,
) -> impl Future<Output = io::Result<()>> + Send {
    let path = path.as_ref().to_owned();
    change(Location::caller(), move |tree| {
        let ino = tree.lookup(&path)?;
        tree.set_mode(ino, permissions.bits());
        Ok(())
    })
}
