//! What is done with one end of a connection by its descriptor, as `socket2` and the standard library's streams do.
//!
//! Does not: shorten what is read and written, where [`Options`](crate::tcp::Options) ask for that.

use super::conn::Conn;
use super::ops::End;
use super::state::{Effects, SideId, State};
use super::waiters::waiting;
use crate::descriptor::ByDescriptor;
use crate::errno::{Errno, numbered};
use crate::io::Interest;
use cct_executor::shim::{Access, Moved, OnSocket, OpKind, suspend_until};
use cct_executor::time::timeout;
use std::io;
use std::net::{Shutdown, SocketAddr};
use std::panic::Location;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

type Site = &'static Location<'static>;

/// One end, and its own address and the other's where these are of the internet.
struct Shown {
    conn: Arc<Conn>,
    id: SideId,
    addresses: Option<[SocketAddr; 2]>,
}

impl End {
    /// What its descriptor stands for.
    pub(crate) fn shown(&self, addresses: Option<[SocketAddr; 2]>) -> Arc<dyn ByDescriptor> {
        Arc::new(Shown {
            conn: self.conn.clone(),
            id: self.id,
            addresses,
        })
    }
}

impl ByDescriptor for Shown {
    fn by_descriptor(&self, what: &mut OnSocket<'_>, site: Site) -> Option<io::Result<Moved>> {
        let id = self.id;
        let done = match what {
            OnSocket::Send(sending) => {
                let (parts, patience) = (sending.parts, sending.patience);
                let nothing = parts.iter().all(|part| part.is_empty());
                self.moved(OpKind::Write, patience, site, |state, fx| {
                    match state.write(id, parts, usize::MAX, fx) {
                        None if nothing => Some(Ok(0)),
                        done => done,
                    }
                })
            }
            OnSocket::Receive {
                into,
                peek,
                patience,
            } => {
                let (peek, patience) = (*peek, *patience);
                self.moved(OpKind::Read, patience, site, |state, fx| match peek {
                    true => state.peek(id, into, usize::MAX),
                    false => state.read(id, into, usize::MAX, fx),
                })
            }
            OnSocket::Local => Ok(address(self.addresses?[0])),
            OnSocket::Peer => {
                let peer = self.addresses?[1];
                self.connected().map(|()| address(peer))
            }
            OnSocket::Shutdown(how) => self.shut_down(*how, site),
        };
        Some(done.map_err(numbered))
    }
}

fn address(address: SocketAddr) -> Moved {
    Moved {
        address: Some(address),
        ..Moved::default()
    }
}

impl Shown {
    fn connected(&self) -> io::Result<()> {
        let knows = self.conn.state.with(|state| state.knows_peer(self.id));
        match knows {
            true => Ok(()),
            false => Err(Errno::ENOTCONN.into()),
        }
    }

    fn moved(
        &self,
        kind: OpKind,
        patience: Duration,
        site: Site,
        mut act: impl FnMut(&mut State, &mut Effects) -> Option<io::Result<usize>>,
    ) -> io::Result<Moved> {
        let resource = &self.conn.resources[self.id];
        resource.sync_point(kind, Access::Write, site);
        let done = match self.conn.run(&mut act) {
            None if !patience.is_zero() => self.wait(kind, patience, site, act),
            done => done,
        };
        Ok(Moved {
            bytes: done.unwrap_or_else(|| Err(Errno::EAGAIN.into()))?,
            ..Moved::default()
        })
    }

    /// Suspends the poll until something came of it, or for so long.
    fn wait<R>(
        &self,
        kind: OpKind,
        patience: Duration,
        site: Site,
        mut act: impl FnMut(&mut State, &mut Effects) -> Option<R>,
    ) -> Option<R> {
        let interest = match kind {
            OpKind::Write => Interest::WRITABLE,
            _ => Interest::READABLE,
        };
        let done = waiting(|cx, wait| {
            let done = self.conn.run(|state, fx| {
                let done = act(state, fx);
                if done.is_none() {
                    let waiters = &mut state.sides[self.id].waiters;
                    waiters.register(cx, interest, wait);
                }
                done
            });
            match done {
                Some(done) => Poll::Ready(done),
                None => {
                    wait.blocked(&self.conn.resources[self.id], kind, site);
                    Poll::Pending
                }
            }
        });
        match patience {
            Duration::MAX => Some(suspend_until(done)),
            _ => suspend_until(timeout(patience, done)).ok(),
        }
    }

    fn shut_down(&self, how: Shutdown, site: Site) -> io::Result<Moved> {
        let resource = &self.conn.resources[self.id];
        resource.sync_point(OpKind::Close, Access::Write, site);
        self.connected()?;
        self.conn.run(|state, fx| {
            if how != Shutdown::Write {
                state.shut_reading(self.id, fx);
            }
            if how != Shutdown::Read {
                state.shutdown(self.id, fx);
            }
        });
        Ok(Moved::default())
    }
}
