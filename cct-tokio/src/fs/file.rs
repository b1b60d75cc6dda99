//! `File`: how one comes about, and what is done with it as a whole.

use super::buffer::Buffer;
use super::file_io::{Done, Inner, State};
use super::{FileTimes, OpenOptions};
use crate::pool::{self, Site};
use crate::sync::{Mutex, MutexGuard};
use std::fmt;
use std::fs::{File as StdFile, Metadata, Permissions};
use std::io::{self, Seek, SeekFrom};
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

/// How much a file reads or writes at once, unless it is told otherwise.
const MAX_BUF_SIZE: usize = 2 * 1024 * 1024;

/// An open file of the machine. As in tokio, what is written is on its way until a flush, and an error of
/// a write is told by the operation after it.
pub struct File {
    pub(super) std: Arc<StdFile>,
    pub(super) inner: Mutex<Inner>,
    pub(super) max_buf_size: usize,
    /// Where it was opened: what its traits do is done for this place.
    pub(super) site: Site,
}

impl File {
    /// Opens a file to read from.
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        let mut options = OpenOptions::new();
        options.read(true);
        options.open_at(Location::caller(), path)
    }

    /// Opens a file to write to, as an empty one.
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true);
        options.open_at(Location::caller(), path)
    }

    /// Makes a file that was not there, to read and to write.
    #[track_caller]
    pub fn create_new<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<File>> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        options.open_at(Location::caller(), path)
    }

    /// As [`OpenOptions::new`].
    #[must_use]
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    /// A file that is open already.
    #[track_caller]
    pub fn from_std(std: StdFile) -> File {
        File::opened(std, Location::caller())
    }

    pub(super) fn opened(std: StdFile, site: Site) -> File {
        File {
            std: Arc::new(std),
            inner: Mutex::new(Inner::default()),
            max_buf_size: MAX_BUF_SIZE,
            site,
        }
    }

    /// Waits until all that was written is on the disk.
    #[track_caller]
    pub fn sync_all(&self) -> impl Future<Output = io::Result<()>> {
        self.synced(Location::caller(), StdFile::sync_all)
    }

    /// Waits until the contents that were written are on the disk.
    #[track_caller]
    pub fn sync_data(&self) -> impl Future<Output = io::Result<()>> {
        self.synced(Location::caller(), StdFile::sync_data)
    }

    /// Changes how long it is.
    #[track_caller]
    pub fn set_len(&self, size: u64) -> impl Future<Output = io::Result<()>> {
        let site = Location::caller();
        async move {
            let mut inner = self.settled().await;
            let mut buffer = inner.take_buffer();
            let (std, back) = (self.std.clone(), buffer.give_back());
            inner.state = State::Busy(pool::spawn(site, "File::set_len", move || {
                let moved = go_back(&std, back);
                // The position that tokio notes after this is 0.
                let done = moved.and_then(|()| std.set_len(size)).map(|()| 0);
                (Done::Sought(done), buffer)
            }));
            match inner.done().await? {
                Some(Done::Sought(result)) => {
                    inner.position = result?;
                    Ok(())
                }
                _ => unreachable!("cct bug: another operation of a locked file"),
            }
        }
    }

    /// What is known of the file. Does not wait for what is still to be written.
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> {
        let (site, std) = (Location::caller(), self.std.clone());
        pool::run(site, "File::metadata", move || std.metadata())
    }

    /// Another one that shares the position.
    #[track_caller]
    pub fn try_clone(&self) -> impl Future<Output = io::Result<File>> {
        let site = Location::caller();
        async move {
            drop(self.settled().await);
            let std = self.std.clone();
            let cloned = pool::run(site, "File::try_clone", move || std.try_clone()).await?;
            let mut file = File::opened(cloned, site);
            file.max_buf_size = self.max_buf_size;
            Ok(file)
        }
    }

    /// The file of the standard library, when what goes on with it has ended.
    pub async fn into_std(mut self) -> StdFile {
        self.inner.get_mut().settle().await;
        Arc::try_unwrap(self.std).expect("Arc::try_unwrap failed")
    }

    /// The file of the standard library.
    ///
    /// # Errors
    /// Gives the file back while something goes on with it.
    #[expect(clippy::result_large_err, reason = "it is tokio's signature")]
    pub fn try_into_std(mut self) -> Result<StdFile, File> {
        match Arc::try_unwrap(self.std) {
            Ok(file) => Ok(file),
            Err(shared) => {
                self.std = shared;
                Err(self)
            }
        }
    }

    /// Changes who may do what with it.
    #[track_caller]
    pub fn set_permissions(&self, perm: Permissions) -> impl Future<Output = io::Result<()>> {
        let (site, std) = (Location::caller(), self.std.clone());
        pool::run(site, "File::set_permissions", move || {
            std.set_permissions(perm)
        })
    }

    /// Changes when it is said to have been read and changed.
    #[track_caller]
    pub fn set_times(&self, times: FileTimes) -> impl Future<Output = io::Result<()>> {
        let site = Location::caller();
        async move {
            drop(self.settled().await);
            let (std, times) = (self.std.clone(), times.into_std());
            pool::run(site, "File::set_times", move || std.set_times(times)).await
        }
    }

    /// Changes when it is said to have been changed.
    #[track_caller]
    #[expect(clippy::disallowed_types, reason = "a date of the caller's")]
    pub fn set_modified(
        &self,
        time: std::time::SystemTime,
    ) -> impl Future<Output = io::Result<()>> {
        self.set_times(FileTimes::new().set_modified(time))
    }

    /// Changes how much it reads or writes at once.
    ///
    /// # Panics
    /// For 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.max_buf_size = max_buf_size;
    }

    /// How much it reads or writes at once.
    pub fn max_buf_size(&self) -> usize {
        self.max_buf_size
    }

    /// Waits for what goes on with it.
    async fn settled(&self) -> MutexGuard<'_, Inner> {
        let mut inner = self.inner.lock().await;
        inner.settle().await;
        inner
    }

    /// Flushes it in one way or another, with no other operation meanwhile.
    async fn synced(
        &self,
        site: Site,
        sync: impl FnOnce(&StdFile) -> io::Result<()> + Send + 'static,
    ) -> io::Result<()> {
        let _locked = self.settled().await;
        let std = self.std.clone();
        pool::run(site, "File::sync", move || sync(&std)).await
    }
}

/// Takes back what was read and not asked for.
pub(super) fn go_back(mut file: &StdFile, by: Option<i64>) -> io::Result<()> {
    match by {
        Some(by) => file.seek(SeekFrom::Current(by)).map(drop),
        None => Ok(()),
    }
}

impl Inner {
    pub(super) fn take_buffer(&mut self) -> Buffer {
        match &mut self.state {
            State::Idle(buffer) => std::mem::take(buffer),
            State::Busy(_) => unreachable!("cct bug: a busy file has no buffer"),
        }
    }
}

impl From<StdFile> for File {
    #[track_caller]
    fn from(std: StdFile) -> File {
        File::from_std(std)
    }
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("tokio::fs::File")
            .field("std", &self.std)
            .finish()
    }
}
