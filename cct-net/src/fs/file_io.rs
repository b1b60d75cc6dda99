//! Reading, writing and seeking in a `File`.

use super::disks::Fate;
use super::file::File;
use super::handle::shortened;
use super::operation::{Completion, Intent, lost};
use cct_executor::shim::{Access, OpKind};
use futures_io::{AsyncRead, AsyncSeek, AsyncWrite};
use std::io::{self, SeekFrom};
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

/// Identity of a file's writes in the background.
const WRITES: u64 = 0x7772_6974;

type Site = &'static Location<'static>;

impl File {
    /// Waits for the write in the background; its result is returned, once.
    fn poll_background(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<io::Result<()>> {
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

    /// The scheduling point of an operation on the thread pool.
    fn poll_submitted(&self, cx: &mut Context<'_>, intent: &Intent) -> Poll<()> {
        let mut submitted = self.background.with(|background| background.submitted);
        let passed = intent.poll(&mut submitted, cx);
        self.background
            .with(|background| background.submitted = submitted);
        passed
    }

    pub(super) fn poll_read_at(
        &self,
        cx: &mut Context<'_>,
        buffer: &mut [u8],
        site: Site,
    ) -> Poll<io::Result<usize>> {
        let intent = self.intent(OpKind::Read, Access::Read, site);
        ready!(self.poll_settled(cx, &intent));
        ready!(self.poll_submitted(cx, &intent));
        let count = buffer.len().min(self.buffer);
        Poll::Ready(self.handle.read(&mut buffer[..count]))
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
        let mut count = bytes.len().min(self.buffer);
        if self.handle.drive.settings()?.short_writes {
            count = shortened(count, "how much a write takes");
        }
        let (handle, bytes) = (self.handle.clone(), bytes[..count].to_vec());
        let completion = Completion::new();
        let done = completion.clone();
        self.background
            .with(|background| background.write = Some(completion));
        let handle_of_job = handle.clone();
        handle.drive.start(
            handle.identity ^ WRITES,
            &handle.resource,
            site,
            move |fate| {
                let result = match fate {
                    Fate::Due => handle_of_job.write_all(&bytes),
                    Fate::Lost => lost(&handle_of_job.drive),
                };
                drop(handle_of_job);
                done.complete(result);
            },
        );
        Poll::Ready(Ok(count))
    }

    pub(super) fn poll_flush_at(&self, cx: &mut Context<'_>, site: Site) -> Poll<io::Result<()>> {
        let intent = self.intent(OpKind::Flush, Access::Read, site);
        self.take_failure()?;
        ready!(self.poll_background(cx, &intent))?;
        ready!(intent.point());
        Poll::Ready(Ok(()))
    }

    pub(super) fn poll_seek_at(
        &self,
        cx: &mut Context<'_>,
        to: SeekFrom,
        site: Site,
    ) -> Poll<io::Result<u64>> {
        // Only who shares the position notices.
        let intent = self.intent(OpKind::Set, Access::Read, site);
        ready!(self.poll_settled(cx, &intent));
        ready!(self.poll_submitted(cx, &intent));
        Poll::Ready(self.handle.seek(to))
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
        self.poll_seek_at(cx, to, self.handle.site)
    }
}
