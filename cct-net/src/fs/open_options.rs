//! `OpenOptions`.

#[cfg(target_os = "linux")]
use super::custom_flags::CustomFlags;
use super::disks::Drive;
use super::file::File;
use super::handle::{Handle, Mode};
use super::path_ops::on_path;
use super::tree::{READ, Tree, WRITE};
use crate::errno::Errno;
use cct_executor::shim::{Access, OpKind};
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// How a file is to be opened.
#[derive(Clone, Debug)]
pub struct OpenOptions {
    mode: Mode,
    truncate: bool,
    create: bool,
    create_new: bool,
    /// Permissions of a file that is made.
    permissions: u32,
    #[cfg(target_os = "linux")]
    custom: CustomFlags,
}

impl Default for OpenOptions {
    fn default() -> OpenOptions {
        OpenOptions {
            mode: Mode::default(),
            truncate: false,
            create: false,
            create_new: false,
            permissions: 0o666,
            #[cfg(target_os = "linux")]
            custom: CustomFlags::default(),
        }
    }
}

impl OpenOptions {
    /// Nothing is set.
    pub fn new() -> OpenOptions {
        OpenOptions::default()
    }

    /// For reading.
    pub fn read(&mut self, read: bool) -> &mut OpenOptions {
        self.mode.read = read;
        self
    }

    /// For writing.
    pub fn write(&mut self, write: bool) -> &mut OpenOptions {
        self.mode.write = write;
        self
    }

    /// For writing, always at the end.
    pub fn append(&mut self, append: bool) -> &mut OpenOptions {
        self.mode.append = append;
        self
    }

    /// Empties the file.
    pub fn truncate(&mut self, truncate: bool) -> &mut OpenOptions {
        self.truncate = truncate;
        self
    }

    /// Makes the file if it is not there.
    pub fn create(&mut self, create: bool) -> &mut OpenOptions {
        self.create = create;
        self
    }

    /// Makes the file, which must not be there. [`create`](Self::create) and
    /// [`truncate`](Self::truncate) no longer matter.
    pub fn create_new(&mut self, create_new: bool) -> &mut OpenOptions {
        self.create_new = create_new;
        self
    }

    /// The permissions of a file that is made; group and others never may write (`umask` is 022).
    /// 0o666 at first.
    pub fn mode(&mut self, mode: u32) -> &mut OpenOptions {
        self.permissions = mode;
        self
    }

    /// More flags of `open`: O_NOFOLLOW and O_DIRECTORY, and those that make no difference here (O_CLOEXEC,
    /// O_NOATIME, O_NOCTTY, O_NONBLOCK, O_LARGEFILE). On Linux only.
    ///
    /// # Differences from tokio
    /// With others, such as O_SYNC and O_DIRECT, [`open`](Self::open) fails as `Unsupported`.
    #[cfg(target_os = "linux")]
    pub fn custom_flags(&mut self, flags: i32) -> &mut OpenOptions {
        self.custom = CustomFlags::new(flags);
        self
    }

    /// Opens the file.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, a file that was to be made or emptied is, now or later.
    ///
    /// # Errors
    /// `InvalidInput` for options that contradict each other; those of [paths](crate::fs#errors);
    /// EEXIST when a new file is there already, EISDIR for a directory that is to be written, EACCES
    /// when the file may not be read or written as asked, or none be made where it would be.
    #[track_caller]
    pub fn open<P: AsRef<Path>>(
        &self,
        path: P,
    ) -> impl Future<Output = io::Result<File>> + Send + use<P> {
        let site = Location::caller();
        self.clone().opened(path.as_ref().to_owned(), site)
    }

    fn opened(
        self,
        path: PathBuf,
        site: &'static Location<'static>,
    ) -> impl Future<Output = io::Result<File>> + Send {
        let changes = self.create || self.create_new || self.truncate;
        let access = if changes { Access::Write } else { Access::Read };
        on_path((OpKind::Get, access), site, move |drive| {
            let handle = self.open_at(drive, &path, site)?;
            Ok(File::new(Arc::new(handle)))
        })
    }

    fn check(&self) -> Result<(), Errno> {
        let Mode {
            read,
            write,
            append,
        } = self.mode;
        let makes = self.truncate || self.create || self.create_new;
        let nothing = !read && !write && !append;
        let only_reads = !write && !append && makes;
        let contradiction = append && self.truncate && !self.create_new;
        match nothing || only_reads || contradiction {
            true => Err(Errno::EINVAL),
            false => Ok(()),
        }
    }

    /// Opens a file, as one step.
    pub(super) fn open_at(
        &self,
        drive: &Drive,
        path: &Path,
        site: &'static Location<'static>,
    ) -> io::Result<Handle> {
        self.check()?;
        #[cfg(target_os = "linux")]
        self.custom.check(self.create || self.create_new)?;
        let mode = Mode {
            write: self.mode.write || self.mode.append,
            ..self.mode
        };
        let ino = drive.tree(|tree| {
            let (ino, made) = self.find(tree, path, site)?;
            #[cfg(target_os = "linux")]
            {
                let inode = tree.inode(ino);
                self.custom
                    .allow(inode.is_symlink(), inode.is_directory())?;
            }
            if mode.write && tree.inode(ino).is_directory() {
                return Err(Errno::EISDIR);
            }
            for (asked, what) in [(mode.read, READ), (mode.write, WRITE)] {
                if asked && !made {
                    tree.may(ino, what)?;
                }
            }
            if self.truncate && !made {
                let seq = tree.next_seq();
                let content = tree.content(ino)?;
                if content.len() > 0 {
                    content.set_len(seq, 0);
                    tree.inode(ino).publish();
                }
                tree.modified(ino);
            }
            Ok(ino)
        })?;
        Handle::open(drive, ino, mode, site)
    }

    fn find(
        &self,
        tree: &mut Tree,
        path: &Path,
        site: &'static Location<'static>,
    ) -> Result<(u32, bool), Errno> {
        if self.create || self.create_new {
            let follow = self.follows_links();
            return tree.find_or_create(path, (self.create_new, follow, self.permissions), site);
        }
        let found = match self.follows_links() {
            true => tree.lookup(path)?,
            false => tree.lookup_link(path)?,
        };
        Ok((found, false))
    }

    fn follows_links(&self) -> bool {
        #[cfg(target_os = "linux")]
        return !self.custom.keeps_off_links();
        #[cfg(not(target_os = "linux"))]
        return true;
    }
}
