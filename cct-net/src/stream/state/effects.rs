//! What one side's kernel sends, and what is left to be done once the connection's cell is free.
//!
//! Does not: send or wake anything itself.

use crate::stream::waiters::Wakes;

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

/// How many bytes a packet has at most: nearly as many as one of Linux between two sockets of one machine, where the
/// largest packet (MTU) is one of 64 KiB with its headers.
const SEGMENT: usize = 64 << 10;

impl Packet {
    /// What goes first, if it is more than one carries, and what is left then.
    pub(crate) fn split(self) -> (Packet, Option<Packet>) {
        match self {
            Packet::Data(count) if count > SEGMENT => {
                (Packet::Data(SEGMENT), Some(Packet::Data(count - SEGMENT)))
            }
            packet => (packet, None),
        }
    }
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
    pub(super) told: [Option<Told>; 2],
    pub(crate) wakes: Wakes,
}

impl Effects {
    pub(crate) fn send(&mut self, from: SideId, packet: Packet) {
        let slot = self.packets.iter_mut().find(|slot| slot.is_none());
        *slot.expect("cct bug: more than two packets at once") = Some((from, packet));
    }

    /// What is to be sent next.
    #[inline]
    pub(crate) fn next_packet(&mut self) -> Option<(SideId, Packet)> {
        let [first, second] = &mut self.packets;
        first.take().or_else(|| second.take())
    }

    /// What a side was told.
    #[inline]
    pub(crate) fn next_told(&mut self) -> Option<(SideId, Told)> {
        let [first, second] = &mut self.told;
        let first = first.take().map(|told| (0, told));
        first.or_else(|| second.take().map(|told| (1, told)))
    }
}
