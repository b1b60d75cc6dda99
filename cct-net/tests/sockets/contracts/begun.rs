//! Connections that are begun by the kernel's call, with a socket that does not block.

use super::Log;
use super::rt::{self, TcpListener, TcpStream};
use nix::errno::Errno;
use socket2::{Domain, Socket, Type};
use std::net::{self, SocketAddr};

/// It may be done at once, or go on.
fn begin(to: SocketAddr) -> net::TcpStream {
    let socket = Socket::new(Domain::for_address(to), Type::STREAM, None).unwrap();
    socket.set_nonblocking(true).unwrap();
    socket.set_tcp_nodelay(true).unwrap();
    if let Err(error) = socket.connect(&to.into()) {
        assert_eq!(error.raw_os_error(), Some(Errno::EINPROGRESS as i32));
    }
    socket.into()
}

pub(crate) async fn heard(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut client = TcpStream::from_std(begin(address)).unwrap();
    client.writable().await.unwrap();
    log.note(client.take_error().unwrap().is_none());
    log.note(client.peer_addr().unwrap() == address);
    log.note(client.nodelay().unwrap());
    let (mut server, peer) = listener.accept().await.unwrap();
    log.note(client.local_addr().unwrap() == peer);
    rt::write_all(&mut client, b"ping").await.unwrap();
    log.note(rt::read_exact(&mut server, 4).await.unwrap());
    drop(server);
    log.note(rt::read_to_end(&mut client).await.unwrap());
}

pub(crate) async fn before_the_listener_is_tokios(log: Log) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::from_std(begin(address)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let (mut server, _) = listener.accept().await.unwrap();
    rt::write_all(&mut server, b"pong").await.unwrap();
    client.writable().await.unwrap();
    let mut client = client;
    log.note(rt::read_exact(&mut client, 4).await.unwrap());
}

pub(crate) async fn refused(log: Log) {
    let nobody = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = nobody.local_addr().unwrap();
    drop(nobody);
    let client = TcpStream::from_std(begin(address)).unwrap();
    client.writable().await.unwrap();
    log.note(client.take_error().unwrap().unwrap().kind());
    log.note(client.peer_addr().unwrap_err().kind());
}
