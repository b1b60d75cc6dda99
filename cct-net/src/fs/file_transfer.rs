//! What tokio's extension traits read, write and seek, as methods of a `File`.

use super::file::File;
use super::file_io::add_text;
use std::future::poll_fn;
use std::io::{self, SeekFrom};
use std::panic::Location;

impl File {
    /// Reads once: what is there from the position on, and fits.
    ///
    /// # Scheduling points
    /// One; none where nothing is asked for, or something was read already.
    ///
    /// # Cancel safety
    /// Nothing is lost: what was read is kept for the next read, which yields no more than that.
    ///
    /// # Errors
    /// EBADF when it was not opened for reading, EISDIR for a directory, EIO from a disk with faults,
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn read(&mut self, buffer: &mut [u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let site = Location::caller();
        poll_fn(move |cx| self.poll_read_at(cx, buffer, site))
    }

    /// Reads until the buffer is full.
    ///
    /// # Scheduling points
    /// One for each read that it takes.
    ///
    /// # Cancel safety
    /// None: how much was read is not known.
    ///
    /// # Errors
    /// As for [`read`](Self::read), and `UnexpectedEof` when the file ends before.
    #[track_caller]
    pub fn read_exact(
        &mut self,
        buffer: &mut [u8],
    ) -> impl Future<Output = io::Result<usize>> + Send {
        let site = Location::caller();
        async move {
            let mut filled = 0;
            while filled < buffer.len() {
                let rest = &mut buffer[filled..];
                match poll_fn(|cx| self.poll_read_at(cx, rest, site)).await? {
                    0 => return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "early eof")),
                    count => filled += count,
                }
            }
            Ok(filled)
        }
    }

    /// Reads to the end.
    ///
    /// # Scheduling points
    /// One for each read that it takes, the last one, which finds nothing, included.
    ///
    /// # Cancel safety
    /// What was read is in the buffer.
    ///
    /// # Errors
    /// As for [`read`](Self::read).
    #[track_caller]
    pub fn read_to_end(
        &mut self,
        into: &mut Vec<u8>,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        let site = Location::caller();
        async move { self.read_all(into, site).await }
    }

    /// Reads to the end, as text.
    ///
    /// # Scheduling points
    /// As for [`read_to_end`](Self::read_to_end).
    ///
    /// # Cancel safety
    /// None: what was read is lost.
    ///
    /// # Errors
    /// As for [`read`](Self::read), and `InvalidData` when it is no UTF-8: then nothing is added.
    #[track_caller]
    pub fn read_to_string(
        &mut self,
        into: &mut String,
    ) -> impl Future<Output = io::Result<usize>> + Send {
        let site = Location::caller();
        async move {
            let mut bytes = Vec::new();
            let read = self.read_all(&mut bytes, site).await;
            add_text(into, &bytes, read)
        }
    }

    /// Hands bytes to the background; returns how many it took.
    ///
    /// # Scheduling points
    /// One; the write itself is an action of its own.
    ///
    /// # Cancel safety
    /// What was not taken is not written.
    ///
    /// # Errors
    /// Those of the write before it, of which nobody was told yet: EBADF when it was not opened for
    /// writing, ENOSPC, EFBIG, EIO from a disk with faults. `Other` after a crash of its node.
    #[track_caller]
    pub fn write(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<usize>> + Send {
        let site = Location::caller();
        poll_fn(move |cx| self.poll_write_at(cx, bytes, site))
    }

    /// Hands all the bytes to the background.
    ///
    /// # Scheduling points
    /// One for each write that it takes.
    ///
    /// # Cancel safety
    /// None: how much was taken is not known.
    ///
    /// # Errors
    /// As for [`write`](Self::write): an error of the last write is told by the next operation.
    #[track_caller]
    pub fn write_all(&mut self, bytes: &[u8]) -> impl Future<Output = io::Result<()>> + Send {
        let site = Location::caller();
        async move {
            let mut left = bytes;
            while !left.is_empty() {
                let count = poll_fn(|cx| self.poll_write_at(cx, left, site)).await?;
                left = &left[count..];
            }
            Ok(())
        }
    }

    /// Waits until all bytes are written, so that others see them; this does not make them durable.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// The write goes on.
    ///
    /// # Errors
    /// Those of the last write, as for [`write`](Self::write).
    #[track_caller]
    pub fn flush(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        let site = Location::caller();
        poll_fn(move |cx| self.poll_flush_at(cx, site))
    }

    /// As [`flush`](Self::flush).
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// The write goes on.
    ///
    /// # Errors
    /// Those of the last write, as for [`write`](Self::write).
    #[track_caller]
    pub fn shutdown(&mut self) -> impl Future<Output = io::Result<()>> + Send {
        let site = Location::caller();
        poll_fn(move |cx| self.poll_flush_at(cx, site))
    }

    /// Moves the position.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// Once polled, the position moves before anything else is done with this `File`. If it cannot,
    /// the next seek is told.
    ///
    /// # Errors
    /// EINVAL when it would be before the start; `Other` after a crash of its node.
    #[track_caller]
    pub fn seek(&mut self, to: SeekFrom) -> impl Future<Output = io::Result<u64>> + Send {
        let (site, mut begun) = (Location::caller(), false);
        poll_fn(move |cx| self.poll_seek_at(cx, (to, &mut begun), site))
    }

    /// Moves the position to the start.
    ///
    /// # Scheduling points
    /// One.
    ///
    /// # Cancel safety
    /// As for [`seek`](Self::seek).
    ///
    /// # Errors
    /// `Other` after a crash of its node.
    #[track_caller]
    pub fn rewind(&mut self) -> impl Future<Output = io::Result<u64>> + Send {
        self.seek(SeekFrom::Start(0))
    }

    /// The position.
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
    pub fn stream_position(&mut self) -> impl Future<Output = io::Result<u64>> + Send {
        self.seek(SeekFrom::Current(0))
    }
}
