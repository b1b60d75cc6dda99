//! The rules of the documentation of `fs` once more, without regard to cost: every set of changes that
//! may survive, every image of every file.

use super::script::Step;
use std::collections::{BTreeMap, BTreeSet};

const SECTOR: usize = 512;
const ROOT: usize = 0;

/// What is seen of a disk.
pub(super) type State = BTreeMap<String, Seen>;

#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(super) enum Seen {
    Directory,
    Link,
    File(Vec<u8>),
}

#[derive(Clone)]
enum Node {
    Directory,
    Link,
    /// All it has been since it was last flushed, sector by sector.
    File(Vec<Vec<u8>>),
}

type Name = (usize, String);

/// One change of one or two names, all of it or nothing.
#[derive(Clone)]
struct Change {
    sets: Vec<(Name, Option<usize>)>,
    moves_directory: bool,
    is_flushed: bool,
}

#[derive(Clone)]
pub(super) struct Model {
    nodes: Vec<Node>,
    /// What was there from the start is there for good.
    durable: BTreeMap<Name, usize>,
    names: BTreeMap<Name, usize>,
    changes: Vec<Change>,
}

impl Change {
    fn needs(&self, earlier: &Change) -> bool {
        let same = |name: &Name| earlier.sets.iter().any(|(other, _)| other == name);
        self.sets.iter().any(|(name, _)| same(name))
            || self.moves_directory && earlier.moves_directory
    }
}

impl Model {
    /// A disk with all this on it, each file under one name.
    pub(super) fn of(state: &State) -> Model {
        let mut model = Model {
            nodes: vec![Node::Directory],
            durable: BTreeMap::new(),
            names: BTreeMap::new(),
            changes: Vec::new(),
        };
        for (path, seen) in state {
            let name = model.name(path).expect("what holds it comes first");
            model.names.insert(name, model.nodes.len());
            model.nodes.push(match seen {
                Seen::Directory => Node::Directory,
                Seen::Link => Node::Link,
                Seen::File(bytes) => Node::File(vec![bytes.clone()]),
            });
        }
        model.durable = model.names.clone();
        model
    }

    fn name(&self, path: &str) -> Option<Name> {
        let (parent, name) = path.rsplit_once('/')?;
        Some((self.find(parent)?, name.to_owned()))
    }

    fn find(&self, path: &str) -> Option<usize> {
        if path.is_empty() {
            return Some(ROOT);
        }
        self.names.get(&self.name(path)?).copied()
    }

    fn vacant(&self, path: &str) -> Option<Name> {
        let name = self.name(path)?;
        let directory = matches!(self.nodes[name.0], Node::Directory);
        (directory && !self.names.contains_key(&name)).then_some(name)
    }

    fn images(&mut self, path: &str) -> Option<&mut Vec<Vec<u8>>> {
        let found = self.find(path)?;
        match &mut self.nodes[found] {
            Node::File(images) => Some(images),
            Node::Directory | Node::Link => None,
        }
    }

    fn is_empty(&self, directory: usize) -> bool {
        !self.names.keys().any(|(parent, _)| *parent == directory)
    }

    fn change(&mut self, sets: Vec<(Name, Option<usize>)>, moves_directory: bool) {
        for (name, now) in &sets {
            match now {
                Some(node) => drop(self.names.insert(name.clone(), *node)),
                None => drop(self.names.remove(name)),
            }
        }
        self.changes.push(Change {
            sets,
            moves_directory,
            is_flushed: false,
        });
    }

    fn add(&mut self, path: &str, node: Node) -> Option<()> {
        let name = self.vacant(path)?;
        self.nodes.push(node);
        self.change(vec![(name, Some(self.nodes.len() - 1))], false);
        Some(())
    }

    /// Does a step; nothing if it would fail, or do nothing.
    pub(super) fn apply(&mut self, step: &Step) -> Option<()> {
        match *step {
            Step::Make(path) => self.add(path, Node::File(vec![Vec::new()])),
            Step::Mkdir(path) => self.add(path, Node::Directory),
            Step::Symlink(path) => self.add(path, Node::Link),
            Step::Write(path, at, count, with) => self.write(path, at, count, with),
            Step::SetLen(path, len) => {
                let images = self.images(path)?;
                let mut image = images.last()?.clone();
                image.resize(len, 0);
                images.push(image);
                Some(())
            }
            Step::Link(from, to) => {
                let (node, name) = (self.find(from)?, self.vacant(to)?);
                (!matches!(self.nodes[node], Node::Directory)).then_some(())?;
                self.change(vec![(name, Some(node))], false);
                Some(())
            }
            Step::Rename(from, to) => self.rename(from, to),
            Step::Remove(path) => {
                let (node, name) = (self.find(path)?, self.name(path)?);
                let is_directory = matches!(self.nodes[node], Node::Directory);
                (!is_directory || self.is_empty(node)).then_some(())?;
                self.change(vec![(name, None)], false);
                Some(())
            }
            Step::Sync(path) | Step::SyncData(path) => {
                let images = self.images(path)?;
                (images.len() > 1).then_some(())?;
                images.drain(..images.len() - 1);
                Some(())
            }
            Step::SyncNames(path) => {
                let flushed = self.find(path)?;
                let own =
                    |change: &&mut Change| change.sets.iter().any(|((at, _), _)| *at == flushed);
                let new = self.changes.iter_mut().filter(|change| !change.is_flushed);
                let flushed = new.filter(own).map(|change| change.is_flushed = true);
                (flushed.count() > 0).then_some(())
            }
        }
    }

