//! A connection as its two kernels see it. No wake-ups, no packets sent: both are left to the
//! caller, as [`Effects`].
//!
//! 1. A side's outgoing bytes are one queue: first those that arrived and were not read, then those
//!    on their way, then those that wait for the receiver's window.
//! 2. `waiting + flying <= send_buffer` and `arrived + flying <= recv_buffer`.
//! 3. A side that is closed or gone sends nothing any more but resets.

use super::waiters::{Waiters, Wakes};
use crate::errno::of_socket;
use crate::io::known::{self, Known};
use crate::io::{Interest, Ready};
use std::collections::VecDeque;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};

/// A side of a connection: 0 opened it, 1 accepted it.
pub(crate) type SideId = usize;

/// What goes over the network.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Packet {
    Syn,
    SynAck,
    Data(usize),
    Fin,
    Rst,
    /// Nothing, to hear whether anybody is there.
    Probe,
}

/// What a side's kernel counts.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Told {
    /// The connection that it asked for is open.
    Opened,
    /// The connection that it was asked for is open.
    Taken,
    Refused,
    Reset,
    TimedOut,
}

/// What is to be done once the state's cell is free.
#[derive(Default)]
pub(crate) struct Effects {
    packets: [Option<(SideId, Packet)>; 2],
    /// What each side was told, for statistics.
    told: [Option<Told>; 2],
    pub(crate) wakes: Wakes,
}

impl Effects {
    pub(crate) fn send(&mut self, from: SideId, packet: Packet) {
        let slot = self.packets.iter_mut().find(|slot| slot.is_none());
        *slot.expect("cct bug: more than two packets at once") = Some((from, packet));
    }

    pub(crate) fn take_told(&mut self) -> impl Iterator<Item = (SideId, Told)> + use<> {
        let told = std::mem::take(&mut self.told).into_iter().enumerate();
        told.filter_map(|(id, told)| Some((id, told?)))
    }

    pub(crate) fn take_packets(&mut self) -> impl Iterator<Item = (SideId, Packet)> + use<> {
        std::mem::take(&mut self.packets).into_iter().flatten()
    }
}

pub(crate) struct State {
    pub(crate) sides: [Side; 2],
    /// Both ends are at one host, which knows at once what becomes of the other.
    pub(crate) local: bool,
}

/// One end, and the bytes that it sends.
#[derive(Default)]
pub(crate) struct Side {
    bytes: VecDeque<u8>,
    /// How many of `bytes` the other side may read.
    arrived: usize,
    /// How many of `bytes` are on their way.
    flying: usize,
    send_buffer: usize,
    /// What the other side has room for.
    recv_buffer: usize,
    /// Both buffers are one, which is the sender's: what arrived fills it until it is read.
    shares_buffer: bool,
    /// The handshake is over.
    open: bool,
    /// This side writes no more.
    fin_queued: bool,
    fin_sent: bool,
    /// The other side writes no more, and everything it wrote has arrived.
    fin_arrived: bool,
    /// Its handle was dropped.
    orphan: bool,
    /// Its host is no more.
    gone: bool,
    /// Nothing goes on here any more: reset, refused or timed out.
    closed: bool,
    /// What the next operation is told.
    error: Option<ErrorKind>,
    pub(crate) zero_linger: bool,
    /// Its kernel looks after the other side when it hears nothing for long.
    pub(crate) keepalive: bool,
    /// What its tasks know of what it is ready for.
    known: Known,
    pub(crate) waiters: Waiters,
    /// Its share of the fingerprint when it was last asked for.
    digest: u64,
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

impl Side {
    fn flying_or_waiting(&self) -> usize {
        self.bytes.len() - self.arrived
    }

    fn room(&self) -> usize {
        let held = match self.shares_buffer {
            true => self.bytes.len(),
            false => self.flying_or_waiting(),
        };
        self.send_buffer.saturating_sub(held)
    }

    /// Whether nothing that arrives changes anything here.
    fn is_done(&self) -> bool {
        self.closed || self.gone || (self.orphan && self.fin_sent && self.fin_arrived)
    }

    /// Whether there is so much room that writers are told, which is a third, and of Unix sockets three
    /// quarters: as Linux has it, so that not every byte wakes a writer.
    fn has_room(&self) -> bool {
        let enough = match self.shares_buffer {
            true => self.send_buffer - self.send_buffer / 4,
            false => self.send_buffer / 3,
        };
        self.room() > 0 && self.room() >= enough
    }
}

impl State {
    /// A connection with these send buffers and receive buffers, side 0 first.
    pub(crate) fn new(send: [usize; 2], recv: [usize; 2]) -> State {
        let side = |id: SideId| Side {
            send_buffer: send[id],
            recv_buffer: recv[1 - id],
            ..Side::default()
        };
        State {
            sides: [side(0), side(1)],
            local: false,
        }
    }

    /// A connection inside a host: what is written is at once where it is read, however much it is, and
    /// so is the end.
    pub(crate) fn inside_host(send: usize, recv: usize) -> State {
        let mut state = State::new([send.saturating_add(recv); 2], [usize::MAX; 2]);
        state.local = true;
        for side in &mut state.sides {
            side.shares_buffer = true;
        }
        state
    }

