//! Connections.

use super::SocketAddr;
use super::split::{self, OwnedReadHalf, OwnedWriteHalf, ReadHalf, WriteHalf};
use crate::descriptor::{Descriptor, Kind};
use crate::errno::Errno;
use crate::host::hosts;
use crate::stream::conn::{About, Conn, Names};
use crate::stream::first_look::FirstLook;
use crate::stream::ops::End;
use crate::stream::state::State;
use crate::stream::waiters::waiting;
use crate::stream::{
    futures_read, futures_write, read_methods, ready_methods, stream_methods, write_methods,
};
use cct_executor::node::current;
use cct_executor::shim::{Access, OpKind};
use std::fmt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::panic::Location;
use std::path::Path;
use std::sync::Arc;

/// A Unix connection. Dropping it closes it.
///
/// # Differences from tokio
/// It reads and writes by the traits of `futures`. What is sent, received and
/// shut down by its file descriptor is so in the world on Linux with the GNU C library; options that are set have no effect.
pub struct UnixStream {
    end: End,
    #[cfg_attr(not(unix), expect(dead_code, reason = "there are none"))]
    pub(crate) descriptor: Descriptor,
}

/// A connection inside the running task's node, open at once.
pub(crate) fn connected(
    names: [SocketAddr; 2],
    site: &'static Location<'static>,
) -> io::Result<Arc<Conn>> {
    let hosts = hosts()?;
    let node = current();
    let about = hosts.state.with(|state| About {
        serial: state.next_conn(),
        names: Names::Unix(names),
        nodes: [node, node],
        options: state.tcp(),
        site,
    });
    let state = State::inside_host(about.options.unix_buffer);
    let conn = Conn::inside_node(&hosts, state, about);
    conn.run(|state, fx| state.establish(fx));
    hosts.state.with(|state| {
        state.add_conn(node, &conn, 0, None);
        state.add_conn(node, &conn, 1, None);
    });
    Ok(conn)
}

impl UnixStream {
    pub(crate) fn new(end: End) -> UnixStream {
        UnixStream {
            end,
            descriptor: Descriptor::new(Kind::UnixStream),
        }
    }

    pub(super) fn end(&self) -> &End {
        &self.end
    }

    pub(super) fn addresses(&self) -> [SocketAddr; 2] {
        let Names::Unix([first, second]) = self.end.conn.names.clone() else {
            unreachable!("cct bug: a Unix connection without addresses");
        };
        match self.end.id {
            0 => [first, second],
            _ => [second, first],
        }
    }

    /// Connects to the socket that listens at a path of the same node.
    ///
    /// # Scheduling points
    /// One before connecting.
    ///
    /// Then it waits until the runtime has looked at the new socket, which it does between two polls.
    ///
    /// # Cancel safety
    /// Dropping the future gives the connection up; the other side may see one that is closed.
    ///
    /// # Errors
    /// `NotFound` when there is no such path, `ConnectionRefused` when nobody listens there any
    /// more, `WouldBlock` when the listener's queue is full.
    #[track_caller]
    pub fn connect<P: AsRef<Path>>(path: P) -> impl Future<Output = io::Result<UnixStream>> {
        UnixStream::connect_from(SocketAddr::default(), path, Location::caller())
    }

    /// Connects to the socket that listens at an address of the same node.
    ///
    /// # Scheduling points
    /// One before connecting.
    ///
    /// # Cancel safety
    /// As for [`connect`](Self::connect).
    ///
    /// # Errors
    /// As for [`connect`](Self::connect); EINVAL for no name.
    #[track_caller]
    pub fn connect_addr(
        socket_addr: &SocketAddr,
    ) -> impl Future<Output = io::Result<UnixStream>> + Send {
        let (path, site) = (socket_addr.as_path(), Location::caller());
        async move {
            match path {
                Some(path) => UnixStream::connect_from(SocketAddr::default(), path, site).await,
                None => Err(Errno::EINVAL.into()),
            }
        }
    }

    pub(super) async fn connect_from<P: AsRef<Path>>(
        name: SocketAddr,
        path: P,
        site: &'static Location<'static>,
    ) -> io::Result<UnixStream> {
        let path = path.as_ref();
        match UnixStream::connect_here(name, path, site).await {
            #[cfg(target_os = "linux")]
            Err(error)
                if matches!(
                    error.kind(),
                    ErrorKind::NotFound | ErrorKind::ConnectionRefused
                ) =>
            {
                crate::gate::connect_to_path(path, site)?.ok_or(error)
            }
            done => done,
        }
    }

    /// Connects to a socket of the world.
    pub(crate) async fn connect_here(
        name: SocketAddr,
        path: &Path,
        site: &'static Location<'static>,
    ) -> io::Result<UnixStream> {
        let hosts = hosts()?;
        poll_fn(|_| hosts.point(OpKind::Connect, Access::Write, site)).await;
        let listener = hosts
            .state
            .with(|state| state.host(current()).unix.listener(path))?;
        let conn = connected([name, SocketAddr::of(path)], site)?;
        let end = End::new(conn, 0);
        let look = FirstLook::new();
        if !listener.admit_at_once(&end.conn) {
            hosts.forget_conn(&end.conn, 1);
            return Err(ErrorKind::WouldBlock.into());
        }
        // Nobody listens any more once the other handle is dropped.
        drop(listener);
        let resource = &end.conn.resources[0];
        waiting(|cx, wait| look.poll(cx, wait, || wait.blocked(resource, OpKind::Connect, site)))
            .await;
        match end.take_error() {
            Some(error) => Err(error),
            None => Ok(UnixStream::new(end)),
        }
    }

    /// Two ends of a connection.
    ///
    /// # Errors
    /// Outside a world.
    #[track_caller]
    pub fn pair() -> io::Result<(UnixStream, UnixStream)> {
        let conn = connected(Default::default(), Location::caller())?;
        let end = |id| UnixStream::new(End::new(conn.clone(), id));
        Ok((end(0), end(1)))
    }

    /// Lends the two directions.
    pub fn split(&mut self) -> (ReadHalf<'_>, WriteHalf<'_>) {
        (ReadHalf(self), WriteHalf(self))
    }

    /// Splits the stream into its two directions. Dropping the writing half shuts its direction
    /// down.
    pub fn into_split(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        split::split_owned(self)
    }

    ready_methods!(SocketAddr);
    read_methods!();
    write_methods!();
    stream_methods!();
}

#[cfg(target_os = "linux")]
impl crate::stream::carried::Carried for UnixStream {
    type Read = OwnedReadHalf;
    type Write = OwnedWriteHalf;

    fn end(&self) -> &End {
        &self.end
    }

    fn halves(self) -> (OwnedReadHalf, OwnedWriteHalf) {
        self.into_split()
    }
}

futures_read!(UnixStream);
futures_write!(UnixStream);

impl AsRef<UnixStream> for UnixStream {
    fn as_ref(&self) -> &UnixStream {
        self
    }
}

// As in tokio: a panic leaves nothing half done behind a socket.
impl std::panic::UnwindSafe for UnixStream {}
impl std::panic::RefUnwindSafe for UnixStream {}

impl fmt::Debug for UnixStream {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let [local, peer] = self.addresses();
        f.debug_struct("UnixStream")
            .field("local", &local)
            .field("peer", &peer)
            .finish()
    }
}