    fn write(&mut self, path: &str, at: usize, count: usize, with: u8) -> Option<()> {
        let images = self.images(path)?;
        let mut image = images.last()?.clone();
        for byte in at..at + count {
            image.resize(image.len().max(byte + 1), 0);
            image[byte] = with;
            if byte % SECTOR == SECTOR - 1 || byte + 1 == at + count {
                images.push(image.clone());
            }
        }
        Some(())
    }

    fn rename(&mut self, from: &str, to: &str) -> Option<()> {
        let (node, old, new) = (self.find(from)?, self.name(from)?, self.name(to)?);
        let is_directory = |node: usize| matches!(self.nodes[node], Node::Directory);
        let inside = to.starts_with(&format!("{from}/"));
        (is_directory(new.0) && !inside).then_some(())?;
        if let Some(&there) = self.names.get(&new) {
            let alike = is_directory(there) == is_directory(node) && self.is_empty(there);
            (alike && there != node).then_some(())?;
        }
        let moves_directory = is_directory(node);
        self.change(vec![(old, None), (new, Some(node))], moves_directory);
        Some(())
    }

    /// Everything that a crash may leave.
    pub(super) fn leftovers(&self) -> BTreeSet<State> {
        let count = self.changes.len();
        let sets = (0..1_u32 << count).map(|bits| (0..count).map(|i| bits >> i & 1 == 1).collect());
        let allowed = sets.filter(|chosen: &Vec<bool>| self.may_survive(chosen));
        allowed.flat_map(|chosen| self.states(&chosen)).collect()
    }

    fn may_survive(&self, chosen: &[bool]) -> bool {
        self.changes
            .iter()
            .enumerate()
            .all(|(i, change)| match chosen[i] {
                false => !change.is_flushed,
                true => (0..i).all(|j| chosen[j] || !change.needs(&self.changes[j])),
            })
    }

    fn states(&self, chosen: &[bool]) -> BTreeSet<State> {
        let durable = self.durable.iter().map(|(name, node)| (name, *node));
        let mut names: BTreeMap<&Name, usize> = durable.collect();
        for (change, _) in self.changes.iter().zip(chosen).filter(|(_, is)| **is) {
            for (name, now) in &change.sets {
                match now {
                    Some(node) => drop(names.insert(name, *node)),
                    None => drop(names.remove(name)),
                }
            }
        }
        let mut paths = Vec::new();
        let mut todo = vec![(ROOT, String::new())];
        while let Some((directory, path)) = todo.pop() {
            for ((_, name), &node) in names.iter().filter(|((at, _), _)| *at == directory) {
                let path = format!("{path}/{name}");
                paths.push((path.clone(), node));
                if matches!(self.nodes[node], Node::Directory) {
                    todo.push((node, path));
                }
            }
        }
        self.contents(&paths)
    }

    /// Each file that has a name holds one of what it may hold, under all its names.
    fn contents(&self, paths: &[(String, usize)]) -> BTreeSet<State> {
        let mut states = BTreeSet::from([State::new()]);
        let nodes: BTreeSet<usize> = paths.iter().map(|(_, node)| *node).collect();
        for node in nodes {
            let seen: Vec<Seen> = match &self.nodes[node] {
                Node::Directory => vec![Seen::Directory],
                Node::Link => vec![Seen::Link],
                Node::File(images) => torn(images).into_iter().map(Seen::File).collect(),
            };
            let with = |state: &State, seen: &Seen| {
                let own = paths.iter().filter(|(_, other)| *other == node);
                let own = own.map(|(path, _)| (path.clone(), seen.clone()));
                state.clone().into_iter().chain(own).collect()
            };
            let more = states.iter();
            states = more
                .flat_map(|state| seen.iter().map(move |seen| with(state, seen)))
                .collect();
        }
        states
    }
}

/// Every sector of any image, cut to the size of any image.
fn torn(images: &[Vec<u8>]) -> BTreeSet<Vec<u8>> {
    let longest = images.iter().map(Vec::len).max().unwrap_or(0);
    let sectors = longest.div_ceil(SECTOR);
    let mut files: BTreeSet<Vec<u8>> = BTreeSet::from([Vec::new()]);
    for sector in 0..sectors {
        let version = |image: &Vec<u8>| {
            let bytes = image.iter().copied().chain(std::iter::repeat(0));
            bytes.skip(sector * SECTOR).take(SECTOR).collect()
        };
        let versions: BTreeSet<Vec<u8>> = images.iter().map(version).collect();
        let longer = files.iter().flat_map(|file| {
            let versions = versions.iter();
            versions.map(move |version| [&file[..], &version[..]].concat())
        });
        files = longer.collect();
    }
    let sizes: BTreeSet<usize> = images.iter().map(Vec::len).collect();
    let cut = files
        .iter()
        .flat_map(|file| sizes.iter().map(move |&size| file[..size].to_vec()));
    cut.collect()
}
