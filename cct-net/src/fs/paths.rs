//! What can be done with paths, by the rules of Linux: what is refused, and which of several reasons
//! is given.

use super::content::Content;
use super::journal::Ino;
use super::tree::{Directory, Kind, READ, SEARCH, SET_GROUP, Tree, WRITE, entry};
use super::walk::{End, Place, valid, without_zeros};
use crate::errno::Errno;
use std::ffi::OsStr;
use std::panic::Location;
use std::path::{Path, PathBuf};

impl Tree {
    /// The place for something new.
    fn vacant(&mut self, path: &Path, is_directory: bool) -> Result<Place, Errno> {
        let place = self.place(path, |_| Errno::EEXIST)?;
        match place.found {
            Some(_) => Err(Errno::EEXIST),
            None if place.slash && !is_directory => Err(Errno::ENOENT),
            None => Ok(place),
        }
    }

    pub(super) fn symlink(
        &mut self,
        target: &Path,
        link: &Path,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        without_zeros([target, link])?;
        valid(target)?;
        let place = self.vacant(link, false)?;
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
        let place = self.vacant(path, true)?;
        let parent = place.parent();
        self.may(parent, WRITE)?;
        // What is made in a directory of a group is that group's.
        let mode = mode & 0o1777 | self.inode(parent).mode & SET_GROUP;
        let directory = (Kind::Directory(Directory::default()), mode);
        self.link_new(parent, place.name, directory, site);
        Ok(())
    }

    /// As the standard library does it: from below, until something is there.
    pub(super) fn create_dir_all(
        &mut self,
        path: &Path,
        mode: u32,
        site: &'static Location<'static>,
    ) -> Result<(), Errno> {
        let is_one = |path: &&Path| !path.as_os_str().is_empty() && path.parent().is_some();
        let mut missing = Vec::new();
        for path in path.ancestors().take_while(is_one) {
            match self.create_dir(path, mode, site) {
                Ok(()) => break,
                Err(Errno::ENOENT) => missing.push(path),
                Err(Errno::EEXIST) if self.is_directory(path) => break,
                Err(error) => return Err(error),
            }
        }
        for path in missing.into_iter().rev() {
            match self.create_dir(path, mode, site) {
                Err(error) if error != Errno::EEXIST || !self.is_directory(path) => {
                    return Err(error);
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn is_directory(&mut self, path: &Path) -> bool {
        let found = self.lookup(path);
        found.is_ok_and(|ino| self.inode(ino).is_directory())
    }

    /// The file to open, made with these permissions if it is not there. Also whether it was made.
    pub(super) fn find_or_create(
        &mut self,
        path: &Path,
        (create_new, follow, mode): (bool, bool, u32),
        site: &'static Location<'static>,
    ) -> Result<(Ino, bool), Errno> {
        let place = self.place_for_file(path, create_new, follow)?;
        match place.found {
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
        let place = self.place(path, |_| Errno::EISDIR)?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        let is_directory = self.inode(ino).is_directory();
        if place.slash && !is_directory {
            return Err(Errno::ENOTDIR);
        }
        if !place.slash {
            self.may(place.parent(), WRITE)?;
        }
        if is_directory {
            return Err(Errno::EISDIR);
        }
        self.unlink(place.parent(), &place.name);
        Ok(())
    }

    fn unlink(&mut self, parent: Ino, name: &OsStr) {
        self.change(vec![entry(parent, name, None)], false);
    }

    pub(super) fn remove_dir(&mut self, path: &Path) -> Result<(), Errno> {
        let place = self.place(path, |end| match end {
            End::Here => Errno::EINVAL,
            End::Up => Errno::ENOTEMPTY,
            End::Root | End::Name => Errno::EBUSY,
        })?;
        let ino = place.found.ok_or(Errno::ENOENT)?;
        self.may(place.parent(), WRITE)?;
        if !self.directory(ino)?.entries.is_empty() {
            return Err(Errno::ENOTEMPTY);
        }
        self.unlink(place.parent(), &place.name);
        Ok(())
    }

    pub(super) fn remove_dir_all(&mut self, path: &Path) -> Result<(), Errno> {
        let ino = self.lookup_link(path)?;
        if self.inode(ino).is_symlink() {
            return self.remove_file(path);
        }
        self.clear(ino)?;
        // A path through the directory itself leads nowhere any more.
        match self.remove_dir(path) {
            Err(Errno::ENOENT) => Ok(()),
            done => done,
        }
    }

    /// Removes all that is in a directory, as far as it goes.
    fn clear(&mut self, ino: Ino) -> Result<(), Errno> {
        self.directory(ino)?;
        self.may(ino, READ)?;
        let entries = self.directory(ino)?.entries.clone();
        for (name, child) in entries {
            self.may(ino, SEARCH)?;
            if self.inode(child).is_directory() {
                self.clear(child)?;
            }
            self.may(ino, WRITE)?;
            self.unlink(ino, &name);
        }
        Ok(())
    }

    pub(super) fn rename(&mut self, from: &Path, to: &Path) -> Result<(), Errno> {
        without_zeros([from, to])?;
        // Both parents are looked at before what is in them.
        let (old, new) = (self.spot(from)?, self.spot(to)?);
        if !old.is_name() || !new.is_name() {
            return Err(Errno::EBUSY);
        }
        let old = self.place_at(old, |_| Errno::EBUSY)?;
        let ino = old.found.ok_or(Errno::ENOENT)?;
        let new = self.place_at(new, |_| Errno::EBUSY)?;
        let is_directory = self.inode(ino).is_directory();
        if !is_directory && (old.slash || new.slash) {
            return Err(Errno::ENOTDIR);
        }
        if new.way.passes(ino) {
            return Err(Errno::EINVAL);
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
        without_zeros([original, link])?;
        let ino = self.lookup_link(original)?;
        let place = self.vacant(link, false)?;
        self.may(place.parent(), WRITE)?;
        if self.inode(ino).is_directory() {
            return Err(Errno::EPERM);
        }
        self.change(vec![entry(place.parent(), &place.name, Some(ino))], false);
        Ok(())
    }
}
