//! `File`.

use super::disks::{Drive, Fate};
use super::file_io::{Begun, LeftBehind};
use super::handle::Handle;
use super::open_options::OpenOptions;
use super::operation::{Completion, Intent, Operation, lost};
use super::tree::Kind;
use cct_executor::shim::{Access, OpKind, Shared};
use std::collections::VecDeque;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;
use std::task::ready;

/// An open file of the node that opened it.
///
/// As with tokio, a write returns as soon as a background thread has the bytes; the write itself is
/// an action of its own, and the next operation on this `File` waits for it. Who drops a `File`
/// without [`flush`](Self::flush) or [`sync_all`](Self::sync_all) does not know when, or whether,
/// others see the bytes.
///
/// After a crash of its node every operation on it fails.
///
/// # Differences from tokio
/// Implements the traits of `futures-io`, and has their most common methods itself. There are no file
/// descriptors, and no flags beyond those of [`OpenOptions`].
pub struct File {
    pub(super) handle: Arc<Handle>,
    pub(super) background: Shared<Background>,
    /// What one read or write passes on at most.
    pub(super) buffer: usize,
}

/// What tokio's file hands to the background at a time.
const BUFFER: usize = 2 * 1024 * 1024;

/// The write that tokio would do on a thread of its pool.
#[derive(Default)]
pub(super) struct Background {
    pub(super) write: Option<Arc<Completion<()>>>,
    /// A change of the length whose future was dropped.
    pub(super) length: Option<Arc<Completion<()>>>,
    /// A failed write that a read has noticed first.
    pub(super) failed: Option<io::ErrorKind>,
    /// A read or a seek that has been handed to the pool.
    pub(super) begun: Option<Begun>,
    /// What was read for a future that was dropped: the next read gets it.
    pub(super) ahead: VecDeque<u8>,
}

impl File {
    pub(super) fn new(handle: Arc<Handle>) -> File {
        File {
            handle,
            background: Shared::new(Background::default()),
            buffer: BUFFER,
        }
    }

    /// Opens a file, or a directory, for reading.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// As for [`OpenOptions::open`].
    #[track_caller]
    pub fn open(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> + Send {
        OpenOptions::new().read(true).open(path)
    }

    /// Opens a file for writing; makes it if it is not there, empties it if it is.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// As for [`OpenOptions::open`].
    #[track_caller]
    pub fn create(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> + Send {
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).open(path)
    }

    /// Makes a file that must not be there yet, and opens it for reading and writing.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, it happens, now or later.
    ///
    /// # Errors
    /// As for [`OpenOptions::open`]; EEXIST when there is something.
    #[track_caller]
    pub fn create_new(path: impl AsRef<Path>) -> impl Future<Output = io::Result<File>> + Send {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true).open(path)
    }

    /// What files may be opened with.
    pub fn options() -> OpenOptions {
        OpenOptions::new()
    }

    pub(super) fn intent(
        &self,
        kind: OpKind,
        access: Access,
        site: &'static Location<'static>,
    ) -> Intent {
        Intent {
            resource: self.handle.resource.clone(),
            kind,
            access,
            site,
        }
    }

    /// Waits for what is under way.
    async fn settle(&self, intent: &Intent) {
        poll_fn(|cx| self.poll_settled(cx, intent)).await;
        // Who waits for that hears of it.
        let _: io::Result<u64> = self.finish_begun();
    }

    /// Makes all data, the size and the permissions durable. Names are durable only once their
    /// directory is flushed: open it, and call this.
    ///
    /// # Scheduling points
    /// One; the end of the flush is an action of its own.
    ///
    /// # Cancel safety
    /// Once begun, the flush goes on.
    ///
    /// # Errors
    /// `Other` after a crash of its node, also if it crashed meanwhile; EIO from a disk with faults:
    /// then part of what was written may be lost for good, though programs still read it, and a later
    /// flush says nothing of it.
    #[track_caller]
    pub fn sync_all(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        self.sync(true, Location::caller())
    }

