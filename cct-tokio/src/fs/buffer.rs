//! What a `File` has read and nobody has taken, or is to write.

use crate::io::ReadBuf;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// Invariant: `taken` is at most the length of `bytes`.
#[derive(Debug, Default)]
pub(super) struct Buffer {
    bytes: Vec<u8>,
    taken: usize,
}

impl Buffer {
    pub(super) fn is_empty(&self) -> bool {
        self.taken == self.bytes.len()
    }

    /// Passes on what is there, as far as there is room.
    pub(super) fn pass_to(&mut self, to: &mut ReadBuf<'_>) {
        let left = &self.bytes[self.taken..];
        let count = left.len().min(to.remaining());
        to.put_slice(&left[..count]);
        self.taken += count;
        if self.is_empty() {
            self.clear();
        }
    }

    /// Forgets what nobody took; how far the position in the file has to go back, if at all.
    pub(super) fn give_back(&mut self) -> Option<i64> {
        let left = self.bytes.len() - self.taken;
        self.clear();
        (left > 0).then(|| -(left as i64))
    }

    /// Takes so many of these bytes at most; how many it took.
    pub(super) fn fill(&mut self, from: &[IoSlice<'_>], limit: usize) -> usize {
        for slice in from {
            let room = limit - self.bytes.len();
            self.bytes
                .extend_from_slice(&slice[..slice.len().min(room)]);
        }
        self.bytes.len()
    }

    /// Reads once, so many bytes at most.
    pub(super) fn read_from(&mut self, mut file: impl Read, limit: usize) -> io::Result<usize> {
        self.bytes.resize(limit, 0);
        let read = loop {
            match file.read(&mut self.bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                read => break read,
            }
        };
        self.bytes.truncate(*read.as_ref().unwrap_or(&0));
        read
    }

    /// Writes all of it.
    pub(super) fn write_to(&mut self, mut file: impl Write) -> io::Result<()> {
        let written = file.write_all(&self.bytes);
        self.clear();
        written
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.taken = 0;
    }
}
