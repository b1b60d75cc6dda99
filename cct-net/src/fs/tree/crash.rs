//! What becomes of a file system when its node goes down.

use super::{Inode, Kind, ROOT, Tree};
use crate::fs::journal::Ino;
use crate::fs::survive::Chooser;
use cct_executor::shim;
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

impl Tree {
    /// The node has crashed.
    pub(in crate::fs) fn crash(&mut self, chooser: &mut Chooser<'_>) {
        let entries = self.journal.crash(chooser);
        self.make_durable(entries);
        let mut links: BTreeMap<Ino, u32> = BTreeMap::from([(ROOT, 1)]);
        let mut todo = vec![ROOT];
        while let Some(ino) = todo.pop() {
            if let Some(Inode {
                kind: Kind::Directory(directory),
                ..
            }) = self.inodes.get_mut(&ino)
            {
                directory.entries = directory.durable.clone();
                for &child in directory.entries.values() {
                    let seen = links.entry(child).or_default();
                    *seen += 1;
                    if *seen == 1 {
                        todo.push(child);
                    }
                }
            }
        }
        self.inodes.retain(|ino, _| links.contains_key(ino));
        let paths = match shim::is_recorded() {
            true => self.paths(),
            false => BTreeMap::new(),
        };
        for (ino, inode) in &mut self.inodes {
            let path = || {
                paths
                    .get(ino)
                    .map_or(Cow::Borrowed("?"), |path| path.to_string_lossy())
            };
            chooser.about(|| path().into_owned());
            inode.links = links[ino];
            inode.handles = 0;
            inode.crash_mode(chooser);
            inode.times = inode.durable.1;
            if let Kind::File(content) = &mut inode.kind {
                let changes = match content.pending() {
                    1 => "1 change".to_owned(),
                    count => format!("{count} changes"),
                };
                chooser.about(|| format!("{changes} of {}", path()));
                content.crash(chooser);
            }
            inode.publish();
        }
    }

    /// The node's process has died, and its host lives on: files are as programs saw them, and no
    /// more durable than before.
    pub(in crate::fs) fn outlive(&mut self) {
        for inode in self.inodes.values_mut() {
            inode.handles = 0;
        }
        self.forget_unused();
    }

    /// A path of each file and directory.
    fn paths(&self) -> BTreeMap<Ino, PathBuf> {
        let mut paths = BTreeMap::from([(ROOT, Path::new("/").to_owned())]);
        let mut todo = vec![ROOT];
        while let Some(ino) = todo.pop() {
            let Some(Kind::Directory(directory)) = self.inodes.get(&ino).map(|inode| &inode.kind)
            else {
                continue;
            };
            let above = paths[&ino].clone();
            for (name, &child) in &directory.entries {
                paths.entry(child).or_insert_with(|| {
                    todo.push(child);
                    above.join(name)
                });
            }
        }
        paths
    }
}
