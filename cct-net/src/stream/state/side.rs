//! One end of a connection: its flags, and the queue of the bytes that it sends.
//!
//! Does not: know the other end.

use crate::io::known::Known;
use crate::stream::waiters::Waiters;
use std::collections::VecDeque;
use std::io::ErrorKind;

/// One end, and the bytes that it sends. `repr(C)`, so that the eight flags of the fingerprint are one
/// word, and are read as one.
#[derive(Default)]
#[repr(C)]
pub(crate) struct Side {
    /// The handshake is over.
    pub(super) open: bool,
    /// The other side writes no more, and everything it wrote has arrived.
    pub(super) fin_arrived: bool,
    /// This side writes no more.
    pub(super) fin_queued: bool,
    /// Its handle was dropped.
    pub(super) orphan: bool,
    /// Nothing goes on here any more: reset, refused or timed out.
    pub(super) closed: bool,
    /// This side reads no more than what has arrived.
    pub(super) deaf: bool,
    /// A write took less than it could: there is no room until some of what is on its way has arrived.
    pub(super) crowded: bool,
    /// Both buffers are one, which is the sender's: what arrived fills it until it is read.
    pub(super) shares_buffer: bool,
    pub(super) bytes: VecDeque<u8>,
    /// How many of `bytes` the other side may read.
    pub(super) arrived: usize,
    /// How many of `bytes` are on their way.
    pub(super) flying: usize,
    pub(super) send_buffer: usize,
    /// What the other side has room for.
    pub(super) recv_buffer: usize,
    pub(super) fin_sent: bool,
    /// Its host is no more.
    pub(super) gone: bool,
    /// What the next operation is told.
    pub(super) error: Option<ErrorKind>,
    pub(crate) zero_linger: bool,
    /// Its kernel looks after the other side when it hears nothing for long.
    pub(crate) keepalive: bool,
    /// What its tasks know of what it is ready for.
    pub(super) known: Known,
    pub(crate) waiters: Waiters,
    /// Its share of the fingerprint when it was last asked for.
    pub(super) digest: u64,
}

/// What a socket is ready for, as epoll has it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Readiness {
    pub(crate) readable: bool,
    pub(crate) writable: bool,
    pub(crate) read_closed: bool,
    pub(crate) write_closed: bool,
    pub(crate) error: bool,
}

/// The factor that brings the lowest bits of eight bytes together in the highest byte.
const LOWEST_BITS: u64 = 0x0102_0408_1020_4080;

impl Side {
    pub(super) fn flying_or_waiting(&self) -> usize {
        self.bytes.len() - self.arrived
    }

    pub(super) fn room(&self) -> usize {
        if self.crowded {
            return 0;
        }
        let held = match self.shares_buffer {
            true => self.bytes.len(),
            false => self.flying_or_waiting(),
        };
        self.send_buffer.saturating_sub(held)
    }

    /// Whether nothing that arrives changes anything here.
    pub(super) fn is_done(&self) -> bool {
        self.closed || self.gone || (self.orphan && self.fin_sent && self.fin_arrived)
    }

    /// Whether there is so much room that writers are told, which is a third, and of Unix sockets three
    /// quarters: as Linux has it, so that not every byte wakes a writer.
    pub(super) fn has_room(&self) -> bool {
        let enough = match self.shares_buffer {
            true => self.send_buffer - self.send_buffer / 4,
            false => self.send_buffer / 3,
        };
        self.room() > 0 && self.room() >= enough
    }

    /// Its share of the fingerprint, which hangs on what it can read from the other side.
    #[inline]
    pub(super) fn digest(&self, other: &Side) -> u64 {
        let flags = u64::from_le_bytes([
            u8::from(self.open),
            u8::from(self.fin_arrived),
            u8::from(self.fin_queued),
            u8::from(self.orphan),
            u8::from(self.closed),
            u8::from(self.deaf),
            u8::from(self.crowded),
            u8::from(self.shares_buffer),
        ]);
        let flags = flags.wrapping_mul(LOWEST_BITS) >> 56 << 6;
        let flags = flags | u64::from(self.error.is_some()) << 5 | self.known.digest();
        flags << 50 ^ (other.arrived as u64) << 25 ^ self.flying_or_waiting() as u64
    }

    /// This share of the fingerprint, if it is another than last time.
    #[inline]
    pub(super) fn news(&mut self, digest: u64) -> Option<u64> {
        let before = std::mem::replace(&mut self.digest, digest);
        (before != digest).then_some(digest)
    }
}
