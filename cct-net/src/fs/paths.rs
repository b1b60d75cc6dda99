//! What can be done with paths, by the rules of Linux.

use super::content::Content;
use super::journal::Ino;
use super::tree::{Directory, Kind, READ, ROOT, SEARCH, Tree, WRITE, entry, means_directory};
use crate::errno::Errno;
use std::ffi::{OsStr, OsString};
use std::panic::Location;
use std::path::{Component, Path, PathBuf};

/// The longest name in a directory.
const NAME_MAX: usize = 255;

/// How many symbolic links may be followed on a path.
const LINKS_MAX: u32 = 40;

/// The place a path names, whether or not something is there. A symbolic link there is not followed.
struct Place {
    way: Way,
    name: OsString,
    found: Option<Ino>,
}

impl Place {
    fn parent(&self) -> Ino {
        self.way.last()
    }
}

/// What is passed from the root on, and what was followed.
#[derive(Clone, Default)]
struct Way {
    /// What is below the root, and the name it has there.
    below: Vec<(Ino, OsString)>,
    links: u32,
}

impl Way {
    fn last(&self) -> Ino {
        self.below.last().map_or(ROOT, |(ino, _)| *ino)
    }

    fn passes(&self, ino: Ino) -> bool {
        ino == ROOT || self.below.iter().any(|(passed, _)| *passed == ino)
    }
}

/// What a path says to do next.
enum Step {
    Root,
    Up,
    Name(OsString),
    /// What was reached must be a directory.
    Directory,
}

/// The steps of a path, the first one last.
fn steps<'a>(components: impl DoubleEndedIterator<Item = Component<'a>>) -> Vec<Step> {
    let step = |component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    components.rev().filter_map(step).collect()
}

impl Tree {
    fn step(&mut self, at: Ino, name: &OsStr) -> Result<Ino, Errno> {
        self.directory(at)?;
        self.may(at, SEARCH)?;
        if name.len() > NAME_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let directory = self.directory(at)?;
        directory.entries.get(name).copied().ok_or(Errno::ENOENT)
    }

    fn target(&mut self, ino: Ino) -> Option<PathBuf> {
        match &self.inode(ino).kind {
            Kind::Symlink(target) => Some(target.clone()),
            Kind::File(_) | Kind::Directory(_) => None,
        }
    }

