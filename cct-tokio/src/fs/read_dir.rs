//! What a directory holds.

use crate::pool::{self, Site};
use crate::task::JoinHandle;
use std::collections::VecDeque;
use std::ffi::OsString;
use std::fs::{FileType, Metadata};
use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::path::{Path, PathBuf};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// How many entries a blocking task reads.
const AT_ONCE: usize = 32;

/// What a directory holds. See [`std::fs::read_dir`].
#[track_caller]
pub fn read_dir(path: impl AsRef<Path>) -> impl Future<Output = io::Result<ReadDir>> {
    let site = Location::caller();
    async move {
        let path = path.as_ref().to_owned();
        let first = move || Ok(Some(Part::of(std::fs::read_dir(path)?)));
        let state = State::Idle(pool::run(site, "fs::read_dir", first).await?);
        Ok(ReadDir { state, site })
    }
}

/// The entries of a directory, read some at a time.
#[derive(Debug)]
#[must_use = "streams do nothing unless polled"]
pub struct ReadDir {
    state: State,
    site: Site,
}

#[derive(Debug)]
enum State {
    /// `None` only while it is handed on.
    Idle(Option<Part>),
    Busy(JoinHandle<Part>),
}

/// Entries that were read, and whether there may be others.
#[derive(Debug)]
struct Part {
    entries: VecDeque<io::Result<DirEntry>>,
    /// Large on some systems.
    rest: Box<std::fs::ReadDir>,
    goes_on: bool,
}

impl Part {
    fn of(rest: std::fs::ReadDir) -> Part {
        let part = Part {
            entries: VecDeque::with_capacity(AT_ONCE),
            rest: Box::new(rest),
            goes_on: true,
        };
        part.read_on()
    }

    /// Reads the next entries, up to one that fails.
    fn read_on(mut self) -> Part {
        for _ in 0..AT_ONCE {
            let Some(entry) = self.rest.next() else {
                self.goes_on = false;
                break;
            };
            let failed = entry.is_err();
            self.entries.push_back(entry.map(DirEntry::of));
            if failed {
                break;
            }
        }
        self
    }
}

impl ReadDir {
    /// The next entry, or `None` after the last.
    ///
    /// # Cancel safety
    /// No entry is lost.
    pub async fn next_entry(&mut self) -> io::Result<Option<DirEntry>> {
        poll_fn(|cx| self.poll_next_entry(cx)).await
    }

    /// As [`next_entry`](Self::next_entry).
    pub fn poll_next_entry(&mut self, cx: &mut Context<'_>) -> Poll<io::Result<Option<DirEntry>>> {
        loop {
            match &mut self.state {
                State::Idle(part) => {
                    let read = part.as_mut().expect("cct bug: the entries are elsewhere");
                    if let Some(entry) = read.entries.pop_front() {
                        return Poll::Ready(entry.map(Some));
                    }
                    if !read.goes_on {
                        return Poll::Ready(Ok(None));
                    }
                    let part = part.take().expect("it was there");
                    self.state =
                        State::Busy(pool::spawn(self.site, "ReadDir::next_entry", move || {
                            part.read_on()
                        }));
                }
                State::Busy(reading) => {
                    self.state = State::Idle(Some(ready!(Pin::new(reading).poll(cx))?));
                }
            }
        }
    }
}

/// An entry of a directory.
#[derive(Debug)]
pub struct DirEntry {
    file_type: Option<FileType>,
    std: Arc<std::fs::DirEntry>,
}

impl DirEntry {
    fn of(std: std::fs::DirEntry) -> DirEntry {
        DirEntry {
            file_type: std.file_type().ok(),
            std: Arc::new(std),
        }
    }

    /// Its path, by way of the path that the directory was read by.
    pub fn path(&self) -> PathBuf {
        self.std.path()
    }

    /// Its name.
    pub fn file_name(&self) -> OsString {
        self.std.file_name()
    }

    /// What is known of it; symbolic links are not followed.
    #[track_caller]
    pub fn metadata(&self) -> impl Future<Output = io::Result<Metadata>> {
        let (site, std) = (Location::caller(), self.std.clone());
        pool::run(site, "DirEntry::metadata", move || std.metadata())
    }

    /// What it is. Most systems have said so already.
    #[track_caller]
    pub fn file_type(&self) -> impl Future<Output = io::Result<FileType>> {
        let site = Location::caller();
        async move {
            if let Some(known) = self.file_type {
                return Ok(known);
            }
            let std = self.std.clone();
            pool::run(site, "DirEntry::file_type", move || std.file_type()).await
        }
    }

    /// The number of its inode.
    #[cfg(unix)]
    pub fn ino(&self) -> u64 {
        std::os::unix::fs::DirEntryExt::ino(&*self.std)
    }
}