    /// Changes the sizes of a side's buffers.
    pub(crate) fn set_buffers(&mut self, id: SideId, send: Option<usize>, recv: Option<usize>) {
        if let Some(send) = send {
            self.sides[id].send_buffer = send;
        }
        if let Some(recv) = recv {
            self.sides[1 - id].recv_buffer = recv;
        }
    }

    /// Whether nothing can happen any more.
    pub(crate) fn is_over(&self) -> bool {
        self.sides.iter().all(Side::is_done)
    }

    /// Whether both ends are open, and neither knows of anything wrong.
    pub(crate) fn is_established(&self) -> bool {
        let sound = |side: &Side| side.open && !side.closed && !side.gone;
        self.sides.iter().all(sound) && !self.is_over()
    }

    /// Whether a side's kernel knows yet whom it is connected to: not once the connection is over,
    /// or was closed by both sides. Sockets of Unix never forget.
    pub(crate) fn knows_peer(&self, id: SideId) -> bool {
        self.local || !self.sides[id].closed && !self.is_closed_by_both()
    }

    /// Whether both sides know that nothing more will be written: to the kernels it is over.
    fn is_closed_by_both(&self) -> bool {
        self.sides.iter().all(|side| side.fin_arrived)
    }

    /// Both sides know that they are connected.
    pub(crate) fn establish(&mut self, fx: &mut Effects) {
        for id in [0, 1] {
            self.sides[id].open = true;
            self.event(id, fx);
            fx.told[id] = Some([Told::Opened, Told::Taken][id]);
        }
    }

    /// A side's tasks are told what it is ready for.
    fn event(&mut self, id: SideId, fx: &mut Effects) {
        let state = self.readiness(id);
        let side = &mut self.sides[id];
        side.known.event(state);
        side.waiters.move_to(Ready::from(state), &mut fx.wakes);
    }

    /// A side's tasks suppose that it is ready.
    pub(crate) fn suppose(&mut self, id: SideId, ready: Ready) {
        self.sides[id].known.suppose(ready);
    }

    /// What a side's tasks were told last.
    pub(crate) fn told(&self, id: SideId, interest: Interest) -> known::Told {
        self.sides[id].known.told(interest)
    }

    /// A side's tasks found out that less is true.
    pub(crate) fn disprove(&mut self, id: SideId, told: known::Told) {
        self.sides[id].known.disprove(told);
    }

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

    /// A side is told that the connection is no more.
    fn fail(&mut self, id: SideId, error: ErrorKind, fx: &mut Effects) {
        let side = &mut self.sides[id];
        side.closed = true;
        side.error = Some(error);
        if !side.orphan {
            fx.told[id] = Some(match error {
                ErrorKind::ConnectionRefused => Told::Refused,
                ErrorKind::TimedOut => Told::TimedOut,
                _ => Told::Reset,
            });
        }
        self.event(id, fx);
    }

