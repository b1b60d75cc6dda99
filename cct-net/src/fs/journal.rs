//! Changes of directories that are not durable yet.
//!
//! 1. A change sets one name, or two at once (a rename): all of it survives, or nothing.
//! 2. A change survives only with all earlier ones of the same names. Moves of directories survive
//!    in order, so that no directory ends up inside itself.
//! 3. To flush a directory makes all changes of its names durable, with all they depend on.

use super::survive::{Chooser, Shape};
use std::collections::BTreeSet;
use std::ffi::OsString;

/// Number of a file or directory on its disk.
pub(super) type Ino = u32;

/// Beyond that many changes the rest survives, or not, together.
const SINGLE_FATES: usize = 64;

/// So many names are told.
const NAMES_SHOWN: usize = 4;

/// What a name of a directory now stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Entry {
    pub(super) directory: Ino,
    pub(super) name: OsString,
    pub(super) now: Option<Ino>,
}

#[derive(Clone, Debug)]
pub(super) struct Change {
    seq: u64,
    entries: Vec<Entry>,
    moves_directory: bool,
}

/// The changes of a disk's directories that are not durable, in order.
#[derive(Debug, Default)]
pub(super) struct Journal {
    changes: Vec<Change>,
}

impl Change {
    fn depends_on(&self, earlier: &Change) -> bool {
        let same = |a: &Entry, b: &Entry| a.directory == b.directory && a.name == b.name;
        let shared = self
            .entries
            .iter()
            .any(|a| earlier.entries.iter().any(|b| same(a, b)));
        shared || (self.moves_directory && earlier.moves_directory)
    }
}

impl Journal {
    pub(super) fn push(&mut self, seq: u64, entries: Vec<Entry>, moves_directory: bool) {
        self.changes.push(Change {
            seq,
            entries,
            moves_directory,
        });
    }

    pub(super) fn len(&self) -> usize {
        self.changes.len()
    }

    /// All files and directories that changes name.
    pub(super) fn mentioned(&self) -> impl Iterator<Item = Ino> + '_ {
        let entries = self.changes.iter().flat_map(|change| &change.entries);
        entries.flat_map(|entry| entry.now.into_iter().chain([entry.directory]))
    }

    /// Takes what becomes durable when a directory is flushed that was changed up to a moment.
    pub(super) fn sync(&mut self, directory: Ino, mark: u64) -> Vec<Entry> {
        let mut taken = BTreeSet::new();
        for (i, change) in self.changes.iter().enumerate().rev() {
            let own = change.seq <= mark && change.entries.iter().any(|e| e.directory == directory);
            let needed = || {
                let later = taken.iter().map(|&later: &usize| &self.changes[later]);
                later.into_iter().any(|later| later.depends_on(change))
            };
            if own || needed() {
                taken.insert(i);
            }
        }
        self.take(&taken)
    }

    /// What a crash leaves; the rest is forgotten.
    pub(super) fn crash(&mut self, chooser: &mut Chooser<'_>) -> Vec<Entry> {
        let count = self.changes.len();
        if count == 0 {
            return Vec::new();
        }
        chooser.about(|| self.names());
        let survivors: BTreeSet<usize> = match chooser.shape() {
            Shape::Nothing => BTreeSet::new(),
            Shape::Everything => (0..count).collect(),
            Shape::Prefix => {
                let kept = chooser.below(count as u32 + 1, "how many changes of directories");
                (0..kept as usize).collect()
            }
            Shape::Each => self.each(chooser),
        };
        let entries = self.take(&survivors);
        self.changes.clear();
        entries
    }

    /// What has changed, for reports.
    fn names(&self) -> String {
        let entries = self.changes.iter().flat_map(|change| &change.entries);
        let names: Vec<_> = entries.map(|entry| entry.name.to_string_lossy()).collect();
        let shown = names[..names.len().min(NAMES_SHOWN)].join(", ");
        let more = if names.len() > NAMES_SHOWN {
            ", ..."
        } else {
            ""
        };
        format!("the changes of directories ({shown}{more})")
    }

    fn each(&self, chooser: &mut Chooser<'_>) -> BTreeSet<usize> {
        let mut survivors = BTreeSet::new();
        let mut rest = None;
        for (i, change) in self.changes.iter().enumerate() {
            let mut earlier = self.changes[..i].iter().enumerate();
            let complete =
                earlier.all(|(j, other)| survivors.contains(&j) || !change.depends_on(other));
            if !complete {
                continue;
            }
            let label = "whether a change of a directory survives";
            let survives = match i < SINGLE_FATES {
                true => chooser.below(2, label) == 1,
                false => *rest.get_or_insert_with(|| chooser.below(2, label) == 1),
            };
            if survives {
                survivors.insert(i);
            }
        }
        survivors
    }

    fn take(&mut self, which: &BTreeSet<usize>) -> Vec<Entry> {
        let (mut taken, mut left) = (Vec::new(), Vec::new());
        for (i, change) in self.changes.drain(..).enumerate() {
            match which.contains(&i) {
                true => taken.extend(change.entries),
                false => left.push(change),
            }
        }
        self.changes = left;
        taken
    }
}
