//! Datagrams between sockets of one machine: each is there, behind those that were sent before, when it was sent.
//! (The kernel says so as long as it has little else to do.)

use super::Log;
use super::rt;
use rt::net::UdpSocket;
use std::net::SocketAddr;

async fn bound(addr: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(addr).await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

fn outcome<T>(log: &Log, what: &str, result: std::io::Result<T>) -> Option<T> {
    let kind = result.as_ref().map(drop).map_err(std::io::Error::kind);
    log.note(format!("{what} {kind:?}"));
    result.ok()
}

/// Two sockets send, in turn, and one receives.
pub(crate) async fn in_order(log: Log) {
    let (receiver, _) = bound("0.0.0.0:0").await;
    let to = ("127.0.0.1", receiver.local_addr().unwrap().port());
    let (one, first) = bound("127.0.0.1:0").await;
    let (two, _) = bound("127.0.0.2:0").await;
    for number in [0_u8, 2, 4] {
        one.send_to(&[number], to).await.unwrap();
        two.send_to(&[number + 1], to).await.unwrap();
    }
    let mut byte = [0];
    for _ in 0..6 {
        let (_, from) = receiver.recv_from(&mut byte).await.unwrap();
        log.note(format!("{byte:?} {}", from == first));
    }
}

/// Nothing but the sending comes before the look.
pub(crate) async fn at_once(log: Log) {
    let (sender, from) = bound("127.0.0.1:0").await;
    let (receiver, to) = bound("127.0.0.1:0").await;
    let mut byte = [0];
    // It counts as readable until it is found out that it is not.
    sender.send_to(&[0], to).await.unwrap();
    receiver.recv(&mut byte).await.unwrap();
    for number in 1..4 {
        sender.send_to(&[number], to).await.unwrap();
        let received = receiver.try_recv_from(&mut byte).unwrap();
        log.note(format!("{byte:?} {}", received == (1, from)));
    }
    for number in 4..7 {
        outcome(&log, "try to send", sender.try_send_to(&[number], to));
    }
    for _ in 0..4 {
        outcome(&log, "try to receive", receiver.try_recv(&mut byte));
        log.note(byte[0]);
    }
}

/// Both have the other for their peer, and there is somebody else.
pub(crate) async fn of_peers(log: Log) {
    let (one, here) = bound("127.0.0.1:0").await;
    let (two, there) = bound("127.0.0.1:0").await;
    let (stranger, _) = bound("127.0.0.1:0").await;
    one.connect(there).await.unwrap();
    two.connect(here).await.unwrap();
    let mut buf = [0; 8];
    for text in ["one", "two", "three"] {
        one.send(text.as_bytes()).await.unwrap();
        stranger.send_to(b"stranger", there).await.unwrap();
    }
    for _ in 0..3 {
        let count = two.recv(&mut buf).await.unwrap();
        log.note(String::from_utf8_lossy(&buf[..count]));
        two.send(&buf[..count]).await.unwrap();
    }
    for _ in 0..3 {
        let count = one.recv(&mut buf).await.unwrap();
        log.note(String::from_utf8_lossy(&buf[..count]));
    }
    outcome(&log, "no more", two.try_recv(&mut buf));
}

/// That nobody is there is known as soon.
pub(crate) async fn to_nobody(log: Log) {
    let (one, _) = bound("127.0.0.1:0").await;
    let (two, there) = bound("127.0.0.1:0").await;
    one.connect(there).await.unwrap();
    outcome(&log, "somebody", one.send(b"x").await);
    drop(two);
    outcome(&log, "nobody", one.send(b"x").await);
    outcome(&log, "refused", one.send(b"x").await);
    outcome(&log, "nobody", one.send(b"x").await);
    let error = one.take_error().unwrap();
    log.note(format!("{:?}", error.map(|error| error.kind())));
}

/// What finds no room is lost, and nothing else.
pub(crate) async fn too_many(log: Log) {
    let (sender, _) = bound("127.0.0.1:0").await;
    let (receiver, to) = bound("127.0.0.1:0").await;
    let mut datagram = vec![0; 8 << 10];
    for number in 0..100 {
        datagram[0] = number;
        sender.send_to(&datagram, to).await.unwrap();
    }
    receiver.readable().await.unwrap();
    let mut received = Vec::new();
    while receiver.try_recv(&mut datagram).is_ok() {
        received.push(datagram[0]);
    }
    log.note(received.is_empty());
    log.note(received.iter().copied().eq(0..received.len() as u8));
    sender.send_to(b"room again", to).await.unwrap();
    log.note(receiver.recv(&mut datagram).await.unwrap());
}