    /// Sends what the window lets through.
    fn pump(&mut self, id: SideId, fx: &mut Effects) {
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

    fn reset(&mut self, id: SideId, fx: &mut Effects) {
        self.sides[id].closed = true;
        fx.send(id, Packet::Rst);
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
        side.closed.then_some(Ok(0))
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
        let nobody_reads = self.local && (self.sides[1 - id].orphan || self.sides[id].closed);
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
        let mut left = side.room().min(limit);
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
        self.pump(id, fx);
        Some(Ok(count))
    }

    /// This side writes no more.
    pub(crate) fn shutdown(&mut self, id: SideId, fx: &mut Effects) {
        self.sides[id].fin_queued = true;
        self.event(id, fx);
        self.pump(id, fx);
    }

    /// The handle is dropped, or its process dies.
    pub(crate) fn close(&mut self, id: SideId, fx: &mut Effects) {
        let unread = self.readable(id) > 0;
        // A Unix socket hears of what was not read, whatever else is over.
        let over = !self.local && self.is_closed_by_both();
        let side = &mut self.sides[id];
        if side.orphan || side.gone {
            return;
        }
        side.orphan = true;
        if side.closed || over {
            return;
        }
        if !side.open {
            // Whatever the other side makes of the handshake is answered by a reset.
            side.closed = true;
        } else if unread || side.zero_linger {
            self.reset(id, fx);
        } else {
            side.fin_queued = true;
            self.pump(id, fx);
        }
        if self.local && self.sides[1 - id].fin_arrived {
            // It heard of the end before; now nobody reads either.
            self.event(1 - id, fx);
        }
    }

    /// The side's host is gone without a word.
    pub(crate) fn vanish(&mut self, id: SideId) {
        self.sides[id].gone = true;
    }

    /// What has to be asked for is refused.
    pub(crate) fn refuse(&mut self, id: SideId, fx: &mut Effects) {
        self.reset(id, fx);
    }

    /// A reset arrives at both sides.
    pub(crate) fn reset_both(&mut self, fx: &mut Effects) {
        self.reset_arrives(0, fx);
        self.reset_arrives(1, fx);
    }

    /// Something arrives at a side. Handshakes are the caller's business.
    pub(crate) fn arrive(&mut self, id: SideId, packet: Packet, fx: &mut Effects) {
        if let Packet::Data(count) = packet {
            let closed = self.sides[id].closed;
            let sender = &mut self.sides[1 - id];
            sender.flying -= count;
            if closed {
                // Nobody is there who would keep it for a reader.
                sender.bytes.drain(sender.arrived..sender.arrived + count);
            } else {
                sender.arrived += count;
            }
        }
        let side = &mut self.sides[id];
        if packet == Packet::Rst {
            return self.reset_arrives(id, fx);
        }
        if side.closed || packet == Packet::Probe && !side.gone {
            return;
        }
        if side.gone || (side.orphan && packet != Packet::Fin) {
            return self.reset(id, fx);
        }
        if packet == Packet::Fin {
            side.fin_arrived = true;
        }
        self.event(id, fx);
        if self.sides[1 - id].has_room() {
            self.event(1 - id, fx);
        }
    }

    fn reset_arrives(&mut self, id: SideId, fx: &mut Effects) {
        let over = !self.local && self.is_closed_by_both();
        let side = &self.sides[id];
        // A connection that was closed in good order only waits for stragglers.
        if side.closed || side.gone || over {
            return;
        }
        let error = match (side.open, side.fin_arrived) {
            (false, _) => ErrorKind::ConnectionRefused,
            // Whoever could still write to somebody who has closed.
            (true, true) if !side.fin_queued && !self.local => ErrorKind::BrokenPipe,
            _ => ErrorKind::ConnectionReset,
        };
        self.fail(id, error, fx);
    }

    /// Whether a side looks after the other, and does not know yet that it is gone.
    pub(crate) fn probes(&self, id: SideId) -> bool {
        let side = &self.sides[id];
        side.keepalive && side.open && !side.closed && !side.gone
    }

    /// What this side sent gets no answer, however often it is sent again.
    pub(crate) fn time_out(&mut self, id: SideId, fx: &mut Effects) {
        let side = &self.sides[id];
        if !side.closed && !side.gone {
            self.fail(id, ErrorKind::TimedOut, fx);
        }
    }

    /// Whether a connection that is being opened is open; an error if it never will be.
    pub(crate) fn connected(&mut self, id: SideId) -> Option<io::Result<()>> {
        let side = &mut self.sides[id];
        match side.error.take() {
            Some(error) => Some(Err(of_socket(error))),
            None => side.open.then_some(Ok(())),
        }
    }

    /// Whether the side is still being opened.
    pub(crate) fn is_opening(&self, id: SideId) -> bool {
        let side = &self.sides[id];
        !side.open && !side.closed && !side.gone && !side.orphan
    }

    /// How one end stands, in a few words.
    pub(crate) fn summary(&self, id: SideId) -> String {
        let (own, other) = (&self.sides[id], &self.sides[1 - id]);
        let state = match (own.fin_queued, own.fin_arrived) {
            _ if own.closed => "is over",
            _ if !own.open => "is being opened",
            (false, false) => "is open",
            (true, false) => "writes no more",
            (false, true) => "will be sent no more",
            (true, true) => "is closed",
        };
        let (unread, unsent) = (other.arrived, own.flying_or_waiting());
        format!("{state}, {unread} bytes to read, {unsent} on their way")
    }

    pub(crate) fn take_error(&mut self, id: SideId) -> Option<ErrorKind> {
        self.sides[id].error.take()
    }

    fn readiness(&self, id: SideId) -> Readiness {
        let side = &self.sides[id];
        let error = side.error.is_some();
        // Unix sockets know at once that nobody will read what they write.
        let nobody_reads = self.local && self.sides[1 - id].orphan;
        let hang_up = side.closed || side.fin_arrived && (side.fin_queued || nobody_reads);
        Readiness {
            readable: self.readable(id) > 0 || side.fin_arrived || hang_up || error,
            writable: side.has_room() || side.fin_queued || side.closed,
            read_closed: side.fin_arrived || side.closed,
            write_closed: hang_up || error,
            error,
        }
    }

    /// A side's share of the fingerprint, if it has changed.
    pub(crate) fn new_digest(&mut self, id: SideId) -> Option<u64> {
        let digest = self.digest(id);
        let before = std::mem::replace(&mut self.sides[id].digest, digest);
        (before != digest).then_some(digest)
    }

    fn digest(&self, id: SideId) -> u64 {
        let side = &self.sides[id];
        let flags = [
            side.open,
            side.fin_arrived,
            side.fin_queued,
            side.orphan,
            side.closed,
            side.error.is_some(),
        ];
        let flags = flags
            .iter()
            .fold(0, |bits, &flag| bits << 1 | u64::from(flag));
        let flags = flags << 5 | side.known.digest();
        (self.readable(id) as u64) << 32 ^ (side.flying_or_waiting() as u64) << 11 ^ flags
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