    /// As [`sync_all`](Self::sync_all), but for the permissions.
    ///
    /// # Scheduling points
    /// One; the end of the flush is an action of its own.
    ///
    /// # Cancel safety
    /// Once begun, the flush goes on.
    ///
    /// # Errors
    /// As for [`sync_all`](Self::sync_all).
    #[track_caller]
    pub fn sync_data(&self) -> impl Future<Output = io::Result<()>> + Send + '_ {
        self.sync(false, Location::caller())
    }

    async fn sync(&self, all: bool, site: &'static Location<'static>) -> io::Result<()> {
        let intent = self.intent(OpKind::Flush, Access::Write, site);
        self.settle(&intent).await;
        let mut begun = None;
        poll_fn(|cx| {
            if begun.is_none() {
                ready!(intent.point());
                begun = Some(begin_sync(&self.handle, all, site)?);
            }
            let completion = begun.as_ref().expect("begun above");
            completion.poll(cx, &intent)
        })
        .await
    }

    /// An operation that waits for what is under way.
    pub(super) async fn operation<T, F>(
        &self,
        what: (OpKind, Access),
        site: &'static Location<'static>,
        act: F,
    ) -> io::Result<T>
    where
        F: FnOnce(&Handle) -> io::Result<T> + Send + 'static,
    {
        self.settle(&self.intent(what.0, what.1, site)).await;
        self.operation_at_once(what, site, act).await
    }

    /// An operation beside which a write may be under way.
    pub(super) fn operation_at_once<T, F>(
        &self,
        (kind, access): (OpKind, Access),
        site: &'static Location<'static>,
        act: F,
    ) -> Operation<impl FnOnce(&Drive) -> io::Result<T> + Send + 'static, T>
    where
        F: FnOnce(&Handle) -> io::Result<T> + Send + 'static,
    {
        let intent = self.intent(kind, access, site);
        let handle = self.handle.clone();
        let drive = handle.drive.clone();
        Operation::new(drive, intent, move |_| act(&handle))
    }

    /// Cuts the file, or extends it with zeros.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once it waits for nothing else, it happens, now or later; the next operation waits for that.
    ///
    /// # Errors
    /// EINVAL when it was not opened for writing, or beyond 2^63; EFBIG, ENOSPC when the disk is full; `Other` after a
    /// crash of its node.
    ///
    /// # Differences from tokio
    /// A file has at most 2^30 bytes; beyond it is EFBIG.
    #[track_caller]
    pub fn set_len(&self, size: u64) -> impl Future<Output = io::Result<()>> + Send + '_ {
        let (what, site) = ((OpKind::Write, Access::Write), Location::caller());
        async move {
            self.settle(&self.intent(what.0, what.1, site)).await;
            let back = self.give_back();
            let act = move |file: &Handle| {
                file.go_back(back)?;
                file.set_len(size)
            };
            let completion = Completion::new();
            let mut left_behind = LeftBehind {
                file: self,
                completion: Some(completion.clone()),
            };
            let operation = self.operation_at_once(what, site, act);
            let done = operation.leaving_behind(completion).await;
            left_behind.completion = None;
            done
        }
    }

    /// A second `File` for the same open file: they share the position.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn try_clone(&self) -> impl Future<Output = io::Result<File>> + Send + '_ {
        let handle = self.handle.clone();
        let site = Location::caller();
        async move {
            let alive = |file: &Handle| file.drive.with(|_| ());
            self.operation((OpKind::Get, Access::Read), site, alive)
                .await?;
            Ok(File {
                buffer: self.buffer,
                ..File::new(handle)
            })
        }
    }

    /// How many bytes one read or write passes on at most; two mebibytes at first.
    pub fn max_buf_size(&self) -> usize {
        self.buffer
    }

    /// Sets how many bytes one read or write passes on at most.
    ///
    /// # Panics
    /// If that is 0.
    #[track_caller]
    pub fn set_max_buf_size(&mut self, max_buf_size: usize) {
        assert!(max_buf_size > 0, "`max_buf_size` must be greater than 0");
        self.buffer = max_buf_size;
    }
}

/// Bytes as text.
pub(super) fn text_of(bytes: &[u8]) -> io::Result<&str> {
    std::str::from_utf8(bytes).map_err(|_| {
        io::Error::new(
            io::ErrorKind::InvalidData,
            "stream did not contain valid UTF-8",
        )
    })
}

/// Puts a flush under way.
pub(super) fn begin_sync(
    handle: &Arc<Handle>,
    all: bool,
    site: &'static Location<'static>,
) -> io::Result<Arc<Completion<()>>> {
    let (mark, file) = (handle.mark()?, handle.clone());
    let completion = Completion::new();
    let done = completion.clone();
    let identity = handle.identity ^ 0x7379_6e63;
    handle
        .drive
        .start(identity, &handle.resource, site, move |fate| {
            let result = match fate {
                Fate::Due => file.sync(mark, all),
                Fate::Lost => lost(&file.drive),
            };
            drop(file);
            done.complete(result);
        });
    Ok(completion)
}

impl fmt::Debug for File {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let kind = self
            .handle
            .drive
            .with(|disk| match disk.tree.inode(self.handle.ino).kind {
                Kind::File(_) => "file",
                Kind::Directory(_) => "directory",
                Kind::Symlink(_) => "symlink",
            });
        f.debug_struct("File")
            .field("kind", &kind.unwrap_or("stale"))
            .field("mode", &self.handle.mode)
            .finish_non_exhaustive()
    }
}
