//! What is done with a socket by its descriptor, as `socket2` and `quinn-udp` do in [`try_io`](super::UdpSocket::try_io).

use super::inner::Inner;
use crate::errno::{Errno, numbered};
use cct_executor::shim::{Access, Moved, OnSocket, OpKind, Sending};
use std::io::{self, IoSliceMut};
use std::net::SocketAddr;
use std::panic::Location;

/// Into more pieces the kernel does not cut what is sent.
const MOST_PIECES: usize = 128;

impl Inner {
    /// As the kernel does it for a socket that does not block, whatever tasks know of it.
    ///
    /// # Scheduling points
    /// One before sending and receiving, at granularity `sync`.
    pub(crate) fn by_descriptor(
        &self,
        what: &mut OnSocket<'_>,
        site: &'static Location<'static>,
    ) -> io::Result<Moved> {
        let done = match what {
            OnSocket::Send(sending) => self.send_all(sending, site),
            OnSocket::Receive { into, peek } => self.receive(into, *peek, site),
            OnSocket::Local => Ok(self.address(self.outside(self.local()))),
            OnSocket::Peer => match self.peer() {
                Some(peer) => Ok(self.address(self.told(peer))),
                None => Err(Errno::ENOTCONN.into()),
            },
        };
        done.map_err(numbered)
    }

    fn address(&self, address: SocketAddr) -> Moved {
        Moved {
            address: Some(address),
            ..Moved::default()
        }
    }

    fn send_all(
        &self,
        sending: &Sending<'_>,
        site: &'static Location<'static>,
    ) -> io::Result<Moved> {
        self.resource.sync_point(OpKind::Send, Access::Write, site);
        let data: Vec<u8> = sending
            .parts
            .iter()
            .flat_map(|part| part.iter().copied())
            .collect();
        let bytes = data.len();
        let length = sending.pieces.filter(|&length| length < bytes);
        match length {
            Some(length) if bytes.div_ceil(length) > MOST_PIECES => {
                return Err(Errno::EINVAL.into());
            }
            Some(length) => {
                for piece in data.chunks(length) {
                    self.send_from(piece, sending.to, sending.from, site)?;
                }
            }
            None => drop(self.send_from(&data, sending.to, sending.from, site)?),
        }
        Ok(Moved {
            bytes,
            ..Moved::default()
        })
    }

    fn receive(
        &self,
        into: &mut [IoSliceMut<'_>],
        peek: bool,
        site: &'static Location<'static>,
    ) -> io::Result<Moved> {
        self.resource.sync_point(OpKind::Recv, Access::Write, site);
        let datagram = self.take(peek)?;
        let mut rest = &datagram.data[..];
        for part in into {
            let (fits, more) = rest.split_at(rest.len().min(part.len()));
            part[..fits.len()].copy_from_slice(fits);
            rest = more;
        }
        Ok(Moved {
            bytes: datagram.data.len(),
            address: Some(self.told(datagram.from)),
            to: Some(datagram.to),
        })
    }
}
