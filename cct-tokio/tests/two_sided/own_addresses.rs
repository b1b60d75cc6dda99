//! The addresses of the machine's interfaces are the test's own, whoever listens at them or at all.

use super::Log;
use super::rt;
use rt::net::{TcpListener, TcpStream, UdpSocket};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

/// As a program learns its address: nothing is sent, and nobody is there.
const AWAY: &str = "203.0.113.9:9";

/// The one that the kernel would use towards others; loopback where the machine has no other.
fn own() -> IpAddr {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").unwrap();
    let connected = socket.connect(AWAY).and_then(|()| socket.local_addr());
    connected.map_or(Ipv4Addr::LOCALHOST.into(), |own| own.ip())
}

/// It is all addresses that somebody listens at.
pub(crate) async fn listened_at(log: Log) {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let to = SocketAddr::new(own(), listener.local_addr().unwrap().port());
    let (client, accepted) = tokio::join!(TcpStream::connect(to), listener.accept());
    let (client, (server, peer)) = (client.unwrap(), accepted.unwrap());
    log.note(client.peer_addr().unwrap() == to);
    log.note(client.local_addr().unwrap().ip() == own());
    log.note(client.local_addr().unwrap() == peer);
    log.note(server.local_addr().unwrap() == to);
}

pub(crate) async fn nobody_listens(log: Log) {
    let nobody = std::net::TcpListener::bind((own(), 0)).unwrap();
    let to = nobody.local_addr().unwrap();
    drop(nobody);
    log.note(TcpStream::connect(to).await.unwrap_err().kind());
}

pub(crate) async fn of_datagrams(log: Log) {
    let receiver = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let sender = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    let to = SocketAddr::new(own(), receiver.local_addr().unwrap().port());
    sender.send_to(b"here", to).await.unwrap();
    let mut bytes = [0; 8];
    let (count, from) = receiver.recv_from(&mut bytes).await.unwrap();
    log.note(String::from_utf8_lossy(&bytes[..count]));
    log.note(from.ip() == own());
    log.note(from.port() == sender.local_addr().unwrap().port());
}

/// A socket that is connected to an address elsewhere has its own, and can be reached there.
pub(crate) async fn towards_others(log: Log) {
    for from in ["0.0.0.0:0", "127.0.0.1:0"] {
        let socket = UdpSocket::bind(from).await.unwrap();
        let connected = socket.connect(AWAY).await;
        let outcome = connected.as_ref().map_err(std::io::Error::kind);
        log.note(format!("{outcome:?}"));
        if connected.is_ok() {
            log.note(socket.local_addr().unwrap().ip() == own());
            log.note(socket.peer_addr().unwrap());
        }
    }
    let listener = TcpListener::bind((own(), 0)).await.unwrap();
    log.note(listener.local_addr().unwrap().ip() == own());
}
