//! Bytes: written into the sender's queue, sent as far as the window lets them, read out of it.

use super::{Effects, Interest, Packet, SideId, State};
use crate::errno::of_socket;
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};

impl State {
    /// A read got less than it asked for: like tokio, its tasks take it that nothing is left.
    pub(crate) fn drained(&mut self, id: SideId) {
        if self.readable(id) == 0 {
            self.disprove(id, self.told(id, Interest::READABLE));
        }
    }

    /// A write took less than it was given: like tokio, its tasks take it that there is no room.
    pub(crate) fn filled(&mut self, id: SideId) {
        if self.writable(id) == 0 {
            self.disprove(id, self.told(id, Interest::WRITABLE));
        }
    }

    /// Sends what the window lets through.
    pub(super) fn pump(&mut self, id: SideId, fx: &mut Effects) {
        let side = &mut self.sides[id];
        if !side.open || side.closed || side.gone {
            return;
        }
        let waiting = side.flying_or_waiting() - side.flying;
        let window = side.recv_buffer.saturating_sub(side.arrived + side.flying);
        let count = waiting.min(window);
        // Tiny windows are not worth a packet each: the receiver reads on, and they grow.
        if count > 0 && (count == waiting || window >= side.recv_buffer / 2) {
            side.flying += count;
            fx.send(id, Packet::Data(count));
        }
        if side.fin_queued && !side.fin_sent && side.flying_or_waiting() == side.flying {
            side.fin_sent = true;
            fx.send(id, Packet::Fin);
        }
    }

    /// Reads up to `limit` bytes; `None` if it has to wait.
    pub(crate) fn read(
        &mut self,
        id: SideId,
        bufs: &mut [IoSliceMut<'_>],
        limit: usize,
        fx: &mut Effects,
    ) -> Option<io::Result<usize>> {
        let done = self.peek(id, bufs, limit)?;
        if let Ok(count @ 1..) = done {
            let sender = &mut self.sides[1 - id];
            sender.bytes.drain(..count);
            sender.arrived -= count;
            self.pump(1 - id, fx);
            if self.local && self.sides[1 - id].has_room() {
                self.event(1 - id, fx);
            }
        }
        Some(done)
    }

    /// As [`read`](Self::read), but the bytes stay.
    pub(crate) fn peek(
        &mut self,
        id: SideId,
        bufs: &mut [IoSliceMut<'_>],
        limit: usize,
    ) -> Option<io::Result<usize>> {
        let readable = self.readable(id);
        if readable > 0 {
            let mut left = readable.min(limit);
            let mut count = 0;
            for buf in bufs {
                let part = left.min(buf.len());
                copy(&self.sides[1 - id].bytes, count, &mut buf[..part]);
                left -= part;
                count += part;
            }
            return Some(Ok(count));
        }
        let errors_first = self.local;
        let side = &mut self.sides[id];
        if side.fin_arrived && !(errors_first && side.error.is_some()) {
            return Some(Ok(0));
        }
        if let Some(error) = side.error.take() {
            return Some(Err(of_socket(error)));
        }
        (side.closed || side.deaf).then_some(Ok(0))
    }

    /// How many bytes can be read.
    pub(crate) fn readable(&self, id: SideId) -> usize {
        self.sides[1 - id].arrived
    }

    /// How many bytes could be written, where that is what a write depends on.
    pub(crate) fn writable(&self, id: SideId) -> usize {
        self.sides[id].room()
    }

    /// Writes up to `limit` bytes; `None` if it has to wait.
    pub(crate) fn write(
        &mut self,
        id: SideId,
        bufs: &[IoSlice<'_>],
        limit: usize,
        fx: &mut Effects,
    ) -> Option<io::Result<usize>> {
        let nobody_reads = self.nobody_reads_from(id) || self.local && self.sides[id].closed;
        let side = &mut self.sides[id];
        // Unix sockets keep the error for readers.
        let told = if nobody_reads {
            None
        } else {
            side.error.take()
        };
        if let Some(error) = told {
            return Some(Err(of_socket(error)));
        }
        if side.fin_queued || side.closed || nobody_reads {
            return Some(Err(of_socket(ErrorKind::BrokenPipe)));
        }
        let room = side.room();
        let mut left = room.min(limit);
        if left == 0 {
            return None;
        }
        let mut count = 0;
        for buf in bufs {
            let part = left.min(buf.len());
            side.bytes.extend(&buf[..part]);
            left -= part;
            count += part;
        }
        let wanted: usize = bufs.iter().map(|buf| buf.len()).sum();
        self.pump(id, fx);
        // A kernel takes all for which it has room. So where the strategy had it take less, there is no more for now.
        let side = &mut self.sides[id];
        side.crowded = side.flying > 0 && count < wanted.min(room);
        Some(Ok(count))
    }
}

/// Copies bytes of a queue from a place on.
fn copy(from: &VecDeque<u8>, start: usize, to: &mut [u8]) {
    let (first, second) = from.as_slices();
    let head = first.get(start..).unwrap_or_default();
    let part = head.len().min(to.len());
    to[..part].copy_from_slice(&head[..part]);
    let rest = to.len() - part;
    let start = start.saturating_sub(first.len());
    to[part..].copy_from_slice(&second[start..start + rest]);
}
