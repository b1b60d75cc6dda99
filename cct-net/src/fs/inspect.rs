//! Looking at a disk from outside, as a test does.

use super::disks::Drive;
use super::tree::{Kind, ROOT, Tree};
use cct_executor::node::NodeId;
use std::collections::{BTreeMap, BTreeSet};
use std::panic::Location;
use std::path::{Path, PathBuf};

/// A file as a test finds it.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Inspected {
    /// A directory.
    Directory,
    /// A file, and what programs read in it.
    File(Vec<u8>),
    /// A symbolic link, and where it leads.
    Symlink(PathBuf),
}

/// All that is on a node's disk now, as its programs would see it; the root itself left out. Passes
/// no scheduling point, and works while the node is down. Empty outside a scenario.
#[track_caller]
pub fn inspect(node: NodeId) -> BTreeMap<PathBuf, Inspected> {
    let mut found = BTreeMap::new();
    if let Ok(drive) = Drive::of(node, Location::caller()) {
        let listed = drive.with(|disk| list(&mut disk.tree, ROOT, Path::new("/"), &mut found));
        debug_assert!(listed.is_ok(), "cct bug: a disk that is stale at once");
    }
    found
}

/// How many losses of one crash are told.
const TOLD: usize = 6;

/// What a crash took, in words; empty if nothing.
pub(super) fn losses(
    before: &BTreeMap<PathBuf, Inspected>,
    after: &BTreeMap<PathBuf, Inspected>,
) -> String {
    let paths: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let told = paths.into_iter().filter_map(|path| {
        let shown = path.display();
        match (before.get(path), after.get(path)) {
            (Some(_), None) => Some(format!("`{shown}` is gone")),
            (None, Some(_)) => Some(format!("`{shown}` is there again")),
            (Some(Inspected::File(old)), Some(Inspected::File(new))) if old != new => {
                let (old, new) = (old.len(), new.len());
                Some(match old == new {
                    true => format!("`{shown}` holds other bytes"),
                    false => format!("`{shown}` holds {new} bytes, not {old}"),
                })
            }
            (old, new) if old != new => Some(format!("`{shown}` is another")),
            _ => None,
        }
    });
    let mut told: Vec<String> = told.collect();
    let more = told.len().saturating_sub(TOLD);
    told.truncate(TOLD);
    if more > 0 {
        told.push(format!("and {more} more"));
    }
    told.join(", ")
}

fn list(tree: &mut Tree, ino: u32, path: &Path, found: &mut BTreeMap<PathBuf, Inspected>) {
    let Kind::Directory(directory) = &tree.inode(ino).kind else {
        return;
    };
    for (name, child) in directory.entries.clone() {
        let path = path.join(name);
        let inspected = match &tree.inode(child).kind {
            Kind::File(content) => Inspected::File(content.bytes().to_vec()),
            Kind::Directory(_) => Inspected::Directory,
            Kind::Symlink(target) => Inspected::Symlink(target.clone()),
        };
        found.insert(path.clone(), inspected);
        list(tree, child, &path, found);
    }
}
