//! Whole files: read, written, copied.

use super::on_path;
use crate::fs::disks::Drive;
use crate::fs::file::text_of;
use crate::fs::open_options::OpenOptions;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::panic::Location;
use std::path::Path;

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

fn read_at(drive: &Drive, path: &Path, site: &'static Location<'static>) -> io::Result<Vec<u8>> {
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
fn copy_at(
    drive: &Drive,
    from: &Path,
    to: &Path,
    site: &'static Location<'static>,
) -> io::Result<u64> {
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
