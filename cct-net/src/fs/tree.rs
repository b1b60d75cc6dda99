//! One node's file system: files, directories, and what of them is durable.
//!
//! Nothing here waits, chooses or wakes; choices are asked for where a crash needs them.
//!
//! 1. A directory knows its names twice: as programs see them, and as the disk has them.
//! 2. A file lives as long as a name, a change that is not durable, or a handle needs it.

mod crash;
mod inode;

pub(super) use inode::{Directory, Inode, Kind};

use super::content::Content;
use super::journal::{Entry, Ino, Journal};
use super::times::Times;
use crate::errno::Errno;
use cct_executor::node::NodeId;
use cct_executor::shim::{Resource, ResourceKind};
use cct_executor::words::fingerprint::{hash_of, mix2};
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::{OsStr, OsString};
use std::panic::Location;
use std::sync::Arc;

/// The root directory.
pub(super) const ROOT: Ino = 0;

/// The longest file: all of it is kept in memory.
pub(super) const SIZE_MAX: u64 = 1 << 30;

/// What the owner of a file may be allowed to do with it: read, write, look up names.
pub(super) const READ: u32 = 4;
pub(super) const WRITE: u32 = 2;
pub(super) const SEARCH: u32 = 1;

/// A file runs as its owner, or as its group; what is made in a directory belongs to its group.
const SET_USER: u32 = 0o4000;
pub(super) const SET_GROUP: u32 = 0o2000;
const GROUP_RUNS: u32 = 0o010;

/// Permissions that nothing new gets: what `umask` usually is.
const UMASK: u32 = 0o022;

/// The file system of one node.
#[derive(Default)]
pub(super) struct Tree {
    /// Whose clock times are of.
    pub(super) node: NodeId,
    pub(super) inodes: BTreeMap<Ino, Inode>,
    pub(super) journal: Journal,
    next: Ino,
    /// Number of the latest change.
    pub(super) seq: u64,
    /// How often each place was given to a new file, to tell the files apart.
    made: BTreeMap<(Ino, OsString), u32>,
}

impl Tree {
    pub(super) fn new(node: NodeId, site: &'static Location<'static>) -> Tree {
        let mut tree = Tree {
            node,
            ..Tree::default()
        };
        let root = (Kind::Directory(Directory::default()), 0o755);
        let root = tree.add(root, (ROOT, "/".into()), site);
        tree.inode(root).links = 1;
        let tmp = (Kind::Directory(Directory::default()), 0o777);
        tree.link_new(ROOT, "tmp".into(), tmp, site);
        tree.sync(ROOT, tree.seq, true);
        tree
    }

    fn add(
        &mut self,
        (kind, mode): (Kind, u32),
        place: (Ino, OsString),
        site: &'static Location<'static>,
    ) -> Ino {
        let ino = self.next;
        self.next += 1;
        let parent = self.inodes.get(&place.0).map_or(0, |inode| inode.identity);
        let name = hash_of(&place.1);
        let times = Times::new(self.now());
        let nth = self.made.entry(place).or_default();
        *nth += 1;
        let mode = match kind {
            Kind::Symlink(_) => mode,
            Kind::File(_) | Kind::Directory(_) => mode & 0o7777 & !UMASK,
        };
        let inode = Inode {
            kind,
            mode,
            times,
            durable: (mode, times),
            modes: Vec::new(),
            links: 0,
            handles: 0,
            resource: Arc::new(Resource::at(ResourceKind::File, site)),
            identity: mix2(mix2(parent, name), u64::from(*nth)),
        };
        self.inodes.insert(ino, inode);
        ino
    }

    pub(super) fn inode(&mut self, ino: Ino) -> &mut Inode {
        self.inodes
            .get_mut(&ino)
            .expect("cct bug: a file that is needed is gone")
    }

    pub(super) fn directory(&mut self, ino: Ino) -> Result<&mut Directory, Errno> {
        match &mut self.inode(ino).kind {
            Kind::Directory(directory) => Ok(directory),
            Kind::File(_) | Kind::Symlink(_) => Err(Errno::ENOTDIR),
        }
    }

    pub(super) fn content(&mut self, ino: Ino) -> Result<&mut Content, Errno> {
        match &mut self.inode(ino).kind {
            Kind::File(content) => Ok(content),
            Kind::Directory(_) => Err(Errno::EISDIR),
            Kind::Symlink(_) => Err(Errno::ELOOP),
        }
    }

    /// Whether the process, to which all files belong, may do this.
    pub(super) fn may(&mut self, ino: Ino, what: u32) -> Result<(), Errno> {
        match self.inode(ino).mode >> 6 & what == what {
            true => Ok(()),
            false => Err(Errno::EACCES),
        }
    }

    pub(super) fn set_mode(&mut self, ino: Ino, mode: u32) {
        let (seq, now) = (self.next_seq(), self.now());
        let inode = self.inode(ino);
        inode.change_mode(seq, mode & 0o7777);
        inode.times.change(now);
    }