    /// Goes on by these steps. Symbolic links on the way are followed, one at its end if that is
    /// asked for.
    fn walk(&mut self, way: &mut Way, mut left: Vec<Step>, follow: bool) -> Result<(), Errno> {
        while let Some(step) = left.pop() {
            match step {
                Step::Root => way.below.clear(),
                Step::Up => {
                    self.directory(way.last())?;
                    self.may(way.last(), SEARCH)?;
                    way.below.pop();
                }
                Step::Directory => drop(self.directory(way.last())?),
                Step::Name(name) => {
                    let next = self.step(way.last(), &name)?;
                    match self.target(next) {
                        Some(target) if follow || !left.is_empty() => {
                            self.follow(way, &target)?;
                            if means_directory(&target) {
                                left.push(Step::Directory);
                            }
                            left.extend(steps(target.components()));
                        }
                        _ => way.below.push((next, name)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts a link that is followed.
    fn follow(&self, way: &mut Way, target: &Path) -> Result<(), Errno> {
        way.links += 1;
        match way.links > LINKS_MAX {
            true => Err(Errno::ELOOP),
            false => self.valid(target),
        }
    }

    fn way_to(&mut self, path: &Path, follow: bool) -> Result<Way, Errno> {
        self.valid(path)?;
        let mut way = Way::default();
        let is_directory = means_directory(path);
        self.walk(&mut way, steps(path.components()), follow || is_directory)?;
        if is_directory {
            self.directory(way.last())?;
        }
        Ok(way)
    }

    /// What a path leads to.
    pub(super) fn lookup(&mut self, path: &Path) -> Result<Ino, Errno> {
        Ok(self.way_to(path, true)?.last())
    }

    /// What a path names: a symbolic link rather than what it leads to.
    pub(super) fn lookup_link(&mut self, path: &Path) -> Result<Ino, Errno> {
        Ok(self.way_to(path, false)?.last())
    }

    fn valid(&self, path: &Path) -> Result<(), Errno> {
        let bytes = path.as_os_str().as_encoded_bytes();
        match () {
            () if bytes.contains(&0) => Err(Errno::EINVAL),
            () if bytes.is_empty() => Err(Errno::ENOENT),
            () => Ok(()),
        }
    }

    /// The place a path names; `special` is for `/` and `..`, which are no names.
    fn place(&mut self, path: &Path, special: Errno) -> Result<Place, Errno> {
        self.valid(path)?;
        self.place_from(Way::default(), path, special)
    }

    fn place_from(&mut self, mut way: Way, path: &Path, special: Errno) -> Result<Place, Errno> {
        let mut components = path.components();
        let Some(Component::Normal(name)) = components.next_back() else {
            self.walk(&mut way, steps(path.components()), true)?;
            return Err(special);
        };
        self.walk(&mut way, steps(components), true)?;
        let found = match self.step(way.last(), name) {
            Ok(ino) => Some(ino),
            Err(Errno::ENOENT) => None,
            Err(error) => return Err(error),
        };
        Ok(Place {
            way,
            name: name.to_owned(),
            found,
        })
    }

    /// The place that a path leads to in the end, for what may be made there.
    fn place_behind_links(&mut self, path: &Path, special: Errno) -> Result<Place, Errno> {
        let mut place = self.place(path, special)?;
        while let Some(target) = place.found.and_then(|ino| self.target(ino)) {
            self.follow(&mut place.way, &target)?;
            if means_directory(&target) {
                return Err(Errno::EISDIR);
            }
            place = self.place_from(place.way, &target, special)?;
        }
        Ok(place)
    }

    pub(super) fn symlink(
        &mut self,
        target: &Path,
        link: &Path,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        self.valid(target)?;
        let place = self.place(link, Errno::EEXIST)?;
        if place.found.is_some() {
            return Err(Errno::EEXIST);
        }
        if means_directory(link) {
            return Err(Errno::ENOENT);
        }
        let parent = place.parent();
        self.may(parent, WRITE)?;
        let link = (Kind::Symlink(target.to_owned()), 0o777);
        self.link_new(parent, place.name, link, site);
        Ok(())
    }

    pub(super) fn read_link(&mut self, path: &Path) -> Result<PathBuf, Errno> {
        let ino = self.lookup_link(path)?;
        self.target(ino).ok_or(Errno::EINVAL)
    }

    pub(super) fn create_dir(
        &mut self,
        path: &Path,
        mode: u32,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        let place = self.place(path, Errno::EEXIST)?;
        if place.found.is_some() {
            return Err(Errno::EEXIST);
        }
        let parent = place.parent();
        self.may(parent, WRITE)?;
        let directory = (Kind::Directory(Directory::default()), mode & 0o1777);
        self.link_new(parent, place.name, directory, site);
        Ok(())
    }

    pub(super) fn create_dir_all(
        &mut self,
        path: &Path,
        mode: u32,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let mut so_far = PathBuf::new();
        for component in path.components() {
            so_far.push(component);
            match self.create_dir(&so_far, mode, site) {
                Err(Errno::EEXIST) => {
                    let last = so_far.as_path() == path;
                    let ino = match self.lookup(&so_far) {
                        // A symbolic link that leads nowhere.
                        Err(error) if last || error == Errno::ENOENT => return Err(Errno::EEXIST),
                        found => found?,
                    };
                    let found = self.directory(ino).map(drop);
                    found.map_err(|error| if last { Errno::EEXIST } else { error })?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// The file to open, made with these permissions if it is not there. Also whether it was made.
    pub(super) fn find_or_create(
        &mut self,
        path: &Path,
        (create_new, mode): (bool, u32),
        site: &'static Location<'static>,
    ) -> Result<(Ino, bool), Errno> {
        let place = match create_new {
            true => self.place(path, Errno::EEXIST)?,
            false => self.place_behind_links(path, Errno::EISDIR)?,
        };
        match place.found {
            _ if means_directory(path) => Err(Errno::EISDIR),
            Some(_) if create_new => Err(Errno::EEXIST),
            Some(ino) if self.inode(ino).is_directory() => Err(Errno::EISDIR),
            Some(ino) => Ok((ino, false)),
            None => {
                let parent = place.parent();
                self.may(parent, WRITE)?;
                let file = (Kind::File(Content::default()), mode);
                Ok((self.link_new(parent, place.name, file, site), true))
            }
        }
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> Result<(), Errno> {
        let place = self.place(path, Errno::EISDIR)?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        let is_directory = self.inode(ino).is_directory();
        if means_directory(path) && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        if !means_directory(path) {
            self.may(place.parent(), WRITE)?;
        }
        if is_directory {
            return Err(Errno::EISDIR);
        }
        self.change(vec![entry(place.parent(), &place.name, None)], false);
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let place = self.place(path, Errno::EBUSY)?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        self.may(place.parent(), WRITE)?;
        if !self.directory(ino)?.entries.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.change(vec![entry(place.parent(), &place.name, None)], false);
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> Result<(), Errno> {
        let ino = self.lookup_link(path)?;
        if self.inode(ino).is_symlink() {
            return self.remove_file(path);
        }
        self.directory(ino)?;
        self.may(ino, READ)?;
        let names: Vec<OsString> = self.directory(ino)?.entries.keys().cloned().collect();
        for name in names {
            let path = path.join(name);
            let ino = self.lookup_link(&path)?;
            match self.inode(ino).is_directory() {
                true => self.remove_dir_all(&path)?,
                false => self.remove_file(&path)?,
            }
        }
        self.remove_dir(path)
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Errno> {
        let old = self.place(from, Errno::EBUSY)?;
        let new = self.place(to, Errno::EBUSY)?;
        let ino = old.found.ok_or(Errno::ENOENT)?;
        let is_directory = self.inode(ino).is_directory();
        if new.way.passes(ino) {
            return Err(Errno::EINVAL);
        }
        if !is_directory && (means_directory(from) || means_directory(to)) {
            return Err(Errno::ENOTDIR);
        }
        if let Some(target) = new.found {
            if target == ino {
                return Ok(());
            }
            if old.way.passes(target) {
                return Err(Errno::ENOTEMPTY);
            }
        }
        self.may(old.parent(), WRITE)?;
        self.may(new.parent(), WRITE)?;
        let there = new.found.map(|target| self.inode(target).is_directory());
        match (is_directory, there) {
            (true, Some(false)) => return Err(Errno::ENOTDIR),
            (false, Some(true)) => return Err(Errno::EISDIR),
            _ => {}
        }
        if is_directory && old.parent() != new.parent() {
            // Its `..` changes.
            self.may(ino, WRITE)?;
        }
        if let (Some(target), true) = (new.found, is_directory) {
            if !self.directory(target)?.entries.is_empty() {
                return Err(Errno::ENOTEMPTY);
            }
        }
        let entries = vec![
            entry(old.parent(), &old.name, None),
            entry(new.parent(), &new.name, Some(ino)),
        ];
        self.change(entries, is_directory);
        Ok(())
    }

    pub(super) fn hard_link(&mut self, original: &Path, link: &Path) -> Result<(), Errno> {
        let ino = self.lookup_link(original)?;
        let place = self.place(link, Errno::EEXIST)?;
        if place.found.is_some() {
            return Err(Errno::EEXIST);
        }
        if means_directory(link) {
            return Err(Errno::ENOENT);
        }
        self.may(place.parent(), WRITE)?;
        if self.inode(ino).is_directory() {
            return Err(Errno::EPERM);
        }
        self.change(vec![entry(place.parent(), &place.name, Some(ino))], false);
        Ok(())
    }

    pub(super) fn canonicalize(&mut self, path: &Path) -> Result<PathBuf, Errno> {
        let way = self.way_to(path, true)?;
        let names = way.below.iter().map(|(_, name)| name);
        Ok([OsStr::new("/")]
            .into_iter()
            .chain(names.map(|n| n.as_os_str()))
            .collect())
    }
}
