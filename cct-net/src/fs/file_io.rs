//! Reading, writing and seeking in a `File`.

use super::disks::Fate;
use super::file::{Background, File};
use super::handle::shortened;
use super::operation::{Completion, Intent, lost};
use cct_executor::shim::{self, Access, OpKind};
use cct_executor::task::coop;
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::panic::Location;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Identity of a file's writes in the background.
const WRITES: u64 = 0x7772_6974;

type Site = &'static Location<'static>;

/// What tokio would have handed to its pool. It is done when the file is used next, whoever waits
/// for it then: a future that is dropped takes nothing back.
#[derive(Clone, Copy, Debug)]
pub(super) enum Begun {
    Read(usize),
    Seek(SeekFrom),
}

impl File {
    /// Waits for a change of the length that nobody waits for; its result is returned, once.
    fn poll_length(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<io::Result<()>> {
        let Some(length) = self.background.with(|background| background.length.clone()) else {
            return Poll::Ready(Ok(()));
        };
        let result = ready!(length.poll(cx, intent));
        self.background.with(|background| background.length = None);
        Poll::Ready(result)
    }

    /// Waits for the write in the background; its result is returned, once.
    fn poll_background(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<io::Result<()>> {
        let _: io::Result<()> = ready!(self.poll_length(cx, intent));
        let Some(write) = self.background.with(|background| background.write.clone()) else {
            return Poll::Ready(Ok(()));
        };
        let result = ready!(write.poll(cx, intent));
        self.background.with(|background| background.write = None);
        Poll::Ready(result)
    }

    /// As `poll_background`, but keeps an error for the next write or flush.
    pub(super) fn poll_settled(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<()> {
        if let Err(error) = ready!(self.poll_background(cx, intent)) {
            self.background
                .with(|background| background.failed = Some(error.kind()));
        }
        Poll::Ready(())
    }

    fn take_failure(&self) -> io::Result<()> {
        match self.background.with(|background| background.failed.take()) {
            Some(kind) => Err(kind.into()),
            None => Ok(()),
        }
    }

    /// Hands something to the pool: the poll returns `Pending`.
    fn begin(&self, cx: &mut Context<'_>, intent: &Intent, what: Begun) {
        self.background
            .with(|background| background.begun = Some(what));
        intent.wait();
        shim::defer(cx);
    }

    /// Does what was begun, if anything was; where a seek leads to, or 0.
    pub(super) fn finish_begun(&self) -> io::Result<u64> {
        match self.background.with(|background| background.begun.take()) {
            None => Ok(0),
            Some(Begun::Seek(to)) => self.handle.seek(to),
            Some(Begun::Read(count)) => {
                let mut bytes = vec![0; count];
                let count = self.handle.read(&mut bytes)?;
                bytes.truncate(count);
                self.background
                    .with(|background| background.ahead = bytes.into());
                Ok(0)
            }
        }
    }

    /// How far the position is to go back, as nobody took what was read.
    pub(super) fn give_back(&self) -> i64 {
        let ahead = self
            .background
            .with(|background| std::mem::take(&mut background.ahead));
        -(ahead.len() as i64)
    }

    fn begun(&self) -> Option<Begun> {
        self.background.with(|background| background.begun)
    }

    pub(super) fn poll_read_at(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let intent = self.intent(OpKind::Read, Access::Read, site);
        ready!(self.poll_settled(cx, &intent));
        match self.begun() {
            Some(Begun::Read(count)) => {
                ready!(intent.point());
                ready!(coop::poll_proceed(cx)).made_progress();
                return Poll::Ready(self.finish_read(count, buffer));
            }
            Some(Begun::Seek(_)) => {
                ready!(intent.point());
                let _: io::Result<u64> = self.finish_begun();
            }
            None => {}
        }
        let is_ahead = |background: &mut Background| !background.ahead.is_empty();
        if buffer.is_empty() || self.background.with(is_ahead) {
            return Poll::Ready(Ok(self.pass_on(buffer)));
        }
        let count = buffer.len().min(self.buffer);
        self.begin(cx, &intent, Begun::Read(count));
        Poll::Pending
    }

    /// Reads to the end.
    pub(super) async fn read_all(&mut self, into: &mut Vec<u8>, site: Site) -> io::Result<usize> {
        let start = into.len();
        let mut buffer = vec![0; 8 * 1024];
        loop {
            match poll_fn(|cx| self.poll_read_at(cx, &mut buffer, site)).await? {
                0 => return Ok(into.len() - start),
                count => into.extend_from_slice(&buffer[..count]),
            }
        }
    }

    /// Does the read that was begun, for this buffer or for a smaller one.
    fn finish_read(&self, count: usize, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(room) = buffer.get_mut(..count) {
            self.background.with(|background| background.begun = None);
            return self.handle.read(room);
        }
        self.finish_begun()?;
        Ok(self.pass_on(buffer))
    }

    /// Passes on what was read.
    fn pass_on(&self, buffer: &mut [u8]) -> usize {
        self.background.with(|background| {
            let count = buffer.len().min(background.ahead.len());
            for (place, byte) in buffer.iter_mut().zip(background.ahead.drain(..count)) {
                *place = byte;
            }
            count
        })
    }

    pub(super) fn poll_write_at(
        &self,
        cx: &mut Context<'_>,
        bytes: &[u8],
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let intent = self.intent(OpKind::Write, Access::Write, site);
        self.take_failure()?;
        ready!(self.poll_background(cx, &intent))?;
        ready!(intent.point());
        // Nobody is told how that went.
        let _: io::Result<u64> = self.finish_begun();
        let mut count = bytes.len().min(self.buffer);
        if self.handle.drive.settings()?.short_writes {
            count = shortened(count, "how much a write takes");
        }
        self.start_write(bytes[..count].to_vec(), site);
        Poll::Ready(Ok(count))
    }

    fn start_write(&self, bytes: Vec<u8>, site: Site) {
        let (handle, back) = (self.handle.clone(), self.give_back());
        let completion = Completion::new();
        let done = completion.clone();
        self.background
            .with(|background| background.write = Some(completion));
        let (drive, resource) = (self.handle.drive.clone(), self.handle.resource.clone());
        let identity = self.handle.identity ^ WRITES;
        drive.start_awaited(identity, &resource, site, move |fate| {
            let result = match fate {
                Fate::Due => handle.go_back(back).and_then(|()| handle.write_all(&bytes)),
                Fate::Lost => lost(&handle.drive),
            };
            drop(handle);
            done.complete(result);
        });
    }

    pub(super) fn poll_flush_at(&self, cx: &mut Context<'_>, site: Site) -> Poll<io::Result<()>> {
        let intent = self.intent(OpKind::Flush, Access::Read, site);
        self.take_failure()?;
        ready!(self.poll_background(cx, &intent))?;
        ready!(intent.point());
        let _: io::Result<u64> = self.finish_begun();
        Poll::Ready(Ok(()))
    }

    /// `mine` says whether what was begun is this seek.
    pub(super) fn poll_seek_at(
        &self,
        cx: &mut Context<'_>,
        (to, mine): (SeekFrom, &mut bool),
        site: Site,
    ) -> Poll<io::Result<u64>> {
        // Only who shares the position notices.
        let intent = self.intent(OpKind::Set, Access::Read, site);
        // A seek hears of what failed before it, unless that was a read or a write.
        ready!(self.poll_length(cx, &intent))?;
        ready!(self.poll_settled(cx, &intent));
        if let Some(begun) = self.begun() {
            ready!(intent.point());
            if std::mem::take(mine) {
                ready!(coop::poll_proceed(cx)).made_progress();
                return Poll::Ready(self.finish_begun());
            }
            let done = self.finish_begun();
            if matches!(begun, Begun::Seek(_)) {
                done?;
            }
        }
        let back = self.give_back();
        let to = match to {
            SeekFrom::Current(by) => SeekFrom::Current(by.saturating_add(back)),
            to => to,
        };
        *mine = true;
        self.begin(cx, &intent, Begun::Seek(to));
        Poll::Pending
    }
}

/// Adds what was read to a text, as tokio does: also what was read before an error.
pub(super) fn add_text(
    text: &mut String,
    bytes: &[u8],
    read: io::Result<usize>,
) -> io::Result<usize> {
    let mut all = std::mem::take(text).into_bytes();
    let before = all.len();
    all.extend_from_slice(bytes);
    match String::from_utf8(all) {
        Ok(all) => {
            *text = all;
            read
        }
        Err(wrong) => {
            let error = io::Error::new(io::ErrorKind::InvalidData, wrong.utf8_error());
            let mut all = wrong.into_bytes();
            all.truncate(before);
            *text = String::from_utf8(all).expect("it was text before");
            read.and(Err(error))
        }
    }
}

/// Has the next operation on a file wait for one whose future was dropped.
pub(super) struct LeftBehind<'a> {
    pub(super) file: &'a File,
    pub(super) completion: Option<Arc<Completion<()>>>,
}

impl Drop for LeftBehind<'_> {
    fn drop(&mut self) {
        if let Some(completion) = self.completion.take() {
            self.file
                .background
                .with(|background| background.length = Some(completion));
        }
    }
}

impl AsyncRead for File {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_read_at(cx, buffer, self.handle.site)
    }
}

impl AsyncWrite for File {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        self.poll_write_at(cx, bytes, self.handle.site)
    }

    fn poll_flush(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush_at(cx, self.handle.site)
    }

    fn poll_close(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.poll_flush_at(cx, self.handle.site)
    }
}

impl AsyncSeek for File {
    fn poll_seek(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: SeekFrom,
    ) -> Poll<io::Result<u64>> {
        // Nobody says whether this is the same seek as before: it is if it leads to the same place.
        let mut mine = matches!(self.begun(), Some(Begun::Seek(begun)) if begun == to);
        self.poll_seek_at(cx, (to, &mut mine), self.handle.site)
    }
}
