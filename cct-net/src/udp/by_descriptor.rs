//! What is done with a socket by its descriptor, as `socket2` and `quinn-udp` do in [`try_io`](super::UdpSocket::try_io).

use super::inner::{Datagram, Inner};
use crate::descriptor::ByDescriptor;
use crate::errno::{Errno, numbered};
use crate::stream::waiters::waiting;
use cct_executor::shim::{Access, Moved, OnSocket, OpKind, Sending, suspend_until};
use cct_executor::time::timeout;
use std::io::{self, ErrorKind, IoSliceMut};
use std::net::SocketAddr;
use std::panic::Location;
use std::time::Duration;

/// Into more pieces the kernel does not cut what is sent.
const MOST_PIECES: usize = 128;

impl ByDescriptor for Inner {
    fn by_descriptor(
        &self,
        what: &mut OnSocket<'_>,
        site: &'static Location<'static>,
    ) -> Option<io::Result<Moved>> {
        let done = match what {
            OnSocket::Send(sending) => self.send_all(sending, site),
            OnSocket::Receive {
                into,
                peek,
                patience,
            } => self.receive(into, *peek, *patience, site),
            OnSocket::Local => Ok(self.address(self.outside(self.local()))),
            OnSocket::Peer => match self.peer() {
                Some(peer) => Ok(self.address(self.told(peer))),
                None => Err(Errno::ENOTCONN.into()),
            },
            // The other side hears nothing of it. Those who wait here would be woken, which is not modelled.
            OnSocket::Shutdown(_) => match self.peer() {
                Some(_) => Err(Errno::EOPNOTSUPP.into()),
                None => Err(Errno::ENOTCONN.into()),
            },
        };
        Some(done.map_err(numbered))
    }
}

impl Inner {
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
        patience: Duration,
        site: &'static Location<'static>,
    ) -> io::Result<Moved> {
        self.resource.sync_point(OpKind::Recv, Access::Write, site);
        let datagram = match self.take(peek) {
            Err(error) if error.kind() == ErrorKind::WouldBlock && !patience.is_zero() => {
                self.wait_for(peek, patience, site)?
            }
            taken => taken?,
        };
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

    /// Suspends the poll until there is one, or for so long.
    fn wait_for(
        &self,
        peek: bool,
        patience: Duration,
        site: &'static Location<'static>,
    ) -> io::Result<Datagram> {
        let next = waiting(|cx, wait| self.poll_next(cx, peek, wait, site));
        match patience {
            Duration::MAX => suspend_until(next),
            _ => suspend_until(timeout(patience, next)).unwrap_or(Err(Errno::EAGAIN.into())),
        }
    }
}
