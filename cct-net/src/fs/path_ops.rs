//! Functions on paths, of the node that the calling task lives on.

use super::disks::Drive;
use super::file::text_of;
use super::metadata::{Metadata, Permissions};
use super::open_options::OpenOptions;
use super::operation::{Intent, Operation};
use super::read_dir::ReadDir;
use super::tree::{ROOT, Tree};
use crate::errno::Errno;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};

type Site = &'static Location<'static>;

/// An operation on the disk of the node that polls it first.
pub(super) async fn on_path<T, F>(
    (kind, access): (OpKind, Access),
    site: Site,
    act: F,
) -> io::Result<T>
where
    F: FnOnce(&Drive) -> io::Result<T> + Send + 'static,
{
    let drive = Drive::current(site)?;
    let resource = drive.with(|disk| disk.tree.inode(ROOT).resource.clone())?;
    let intent = Intent {
        resource,
        kind,
        access,
        site,
    };
    Operation::new(drive, intent, act).await
}

async fn change<F>(site: Site, act: F) -> io::Result<()>
where
    F: FnOnce(&mut Tree) -> Result<(), Errno> + Send + 'static,
{
    let what = (OpKind::Set, Access::Write);
    on_path(what, site, move |drive| drive.tree(act)).await
}

pub(super) async fn make_dir(
    path: PathBuf,
    (recursive, mode): (bool, u32),
    site: Site,
) -> io::Result<()> {
    let make = move |tree: &mut Tree| match recursive {
        true => tree.create_dir_all(&path, mode, site),
        false => tree.create_dir(&path, mode, site),
    };
    change(site, make).await
}

/// Reads a whole file.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EISDIR for a directory, EACCES for a file that may not be read,
/// EIO from a disk with faults.
///
/// # Differences from tokio
/// Nobody can change the file halfway.
#[track_caller]
pub fn read(path: impl AsRef<Path>) -> impl Future<Output = io::Result<Vec<u8>>> + Send {
    let (path, site) = (path.as_ref().to_owned(), Location::caller());
    on_path((OpKind::Read, Access::Read), site, move |drive| {
        read_at(drive, &path, site)
    })
}

fn read_at(drive: &Drive, path: &Path, site: Site) -> io::Result<Vec<u8>> {
    let file = OpenOptions::new().read(true).open_at(drive, path, site)?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Reads a whole file, as text.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Nothing is lost.
///
/// # Errors
/// As for [`read`], and `InvalidData` when it is no UTF-8.
///
/// # Differences from tokio
/// Nobody can change the file halfway.
#[track_caller]
pub fn read_to_string(path: impl AsRef<Path>) -> impl Future<Output = io::Result<String>> + Send {
    let (path, site) = (path.as_ref().to_owned(), Location::caller());
    on_path((OpKind::Read, Access::Read), site, move |drive| {
        let bytes = read_at(drive, &path, site)?;
        Ok(text_of(&bytes)?.to_owned())
    })
}

/// Makes or empties a file, and writes all these bytes.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// Those of [paths](crate::fs#errors); EISDIR for a directory, EACCES for a file that may not be
/// written or a directory where none may be made, ENOSPC and EIO from a disk with faults: part of the
/// bytes may be there then.
///
/// # Differences from tokio
/// Nobody sees the file half written, but a crash may leave it so.
#[track_caller]
pub fn write(
    path: impl AsRef<Path>,
    contents: impl AsRef<[u8]>,
) -> impl Future<Output = io::Result<()>> + Send {
    let (path, site) = (path.as_ref().to_owned(), Location::caller());
    let bytes = contents.as_ref().to_owned();
    on_path((OpKind::Write, Access::Write), site, move |drive| {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        options.open_at(drive, &path, site)?.write_all(&bytes)
    })
}

/// Copies a file's bytes and permissions; returns how many bytes there were. Copying a file onto
/// itself empties it, as in tokio.
///
/// # Scheduling points
/// One.
///
/// # Cancel safety
/// Once polled, it happens, now or later.
///
/// # Errors
/// As for [`read`] and [`write()`], and `InvalidInput` when the source is no file.
///
/// # Differences from tokio
/// Nobody sees the copy half written, but a crash may leave it so.
#[track_caller]
pub fn copy(
    from: impl AsRef<Path>,
    to: impl AsRef<Path>,
) -> impl Future<Output = io::Result<u64>> + Send {
    let (from, to) = (from.as_ref().to_owned(), to.as_ref().to_owned());
    let site = Location::caller();
    on_path((OpKind::Write, Access::Write), site, move |drive| {
        copy_at(drive, &from, &to, site)
    })
}

/// In the order of the standard library, which both errors and what is left of permissions show.
fn copy_at(drive: &Drive, from: &Path, to: &Path, site: Site) -> io::Result<u64> {
    let source = OpenOptions::new().read(true).open_at(drive, from, site)?;
    let (is_file, mode) = drive.with(|disk| {
        let inode = disk.tree.inode(source.ino);
        (inode.is_file(), inode.mode)
    })?;
    if !is_file {
        let text = "the source path is neither a regular file nor a symlink to a regular file";
        return Err(io::Error::new(io::ErrorKind::InvalidInput, text));
    }
    let mut options = OpenOptions::new();
    options.write(true).create(true).truncate(true).mode(mode);
    let target = options.open_at(drive, to, site)?;
    drive.with(|disk| disk.tree.set_mode(target.ino, mode))?;
    let mut bytes = Vec::new();
    source.read_to_end(&mut bytes)?;
    target.write_all(&bytes)?;
    Ok(bytes.len() as u64)
}

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

fn look<T>(
    path: impl AsRef<Path>,
    site: Site,
    look: impl FnOnce(&mut Tree, &Path) -> Result<T, Errno> + Send + 'static,
) -> impl Future<Output = io::Result<T>> + Send {
    let path = path.as_ref().to_owned();
    on_path((OpKind::Get, Access::Read), site, move |drive| {
        drive.tree(|tree| look(tree, &path))
    })
}

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
