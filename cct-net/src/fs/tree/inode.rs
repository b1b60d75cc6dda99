//! Files, directories and links, and what of their permissions is durable.

use crate::fs::content::Content;
use crate::fs::journal::Ino;
use crate::fs::survive::Chooser;
use crate::fs::times::Times;
use cct_executor::shim::Resource;
use cct_executor::words::fingerprint::mix2;
use std::collections::BTreeMap;
use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;

pub(in crate::fs) struct Inode {
    pub(in crate::fs) kind: Kind,
    /// Permissions, without what kind of file it is.
    pub(in crate::fs) mode: u32,
    pub(in crate::fs) times: Times,
    /// What the disk has of `mode` and `times`.
    pub(super) durable: (u32, Times),
    /// What `mode` became since, and with which change.
    pub(super) modes: Vec<(u64, u32)>,
    /// Names that programs see.
    pub(in crate::fs) links: u32,
    pub(in crate::fs) handles: u32,
    pub(in crate::fs) resource: Arc<Resource>,
    /// The same in every iteration.
    pub(in crate::fs) identity: u64,
}

pub(in crate::fs) enum Kind {
    File(Content),
    Directory(Directory),
    /// Leads to this path, from the directory that it is in. It is what it is as long as it is there:
    /// a name that survives a crash leads where it led before.
    Symlink(PathBuf),
}

#[derive(Debug, Default)]
pub(in crate::fs) struct Directory {
    pub(in crate::fs) entries: BTreeMap<OsString, Ino>,
    pub(super) durable: BTreeMap<OsString, Ino>,
}

impl Inode {
    pub(in crate::fs) fn is_directory(&self) -> bool {
        matches!(self.kind, Kind::Directory(_))
    }

    pub(in crate::fs) fn is_file(&self) -> bool {
        matches!(self.kind, Kind::File(_))
    }

    pub(in crate::fs) fn is_symlink(&self) -> bool {
        matches!(self.kind, Kind::Symlink(_))
    }

    pub(in crate::fs) fn len(&self) -> u64 {
        match &self.kind {
            Kind::File(content) => content.len(),
            Kind::Directory(_) => 4096,
            Kind::Symlink(target) => target.as_os_str().len() as u64,
        }
    }

    pub(super) fn change_mode(&mut self, seq: u64, mode: u32) {
        if self.mode != mode {
            self.mode = mode;
            self.modes.push((seq, mode));
        }
    }

    /// What permissions became up to a moment is durable.
    pub(super) fn sync_mode(&mut self, mark: u64) {
        let up_to = self.modes.partition_point(|&(seq, _)| seq <= mark);
        if let Some((_, mode)) = self.modes.drain(..up_to).next_back() {
            self.durable.0 = mode;
        }
    }

    /// One of the permissions that were set since they were durable, or those.
    pub(super) fn crash_mode(&mut self, chooser: &mut Chooser<'_>) {
        let mut modes = vec![self.durable.0];
        for (_, mode) in self.modes.drain(..) {
            if !modes.contains(&mode) {
                modes.push(mode);
            }
        }
        self.mode = modes[chooser.below(modes.len() as u32, "which permissions survive") as usize];
        self.durable.0 = self.mode;
    }

    /// Brings its share of the fingerprint up to date.
    pub(in crate::fs) fn publish(&self) {
        let state = match &self.kind {
            Kind::File(content) => mix2(content.len(), content.pending() as u64),
            Kind::Directory(directory) => directory.entries.len() as u64,
            Kind::Symlink(_) => 1,
        };
        self.resource.set_state(state);
    }
}
