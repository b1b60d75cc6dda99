//! Where paths lead, by the rules of Linux.
//!
//! 1. Every name but the last one is followed if it is a symbolic link. The last one is where the
//!    operation asks for it, or where a slash comes after it.
//! 2. A path may end in something that is no name (`.`, `..`, `/`): there is nothing that could be
//!    made, removed or renamed then, and each operation has an error of its own.

use super::journal::Ino;
use super::tree::{Kind, ROOT, SEARCH, Tree};
use crate::errno::Errno;
use std::ffi::{OsStr, OsString};
use std::path::{Component, Path, PathBuf};

/// The longest name in a directory.
const NAME_MAX: usize = 255;

/// The longest path, with the zero at its end that the kernel counts.
const PATH_MAX: usize = 4096;

/// How many symbolic links may be followed on a path.
const LINKS_MAX: u32 = 40;

/// The place a path names, whether or not something is there. A symbolic link there is not followed.
pub(super) struct Place {
    pub(super) way: Way,
    pub(super) name: OsString,
    pub(super) found: Option<Ino>,
    /// A slash comes after the name.
    pub(super) slash: bool,
}

impl Place {
    pub(super) fn parent(&self) -> Ino {
        self.way.last()
    }
}

/// What a path ends in, and the directory to look that up in.
pub(super) struct Spot {
    way: Way,
    end: End,
    /// Means something if the end is a name.
    name: OsString,
    slash: bool,
}

impl Spot {
    pub(super) fn is_name(&self) -> bool {
        self.end == End::Name
    }
}

/// What is passed from the root on, and what was followed.
#[derive(Clone, Default)]
pub(super) struct Way {
    /// What is below the root, and the name it has there.
    pub(super) below: Vec<(Ino, OsString)>,
    links: u32,
    /// `.` and `..` are only words: nothing is looked up for them.
    by_words: bool,
}

impl Way {
    pub(super) fn last(&self) -> Ino {
        self.below.last().map_or(ROOT, |(ino, _)| *ino)
    }

    pub(super) fn passes(&self, ino: Ino) -> bool {
        ino == ROOT || self.below.iter().any(|(passed, _)| *passed == ino)
    }
}

/// What a path ends in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum End {
    Name,
    Root,
    Here,
    Up,
}

fn end_of(path: &Path) -> End {
    let bytes = path.as_os_str().as_encoded_bytes();
    let slashes = bytes.iter().rev().take_while(|&&byte| byte == b'/').count();
    let bytes = &bytes[..bytes.len() - slashes];
    if bytes == b"." || bytes.ends_with(b"/.") {
        return End::Here;
    }
    match path.components().next_back() {
        Some(Component::ParentDir) => End::Up,
        Some(Component::Normal(_)) => End::Name,
        _ => End::Root,
    }
}

fn has_slash(path: &Path) -> bool {
    path.as_os_str().as_encoded_bytes().ends_with(b"/")
}

/// What a path says to do next.
enum Step {
    Root,
    Up,
    /// Stays where it is, where names must be looked up nevertheless.
    Here,
    Name(OsString),
    /// What was reached must be a directory.
    Directory,
}

/// The steps of a path, the first one last.
fn steps(path: &Path) -> Vec<Step> {
    let last = match end_of(path) {
        End::Here => Some(Step::Here),
        End::Name if has_slash(path) => Some(Step::Directory),
        End::Name | End::Root | End::Up => None,
    };
    last.into_iter().chain(leading(path.components())).collect()
}

/// Steps that components are; a `.` between others changes nothing.
fn leading<'a>(components: impl DoubleEndedIterator<Item = Component<'a>>) -> Vec<Step> {
    let step = |component| match component {
        Component::RootDir => Some(Step::Root),
        Component::ParentDir => Some(Step::Up),
        Component::Normal(name) => Some(Step::Name(name.to_owned())),
        Component::CurDir | Component::Prefix(_) => None,
    };
    components.rev().filter_map(step).collect()
}

/// What two paths must be before the system is asked.
pub(super) fn without_zeros(paths: [&Path; 2]) -> Result<(), Errno> {
    let zero = |path: &&Path| path.as_os_str().as_encoded_bytes().contains(&0);
    match paths.iter().any(zero) {
        true => Err(Errno::EINVAL),
        false => Ok(()),
    }
}

/// What a path must be to be looked at.
pub(super) fn valid(path: &Path) -> Result<(), Errno> {
    let bytes = path.as_os_str().as_encoded_bytes();
    match bytes.len() {
        _ if bytes.contains(&0) => Err(Errno::EINVAL),
        0 => Err(Errno::ENOENT),
        PATH_MAX.. => Err(Errno::ENAMETOOLONG),
        _ => Ok(()),
    }
}

impl Tree {
    /// Names can be looked up in it.
    fn may_look_up(&mut self, at: Ino) -> Result<(), Errno> {
        self.directory(at)?;
        self.may(at, SEARCH)
    }

    /// A `.` or `..` can come next.
    fn may_stay(&mut self, way: &Way) -> Result<(), Errno> {
        match way.by_words {
            true => self.directory(way.last()).map(drop),
            false => self.may_look_up(way.last()),
        }
    }

