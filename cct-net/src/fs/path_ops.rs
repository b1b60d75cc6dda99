//! Functions on paths, of the node that the calling task lives on.

mod about;
mod contents;
mod entries;

pub use about::{canonicalize, metadata, set_permissions, symlink_metadata, try_exists};
pub use contents::{copy, read, read_to_string, write};
pub use entries::{
    create_dir, create_dir_all, hard_link, read_dir, read_link, remove_dir, remove_dir_all,
    remove_file, rename, symlink,
};

use super::disks::Drive;
use super::operation::{Intent, Operation};
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
