//! Functions that take paths.

use crate::pool;
use std::fs::{Metadata, Permissions};
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

/// Functions that do what those of the standard library do, in a blocking task.
macro_rules! by_path {
    ($($(#[$about:meta])* $name:ident($($path:ident),*) -> $Output:ty: $does:path;)*) => {$(
        $(#[$about])*
        #[doc = concat!("See [`", stringify!($does), "`].")]
        #[track_caller]
        pub fn $name($($path: impl AsRef<Path>),*) -> impl Future<Output = io::Result<$Output>> {
            let site = Location::caller();
            async move {
                $(let $path = $path.as_ref().to_owned();)*
                pool::run(site, concat!("fs::", stringify!($name)), move || $does($($path),*)).await
            }
        }
    )*};
}

by_path! {
    /// Where a path leads to, as an absolute one without symbolic links.
    canonicalize(path) -> PathBuf: std::fs::canonicalize;
    /// Makes a directory.
    create_dir(path) -> (): std::fs::create_dir;
    /// Makes a directory, and those on the way to it.
    create_dir_all(path) -> (): std::fs::create_dir_all;
    /// What is known of the file that a path leads to.
    metadata(path) -> Metadata: std::fs::metadata;
    /// What is known of a file, which may be a symbolic link itself.
    symlink_metadata(path) -> Metadata: std::fs::symlink_metadata;
    /// All that a file holds.
    read(path) -> Vec<u8>: std::fs::read;
    /// All that a file holds, as text.
    read_to_string(path) -> String: std::fs::read_to_string;
    /// What a symbolic link says.
    read_link(path) -> PathBuf: std::fs::read_link;
    /// Removes an empty directory.
    remove_dir(path) -> (): std::fs::remove_dir;
    /// Removes a directory with all that it holds.
    remove_dir_all(path) -> (): std::fs::remove_dir_all;
    /// Removes a file.
    remove_file(path) -> (): std::fs::remove_file;
    /// Whether a path leads to anything.
    try_exists(path) -> bool: std::fs::exists;
    /// Copies what a file holds, and its permissions. How many bytes that were.
    copy(from, to) -> u64: std::fs::copy;
    /// Gives a file another name, in the place of what had it.
    rename(from, to) -> (): std::fs::rename;
    /// Gives a file one more name.
    hard_link(original, link) -> (): std::fs::hard_link;
    /// Makes a symbolic link.
    #[cfg(unix)]
    symlink(original, link) -> (): std::os::unix::fs::symlink;
    /// Makes a symbolic link to a directory.
    #[cfg(windows)]
    symlink_dir(original, link) -> (): std::os::windows::fs::symlink_dir;
    /// Makes a symbolic link to a file.
    #[cfg(windows)]
    symlink_file(original, link) -> (): std::os::windows::fs::symlink_file;
}

/// Changes who may do what with a file. See [`std::fs::set_permissions`].
#[track_caller]
pub fn set_permissions(
    path: impl AsRef<Path>,
    perm: Permissions,
) -> impl Future<Output = io::Result<()>> {
    let site = Location::caller();
    async move {
        let path = path.as_ref().to_owned();
        pool::run(site, "fs::set_permissions", move || {
            std::fs::set_permissions(path, perm)
        })
        .await
    }
}

/// Makes a file that holds this, in the place of what had its name. See [`std::fs::write`].
#[track_caller]
pub fn write(
    path: impl AsRef<Path>,
    contents: impl AsRef<[u8]>,
) -> impl Future<Output = io::Result<()>> {
    let site = Location::caller();
    async move {
        let (path, contents) = (path.as_ref().to_owned(), contents.as_ref().to_owned());
        pool::run(site, "fs::write", move || std::fs::write(path, contents)).await
    }
}
