//! What can be done with paths, by the rules of Linux.

use super::content::Content;
use super::errno::Errno;
use super::journal::Ino;
use super::tree::{Directory, Kind, ROOT, Tree, entry, means_directory};
use std::ffi::{OsStr, OsString};
use std::panic::Location;
use std::path::{Component, Path, PathBuf};

/// The longest name in a directory.
const NAME_MAX: usize = 255;

/// The place a path names, whether or not something is there.
struct Place {
    /// The directories on the way, the root first.
    way: Vec<Ino>,
    name: OsString,
    found: Option<Ino>,
}

impl Place {
    fn parent(&self) -> Ino {
        *self.way.last().expect("cct bug: a way without the root")
    }
}

impl Tree {
    fn step(&mut self, at: Ino, name: &OsStr) -> Result<Ino, Errno> {
        let directory = self.directory(at)?;
        if name.len() > NAME_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        directory.entries.get(name).copied().ok_or(Errno::ENOENT)
    }

    /// Where the path leads, with all that is passed on the way.
    fn walk<'a>(&mut self, path: impl Iterator<Item = Component<'a>>) -> Result<Vec<Ino>, Errno> {
        let mut way = vec![ROOT];
        for component in path {
            let at = *way.last().expect("cct bug: a way without the root");
            match component {
                Component::RootDir | Component::CurDir | Component::Prefix(_) => {}
                Component::ParentDir => {
                    self.directory(at)?;
                    if way.len() > 1 {
                        way.pop();
                    }
                }
                Component::Normal(name) => {
                    let next = self.step(at, name)?;
                    way.push(next);
                }
            }
        }
        Ok(way)
    }

    pub(super) fn lookup(&mut self, path: &Path) -> Result<Ino, Errno> {
        self.valid(path)?;
        let way = self.walk(path.components())?;
        let ino = *way.last().expect("cct bug: a way without the root");
        if means_directory(path) {
            self.directory(ino)?;
        }
        Ok(ino)
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
        let mut components = path.components();
        let Some(Component::Normal(name)) = components.next_back() else {
            self.lookup(path)?;
            return Err(special);
        };
        let way = self.walk(components)?;
        let parent = *way.last().expect("cct bug: a way without the root");
        let found = match self.step(parent, name) {
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

    pub(super) fn create_dir(
        &mut self,
        path: &Path,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        let place = self.place(path, Errno::EEXIST)?;
        if place.found.is_some() {
            return Err(Errno::EEXIST);
        }
        let parent = place.parent();
        let kind = Kind::Directory(Directory::default());
        self.link_new(parent, place.name, kind, site);
        Ok(())
    }

    pub(super) fn create_dir_all(
        &mut self,
        path: &Path,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        if path.as_os_str().is_empty() {
            return Ok(());
        }
        let mut so_far = PathBuf::new();
        for component in path.components() {
            so_far.push(component);
            match self.create_dir(&so_far, site) {
                Err(Errno::EEXIST) => {
                    let ino = self.lookup(&so_far)?;
                    let last = so_far.as_path() == path;
                    let found = self.directory(ino).map(drop);
                    found.map_err(|error| if last { Errno::EEXIST } else { error })?;
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// The file to open, made if that is asked for. Also whether it was made.
    pub(super) fn find_or_create(
        &mut self,
        path: &Path,
        create_new: bool,
        site: &'static Location<'static>,
    ) -> Result<(Ino, bool), Errno> {
        let special = if create_new {
            Errno::EEXIST
        } else {
            Errno::EISDIR
        };
        let place = self.place(path, special)?;
        match place.found {
            _ if means_directory(path) => Err(Errno::EISDIR),
            Some(_) if create_new => Err(Errno::EEXIST),
            Some(ino) if self.inode(ino).is_directory() => Err(Errno::EISDIR),
            Some(ino) => Ok((ino, false)),
            None => {
                let parent = place.parent();
                let file = Kind::File(Content::default());
                Ok((self.link_new(parent, place.name, file, site), true))
            }
        }
    }

    pub(super) fn remove_file(&mut self, path: &Path) -> Result<(), Errno> {
        let place = self.place(path, Errno::EISDIR)?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        if self.inode(ino).is_directory() {
            return Err(Errno::EISDIR);
        }
        if means_directory(path) {
            return Err(Errno::ENOTDIR);
        }
        self.change(vec![entry(place.parent(), &place.name, None)], false);
        Ok(())
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let place = self.place(path, Errno::EBUSY)?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        if !self.directory(ino)?.entries.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.change(vec![entry(place.parent(), &place.name, None)], false);
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> Result<(), Errno> {
        let ino = self.lookup(path)?;
        let names: Vec<OsString> = self.directory(ino)?.entries.keys().cloned().collect();
        for name in names {
            let path = path.join(name);
            let ino = self.lookup(&path)?;
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
        if new.way.contains(&ino) {
            return Err(Errno::EINVAL);
        }
        if !is_directory && (means_directory(from) || means_directory(to)) {
            return Err(Errno::ENOTDIR);
        }
        if let Some(target) = new.found {
            if target == ino {
                return Ok(());
            }
            match (is_directory, self.inode(target).is_directory()) {
                (true, false) => return Err(Errno::ENOTDIR),
                (false, true) if old.way.contains(&target) => return Err(Errno::ENOTEMPTY),
                (false, true) => return Err(Errno::EISDIR),
                (true, true) if !self.directory(target)?.entries.is_empty() => {
                    return Err(Errno::ENOTEMPTY);
                }
                _ => {}
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
        let ino = self.lookup(original)?;
        let place = self.place(link, Errno::EEXIST)?;
        if place.found.is_some() {
            return Err(Errno::EEXIST);
        }
        if means_directory(link) {
            return Err(Errno::ENOENT);
        }
        if self.inode(ino).is_directory() {
            return Err(Errno::EPERM);
        }
        self.change(vec![entry(place.parent(), &place.name, Some(ino))], false);
        Ok(())
    }

    pub(super) fn canonicalize(&mut self, path: &Path) -> Result<PathBuf, Errno> {
        self.lookup(path)?;
        let mut result = PathBuf::from("/");
        for component in path.components() {
            match component {
                Component::Normal(name) => result.push(name),
                Component::ParentDir => drop(result.pop()),
                _ => {}
            }
        }
        Ok(result)
    }
}
