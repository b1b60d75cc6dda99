//! How a connection ends, in good order or not, and what arrives at its sides until then.

use super::{Effects, Packet, SideId, State, Told};
use std::io::ErrorKind;

impl State {
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

    fn reset(&mut self, id: SideId, fx: &mut Effects) {
        self.sides[id].closed = true;
        fx.send(id, Packet::Rst);
    }

    /// This side writes no more.
    pub(crate) fn shutdown(&mut self, id: SideId, fx: &mut Effects) {
        self.sides[id].fin_queued = true;
        self.event(id, fx);
        self.pump(id, fx);
    }

    /// This side reads no more. The other one goes on writing, but for a Unix socket's.
    #[cfg(unix)]
    pub(crate) fn shut_reading(&mut self, id: SideId, fx: &mut Effects) {
        self.sides[id].deaf = true;
        self.event(id, fx);
        if self.local {
            self.event(1 - id, fx);
        }
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
            sender.crowded = false;
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
}
