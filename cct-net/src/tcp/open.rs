//! Opening connections.

use super::TcpStream;
use crate::fabric::network;
use crate::host::hosts;
use crate::host::ports::Share;
use crate::stream::conn::{About, Conn, Names};
use crate::stream::listening::Buffers;
use crate::stream::ops::End;
use crate::stream::state::State;
use cct_executor::node::current;
use cct_executor::shim::{Access, OpKind};
use cct_executor::words::fingerprint::{hash_of, mix2};
use std::future::poll_fn;
use std::io;
use std::net::SocketAddr;
use std::panic::Location;
use std::sync::Arc;

/// What a socket brings along when it connects.
#[derive(Default)]
pub(crate) struct Origin {
    /// Address and number of its binding.
    pub(super) bound: Option<(SocketAddr, u64)>,
    /// Outside of this world it is known by this one's port, which it has here, too, unless that is somebody else's.
    pub(super) client: Option<SocketAddr>,
    pub(super) buffers: Buffers,
}

impl Origin {
    /// Of a connection that somebody outside of this world has begun.
    pub(crate) fn outside(client: Option<SocketAddr>) -> Origin {
        Origin {
            client,
            ..Origin::default()
        }
    }
}

/// A connection to `to` from the running task's node.
pub(super) async fn connect(
    to: SocketAddr,
    origin: Origin,
    site: &'static Location<'static>,
) -> io::Result<TcpStream> {
    let hosts = hosts()?;
    poll_fn(|_| hosts.point(OpKind::Connect, Access::Write, site)).await;
    #[cfg(target_os = "linux")]
    super::promised::look(to, site)?;
    super::bridge::look(to).await?;
    #[cfg(target_os = "linux")]
    if let Some(stream) = crate::gate::connect(to, site)? {
        return Ok(stream);
    }
    open(to, origin, site).await
}

/// As [`connect`], to what is there.
pub(crate) async fn open(
    to: SocketAddr,
    origin: Origin,
    site: &'static Location<'static>,
) -> io::Result<TcpStream> {
    let end = End::new(make(to, &origin, site)?, 0);
    end.conn.send_syn();
    end.connected(site).await?;
    Ok(TcpStream::new(end, false))
}

/// As [`open`], for who does not wait for it.
#[cfg(target_os = "linux")]
pub(super) fn begin(
    to: SocketAddr,
    origin: &Origin,
    site: &'static Location<'static>,
) -> io::Result<TcpStream> {
    let end = End::new(make(to, origin, site)?, 0);
    end.conn.send_syn();
    Ok(TcpStream::new(end, false))
}

/// Makes the connection, and enters it in the host's table.
fn make(
    to: SocketAddr,
    origin: &Origin,
    site: &'static Location<'static>,
) -> io::Result<Arc<Conn>> {
    let (hosts, net) = (hosts()?, network()?);
    let node = current();
    let (about, state, binding, identity) = hosts.state.with(|state| {
        let peer = state.route(node, to.ip())?;
        // Nobody is called "all addresses": it is the node itself, at the socket's own address if it has
        // one of version 4.
        let own = origin.bound.map(|(addr, _)| addr.ip());
        let own = own.filter(|own| own.is_ipv4() && !own.is_unspecified());
        let to = match to.ip().is_unspecified() {
            true => {
                let ip = own.unwrap_or_else(|| state.source_address(node, to.ip()));
                SocketAddr::new(ip, to.port())
            }
            false => to,
        };
        let one_listens = !state.host(peer).tcp.find(to).is_empty();
        let to = state.drawn.inside(peer, to, one_listens);
        let (bound, binding) = match origin.bound {
            Some((addr, id)) => (addr, (addr.port(), id)),
            None => {
                let any = SocketAddr::new(state.source_address(node, to.ip()), 0);
                let tcp = &mut state.host(node).tcp;
                let client = origin.client.map(|at| SocketAddr::new(any.ip(), at.port()));
                let as_outside =
                    client.and_then(|client| tcp.bind(client, Share::default(), None).ok());
                let binding = match as_outside {
                    Some(binding) => binding,
                    None => tcp.bind(any, Share::default(), None)?,
                };
                (any, binding)
            }
        };
        let ip = match bound.ip().is_unspecified() {
            true => state.source_address(node, to.ip()),
            false => bound.ip(),
        };
        let from = SocketAddr::new(ip, binding.0);
        let serial = state.next_conn();
        // A port that was chosen may open several connections to one address.
        let again = if origin.bound.is_some() { serial } else { 0 };
        let options = state.tcp();
        let about = About {
            serial,
            names: Names::Inet([from, to]),
            nodes: [node, peer],
            options,
            site,
        };
        let send = origin.buffers.send.unwrap_or(options.send_buffer);
        let recv = origin.buffers.recv.unwrap_or(options.recv_buffer);
        let ends = State::new([send, options.send_buffer], [recv, options.recv_buffer]);
        let identity = mix2(hash_of(&(from, to)), again);
        Ok::<_, io::Error>((about, ends, binding, identity))
    })?;
    let conn = Conn::over_network(&net, &hosts, state, identity, about);
    hosts
        .state
        .with(|state| state.add_conn(node, &conn, 0, Some(binding)));
    Ok(conn)
}
