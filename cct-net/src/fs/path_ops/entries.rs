//! Entries of directories: made, moved, removed, listed.

use super::{change, look, make_dir, on_path};
use crate::fs::read_dir::ReadDir;
use crate::fs::tree::Tree;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// Gives a file another name, or moves a directory. A file or an empty directory of the new name is
/// replaced in the same moment. Durable once one of the directories is flushed.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EACCES when a directory may not be changed; ENOTDIR, EISDIR or
/// ENOTEMPTY when what has the new name cannot be replaced; EINVAL when a directory would be inside
/// itself; EBUSY for paths that end in `.` or `..`.
#[track_caller]
pub fn rename(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> + Send {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    change(Location::caller(), move |tree| tree.rename(&from, &to))
}

/// Gives a file a further name. A symbolic link is not followed.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EEXIST when there is something at the new name, EPERM for a
/// directory, EACCES when the directory may not be changed.
#[track_caller]
pub fn hard_link(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> + Send {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    change(Location::caller(), move |tree| {
        tree.hard_link(&original, &link)
    })
}

/// Makes a symbolic link, which leads to a path from the directory it is in; nothing need be there.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EEXIST when there is something at the new name, EACCES when the
/// directory may not be changed.
#[track_caller]
pub fn symlink(
    original: impl AsRef<Path>,
    link: impl AsRef<Path>,
) -> impl Future<Output = io::Result<()>> + Send {
    let (original, link) = (original.as_ref().to_owned(), link.as_ref().to_owned());
    let site = Location::caller();
    change(site, move |tree| tree.symlink(&original, &link, site))
}

/// Where a symbolic link leads, as it was made.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EINVAL for what is no symbolic link.
#[track_caller]
pub fn read_link(path: impl AsRef<Path>) -> impl Future<Output = io::Result<PathBuf>> + Send {
    look(path, Location::caller(), Tree::read_link)
}

/// Removes a name of a file. What has the file open keeps it.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EISDIR for a directory, EACCES when the directory it is in may
/// not be changed.
#[track_caller]
pub fn remove_file(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> + Send {
    let path = path.as_ref().to_owned();
    change(Location::caller(), move |tree| tree.remove_file(&path))
}

/// Makes a directory.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EEXIST when there is something, EACCES when the directory above
/// may not be changed.
#[track_caller]
pub fn create_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> + Send {
    make_dir(path.as_ref().to_owned(), (false, 0o777), Location::caller())
}

/// Makes a directory, and those above it that are missing.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EEXIST or ENOTDIR when there is something that is no directory,
/// EACCES when one that is there may not be changed.
///
/// # Differences from tokio
/// Nobody sees only some of them, but a crash may leave them so.
#[track_caller]
pub fn create_dir_all(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> + Send {
    make_dir(path.as_ref().to_owned(), (true, 0o777), Location::caller())
}

/// Removes an empty directory.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); ENOTDIR for a file, ENOTEMPTY when there is something in it,
/// EACCES when the directory above may not be changed, EBUSY for the root.
#[track_caller]
pub fn remove_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> + Send {
    let path = path.as_ref().to_owned();
    change(Location::caller(), move |tree| tree.remove_dir(&path))
}

/// Removes a directory with all that is in it. Symbolic links are removed, not followed.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// As for [`remove_file`] and [`remove_dir`], and EACCES when a directory may not be read: then part of
/// it may be gone.
///
/// # Differences from tokio
/// Nobody sees only some of it gone, but a crash may leave it so.
#[track_caller]
pub fn remove_dir_all(path: impl AsRef<Path>) -> impl Future<Output = io::Result<()>> + Send {
    let path = path.as_ref().to_owned();
    change(Location::caller(), move |tree| tree.remove_dir_all(&path))
}

/// What is in a directory, as it is now.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors); ENOTDIR for a file, EACCES when the directory may not be read.
///
/// # Differences from tokio
/// The order is a choice: that of the names, or the reverse. What changes later is not seen.
#[track_caller]
pub fn read_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<ReadDir>> + Send {
    let path = path.as_ref().to_owned();
    let what = (OpKind::Read, Access::Read);
    on_path(what, Location::caller(), move |drive| {
        ReadDir::open(drive, &path)
    })
}