    /// The bytes of a file, or what its size is, are written. It does not run as somebody else then.
    pub(super) fn modified(&mut self, ino: Ino) {
        let (seq, now) = (self.seq, self.now());
        let inode = self.inode(ino);
        inode.times.modify(now);
        let group = match inode.mode & GROUP_RUNS {
            0 => 0,
            _ => SET_GROUP,
        };
        inode.change_mode(seq, inode.mode & !(SET_USER | group));
    }

    /// A file or a directory is read.
    pub(super) fn was_read(&mut self, ino: Ino) {
        let now = self.now();
        self.inode(ino).times.read(now);
    }

    pub(super) fn next_seq(&mut self) -> u64 {
        self.seq += 1;
        self.seq
    }

    /// Makes a new file or directory, with these permissions at most, and names it.
    pub(super) fn link_new(
        &mut self,
        parent: Ino,
        name: OsString,
        new: (Kind, u32),
        site: &'static Location<'static>,
    ) -> Ino {
        let ino = self.add(new, (parent, name.clone()), site);
        self.change(vec![entry(parent, &name, Some(ino))], false);
        ino
    }

    /// Changes names, at once for programs, and in the journal.
    pub(super) fn change(&mut self, entries: Vec<Entry>, moves_directory: bool) {
        let (seq, now) = (self.next_seq(), self.now());
        let mut unlinked = Vec::new();
        for change in &entries {
            if let Some(ino) = change.now {
                let inode = self.inode(ino);
                inode.links += 1;
                inode.times.change(now);
            }
            let directory = self.directory(change.directory);
            let names = &mut directory.expect("cct bug: names in a file").entries;
            let before = match change.now {
                Some(ino) => names.insert(change.name.clone(), ino),
                None => names.remove(&change.name),
            };
            unlinked.extend(before);
            let directory = self.inode(change.directory);
            directory.times.modify(now);
            directory.publish();
        }
        self.journal.push(seq, entries, moves_directory);
        for ino in unlinked {
            let inode = self.inode(ino);
            inode.links -= 1;
            inode.times.change(now);
        }
    }

    /// Makes durable what was done to a file or a directory up to a moment.
    pub(super) fn sync(&mut self, ino: Ino, mark: u64, all: bool) {
        let Some(inode) = self.inodes.get_mut(&ino) else {
            return;
        };
        if all {
            inode.sync_mode(mark);
            inode.durable.1 = inode.times;
        }
        match &mut inode.kind {
            Kind::File(content) => {
                content.sync(mark);
                inode.publish();
            }
            Kind::Directory(_) => {
                let entries = self.journal.sync(ino, mark);
                self.make_durable(entries);
                self.forget_unused();
            }
            Kind::Symlink(_) => {}
        }
    }

    fn make_durable(&mut self, entries: Vec<Entry>) {
        for Entry {
            directory,
            name,
            now,
        } in entries
        {
            let Some(inode) = self.inodes.get_mut(&directory) else {
                continue;
            };
            if let Kind::Directory(directory) = &mut inode.kind {
                match now {
                    Some(ino) => drop(directory.durable.insert(name, ino)),
                    None => drop(directory.durable.remove(&name)),
                }
            }
        }
    }

    /// Forgets files that nothing leads to.
    pub(super) fn forget_unused(&mut self) {
        let candidates: Vec<Ino> = (self.inodes.iter())
            .filter(|(_, inode)| inode.links == 0 && inode.handles == 0)
            .map(|(&ino, _)| ino)
            .collect();
        if candidates.is_empty() {
            return;
        }
        let durable = self.inodes.values().filter_map(|inode| match &inode.kind {
            Kind::Directory(directory) => Some(directory.durable.values().copied()),
            Kind::File(_) | Kind::Symlink(_) => None,
        });
        let needed: BTreeSet<Ino> = durable.flatten().chain(self.journal.mentioned()).collect();
        for ino in candidates {
            if !needed.contains(&ino) {
                self.inodes.remove(&ino);
            }
        }
    }

    /// A handle was closed.
    pub(super) fn close(&mut self, ino: Ino) {
        if let Some(inode) = self.inodes.get_mut(&ino) {
            inode.handles -= 1;
            if inode.handles == 0 && inode.links == 0 {
                self.forget_unused();
            }
        }
    }

    /// What reports say.
    pub(super) fn summary(&self) -> String {
        let in_use = |inode: &&Inode| inode.links > 0 || inode.handles > 0;
        let files = self.inodes.values().filter(|inode| inode.is_file());
        let (mut count, mut dirty) = (0, 0);
        for inode in files.filter(in_use) {
            count += 1;
            if let Kind::File(content) = &inode.kind {
                dirty += usize::from(content.pending() > 0);
            }
        }
        format!(
            "{count} files with {} bytes, {dirty} of them not flushed, {} directory changes not \
             flushed",
            self.used(),
            self.journal.len()
        )
    }

    /// Bytes in all files that are in use.
    pub(super) fn used(&self) -> u64 {
        let in_use = |inode: &&Inode| inode.links > 0 || inode.handles > 0;
        let files = self.inodes.values().filter(|inode| inode.is_file());
        files.filter(in_use).map(Inode::len).sum()
    }
}

pub(super) fn entry(directory: Ino, name: &OsStr, now: Option<Ino>) -> Entry {
    Entry {
        directory,
        name: name.to_owned(),
        now,
    }
}