    fn step(&mut self, at: Ino, name: &OsStr) -> Result<Ino, Errno> {
        self.may_look_up(at)?;
        if name.len() > NAME_MAX {
            return Err(Errno::ENAMETOOLONG);
        }
        let directory = self.directory(at)?;
        directory.entries.get(name).copied().ok_or(Errno::ENOENT)
    }

    pub(super) fn target(&mut self, ino: Ino) -> Option<PathBuf> {
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
                    self.may_stay(way)?;
                    way.below.pop();
                }
                Step::Here => self.may_stay(way)?,
                Step::Directory => drop(self.directory(way.last())?),
                Step::Name(name) => {
                    let next = self.step(way.last(), &name)?;
                    match self.target(next) {
                        Some(target) if follow || !left.is_empty() => {
                            self.follow(way)?;
                            left.extend(steps(&target));
                        }
                        _ => way.below.push((next, name)),
                    }
                }
            }
        }
        Ok(())
    }

    /// Counts a link that is followed.
    fn follow(&self, way: &mut Way) -> Result<(), Errno> {
        way.links += 1;
        match way.links > LINKS_MAX {
            true => Err(Errno::ELOOP),
            false => Ok(()),
        }
    }

    pub(super) fn way_to(&mut self, path: &Path, follow: bool) -> Result<Way, Errno> {
        valid(path)?;
        let mut way = Way::default();
        self.walk(&mut way, steps(path), follow)?;
        Ok(way)
    }

    /// As the C library finds the real path: piece by piece, however long it is.
    pub(super) fn canonicalize(&mut self, path: &Path) -> Result<PathBuf, Errno> {
        match valid(path) {
            Ok(()) | Err(Errno::ENAMETOOLONG) => {}
            Err(error) => return Err(error),
        }
        let mut way = Way {
            by_words: true,
            ..Way::default()
        };
        self.walk(&mut way, steps(path), true)?;
        let names = way.below.iter().map(|(_, name)| name.as_os_str());
        Ok([OsStr::new("/")].into_iter().chain(names).collect())
    }

    /// What a path leads to.
    pub(super) fn lookup(&mut self, path: &Path) -> Result<Ino, Errno> {
        Ok(self.way_to(path, true)?.last())
    }

    /// What a path names: a symbolic link rather than what it leads to.
    pub(super) fn lookup_link(&mut self, path: &Path) -> Result<Ino, Errno> {
        Ok(self.way_to(path, false)?.last())
    }

    /// The place a path names; `special` says what is wrong with an end that is no name.
    pub(super) fn place(
        &mut self,
        path: &Path,
        special: impl Fn(End) -> Errno,
    ) -> Result<Place, Errno> {
        let spot = self.spot(path)?;
        self.place_at(spot, special)
    }

    /// Where what the path ends in is to be looked up.
    pub(super) fn spot(&mut self, path: &Path) -> Result<Spot, Errno> {
        valid(path)?;
        self.spot_from(Way::default(), path)
    }

    fn spot_from(&mut self, mut way: Way, path: &Path) -> Result<Spot, Errno> {
        let (end, mut components) = (end_of(path), path.components());
        let name = match end {
            End::Name | End::Up => components.next_back(),
            End::Here | End::Root => None,
        };
        let name = name.map_or_else(OsString::new, |name| name.as_os_str().to_owned());
        self.walk(&mut way, leading(components), true)?;
        self.may_look_up(way.last())?;
        let slash = has_slash(path);
        Ok(Spot {
            way,
            end,
            name,
            slash,
        })
    }

    /// What is at a spot; `special` says what is wrong with an end that is no name.
    pub(super) fn place_at(
        &mut self,
        spot: Spot,
        special: impl Fn(End) -> Errno,
    ) -> Result<Place, Errno> {
        if spot.end != End::Name {
            return Err(special(spot.end));
        }
        let found = match self.step(spot.way.last(), &spot.name) {
            Ok(ino) => Some(ino),
            Err(Errno::ENOENT) => None,
            Err(error) => return Err(error),
        };
        Ok(Place {
            way: spot.way,
            name: spot.name,
            found,
            slash: spot.slash,
        })
    }

    /// The place that a path leads to in the end, where a file may be made. No slash may come after
    /// its name. A link at the end is followed only if a file may be there, and if that is asked for.
    pub(super) fn place_for_file(
        &mut self,
        path: &Path,
        create_new: bool,
        follow: bool,
    ) -> Result<Place, Errno> {
        let special = match create_new {
            true => Errno::EEXIST,
            false => Errno::EISDIR,
        };
        let mut spot = self.spot(path)?;
        loop {
            if spot.end == End::Name && spot.slash {
                return Err(Errno::EISDIR);
            }
            let mut place = self.place_at(spot, |_| special)?;
            let target = place.found.and_then(|ino| self.target(ino));
            let Some(target) = target.filter(|_| follow && !create_new) else {
                return Ok(place);
            };
            self.follow(&mut place.way)?;
            spot = self.spot_from(place.way, &target)?;
        }
    }
}
