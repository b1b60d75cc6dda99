//! A connection as its two kernels see it. No wake-ups, no packets sent: both are left to the
//! caller, as [`Effects`].
//!
//! 1. A side's outgoing bytes are one queue: first those that arrived and were not read, then those
//!    on their way, then those that wait for the receiver's window.
//! 2. `waiting + flying <= send_buffer` and `arrived + flying <= recv_buffer`.
//! 3. A side that is closed or gone sends nothing any more but resets.

mod bytes;
mod effects;
mod ends;
mod side;

pub(crate) use effects::{Effects, Packet, SideId, Told};
pub(crate) use side::{Readiness, Side};

use crate::errno::of_socket;
use crate::io::known;
use crate::io::{Interest, Ready};
use std::io::{self, ErrorKind};

pub(crate) struct State {
    pub(crate) sides: [Side; 2],
    /// Both ends are at one host, which knows at once what becomes of the other.
    pub(crate) local: bool,
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
    pub(crate) fn inside_host(buffer: usize) -> State {
        let mut state = State::new([buffer; 2], [usize::MAX; 2]);
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
    pub(super) fn event(&mut self, id: SideId, fx: &mut Effects) {
        let state = self.readiness(id);
        let side = &mut self.sides[id];
        side.known.event(state);
        side.waiters.move_to(Ready::from(state), &mut fx.wakes);
    }

    /// A side's tasks suppose that it is ready.
    pub(crate) fn suppose(&mut self, id: SideId, ready: Ready) {
        self.sides[id].known.suppose(ready);
    }

    /// A side's tasks know nothing of what it is ready for.
    #[cfg(unix)]
    pub(super) fn forget(&mut self, id: SideId) {
        self.sides[id].known = known::Known::default();
    }

    /// What a side's tasks were told last.
    pub(crate) fn told(&self, id: SideId, interest: Interest) -> known::Told {
        self.sides[id].known.told(interest)
    }

    /// A side's tasks found out that less is true.
    pub(crate) fn disprove(&mut self, id: SideId, told: known::Told) {
        self.sides[id].known.disprove(told);
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
        // Many wait here for ever that another system's buffers would have let pass.
        let full = match own.open && !own.fin_queued && !own.crowded && own.room() == 0 {
            true => ": its buffers are full (`tcp::configure`)",
            false => "",
        };
        format!("{state}, {unread} bytes to read, {unsent} on their way{full}")
    }

    pub(crate) fn take_error(&mut self, id: SideId) -> Option<ErrorKind> {
        self.sides[id].error.take()
    }

    /// Unix sockets know at once that nobody will read what they write.
    fn nobody_reads_from(&self, id: SideId) -> bool {
        let other = &self.sides[1 - id];
        self.local && (other.orphan || other.deaf)
    }

    /// Whether a side will still be told something that the other one has done, or was and has not asked.
    pub(crate) fn has_news_for(&self, id: SideId) -> bool {
        let (side, other) = (&self.sides[id], &self.sides[1 - id]);
        !other.bytes.is_empty() || other.fin_queued || side.closed
    }

    fn readiness(&self, id: SideId) -> Readiness {
        let side = &self.sides[id];
        let error = side.error.is_some();
        let nobody_reads = self.nobody_reads_from(id);
        let ended = side.fin_arrived || side.deaf;
        let hang_up = side.closed || ended && (side.fin_queued || nobody_reads);
        Readiness {
            readable: self.readable(id) > 0 || ended || hang_up || error,
            writable: side.has_room() || side.fin_queued || side.closed,
            read_closed: ended || side.closed,
            write_closed: hang_up || error,
            error,
        }
    }

    /// The sides' shares of the fingerprint, where they have changed.
    #[inline]
    pub(crate) fn new_digests(&mut self) -> [Option<u64>; 2] {
        let [first, second] = &mut self.sides;
        let digests = [first.digest(second), second.digest(first)];
        [first.news(digests[0]), second.news(digests[1])]
    }
}
