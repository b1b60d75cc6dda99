//! UDP, with one datagram on its way at a time: several may overtake each other.

use super::Log;
use super::rt::{self, UdpSocket};

async fn two() -> (UdpSocket, UdpSocket) {
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let two = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    (one, two)
}

pub(crate) async fn echo(log: Log) {
    let (one, two) = two().await;
    let addr = two.local_addr().unwrap();
    let server = rt::spawn(async move {
        let mut buf = [0; 16];
        let (count, from) = two.recv_from(&mut buf).await.unwrap();
        two.send_to(&buf[..count], from).await.unwrap();
        (count, from)
    });
    log.result("send", one.send_to(b"ping", addr).await);
    let mut buf = [0; 16];
    let (count, from) = one.recv_from(&mut buf).await.unwrap();
    log.note(String::from_utf8_lossy(&buf[..count]));
    log.note(from == addr);
    let (count, from) = server.await.unwrap();
    log.note(count);
    log.note(from == one.local_addr().unwrap());
    let error = one.peer_addr().unwrap_err();
    log.note(format!("{:?}", error.kind()));
}

pub(crate) async fn connected(log: Log) {
    let (one, two) = two().await;
    let stranger = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.connect(two.local_addr().unwrap()).await.unwrap();
    log.note(one.peer_addr().unwrap() == two.local_addr().unwrap());
    let to = one.local_addr().unwrap();
    stranger.send_to(b"from a stranger", to).await.unwrap();
    rt::pause().await;
    two.send_to(b"from the peer", to).await.unwrap();
    let mut buf = [0; 32];
    let count = one.recv(&mut buf).await.unwrap();
    log.note(String::from_utf8_lossy(&buf[..count]));
    log.result("send", one.send(b"").await);
    log.result("empty", two.recv(&mut buf).await);
}

pub(crate) async fn unreachable(log: Log) {
    let (one, two) = two().await;
    one.connect(two.local_addr().unwrap()).await.unwrap();
    drop(two);
    log.result("send", one.send(b"x").await);
    log.result("recv", one.recv(&mut [0; 4]).await);
    log.result("send", one.send(b"x").await);
    rt::pause().await;
    log.result("send", one.send(b"x").await);
}

pub(crate) async fn truncated(log: Log) {
    let (one, two) = two().await;
    one.send_to(b"0123456789", two.local_addr().unwrap())
        .await
        .unwrap();
    let mut buf = [0; 4];
    log.result("recv", two.recv(&mut buf).await);
    log.note(String::from_utf8_lossy(&buf));
    log.result("rest", two.try_recv(&mut buf));
    let mut long = Vec::with_capacity(64);
    one.send_to(b"grows", two.local_addr().unwrap())
        .await
        .unwrap();
    log.result("recv_buf", two.recv_buf(&mut long).await);
    log.result(
        "too long",
        one.send_to(&[0; 70_000], two.local_addr().unwrap())
            .await
            .map_err(|_| std::io::Error::other("")),
    );
}

pub(crate) async fn peeking(log: Log) {
    let (one, two) = two().await;
    one.send_to(b"look", two.local_addr().unwrap())
        .await
        .unwrap();
    let mut buf = [0; 8];
    log.result("peek", two.peek(&mut buf).await);
    let (count, from) = two.peek_from(&mut buf).await.unwrap();
    log.note(count);
    log.note(from == one.local_addr().unwrap());
    log.result("recv", two.recv(&mut buf).await);
    log.result("peek", two.try_peek_from(&mut buf).map(|(count, _)| count));
}

pub(crate) async fn nothing_there(log: Log) {
    let (one, two) = two().await;
    log.result("recv", one.try_recv(&mut [0; 4]));
    log.result(
        "taken",
        UdpSocket::bind(two.local_addr().unwrap())
            .await
            .map(|_| "ok"),
    );
    one.writable().await.unwrap();
    one.try_send_to(b"x", two.local_addr().unwrap()).unwrap();
    two.readable().await.unwrap();
    log.result("recv", two.try_recv(&mut [0; 4]));
}

pub(crate) async fn forbidden_broadcast(log: Log) {
    let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
    log.note(socket.broadcast().unwrap());
    log.result("send", socket.send_to(b"x", "255.255.255.255:9").await);
}

pub(crate) async fn growing_buffers(log: Log) {
    let (one, two) = two().await;
    let to = two.local_addr().unwrap();
    let mut grown = Vec::with_capacity(8);
    one.send_to(b"first", to).await.unwrap();
    log.result("recv", two.recv_buf(&mut grown).await);
    one.send_to(b"second", to).await.unwrap();
    let (count, from) = two.recv_buf_from(&mut grown).await.unwrap();
    log.note(format!("{:?}", (count, from == one.local_addr().unwrap())));
    log.note(String::from_utf8_lossy(&grown));
    one.send_to(&[b'x'; 100], to).await.unwrap();
    two.peek(&mut [0]).await.unwrap();
    log.result("a full one grows", two.try_recv_buf(&mut grown));
    log.note(grown.len());
    log.result("none", two.try_recv_buf(&mut grown));
    one.send_to(b"more", to).await.unwrap();
    two.peek(&mut [0]).await.unwrap();
    let mut short = [0; 2];
    let (count, _) = two.try_recv_buf_from(&mut &mut short[..]).unwrap();
    log.note(format!("{:?}", (count, short)));
    log.result(
        "none",
        two.try_recv_buf_from(&mut grown).map(|(count, _)| count),
    );
}

pub(crate) async fn senders(log: Log) {
    let (one, two) = two().await;
    let (here, to) = (one.local_addr().unwrap(), two.local_addr().unwrap());
    log.result("nobody", two.try_peek_sender().map(|_| "somebody"));
    one.send_to(b"ping", to).await.unwrap();
    log.note(two.peek_sender().await.unwrap() == here);
    let polled = std::future::poll_fn(|cx| two.poll_peek_sender(cx)).await;
    log.note(polled.unwrap() == here);
    log.note(two.try_peek_sender().unwrap() == here);
    log.result("still there", two.recv(&mut [0; 8]).await);
    log.result("nobody", two.try_peek_sender().map(|_| "somebody"));
}

pub(crate) async fn settings(log: Log) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    log.result("tos", socket.tos_v4());
    log.result("set", socket.set_tos_v4(96).map(|()| "ok"));
    log.result("tos", socket.tos_v4());
    let socket = UdpSocket::bind("[::1]:0").await.unwrap();
    log.result("class", socket.tclass_v6());
    log.result("set", socket.set_tclass_v6(96).map(|()| "ok"));
    log.result("class", socket.tclass_v6());
    for addr in ["127.0.0.1:0", "[::1]:0"] {
        let socket = UdpSocket::bind(addr).await.unwrap();
        log.os("class at first", socket.tclass_v6());
        log.os("device", socket.device().map(|name| format!("{name:?}")));
        log.os("bind", socket.bind_device(None).map(|()| "ok"));
        log.os("loop", socket.multicast_loop_v4());
        log.os("loop 6", socket.multicast_loop_v6());
        log.os("set", socket.set_multicast_loop_v6(false).map(|()| "ok"));
        for value in [1, 3, 184, 255, 256, 300, u32::MAX] {
            log.os("set tos", socket.set_tos_v4(value).map(|()| "ok"));
            log.os("tos", socket.tos_v4());
            log.os("set class", socket.set_tclass_v6(value).map(|()| "ok"));
            log.os("class", socket.tclass_v6());
        }
    }
}

/// Hand-written futures may look without taking.
pub(crate) async fn poll_peek(log: Log) {
    let (one, two) = two().await;
    one.send_to(b"once", two.local_addr().unwrap())
        .await
        .unwrap();
    two.readable().await.unwrap();
    for _ in 0..2 {
        log.result("peek", rt::poll_peek(&two, 2).await);
    }
    log.result("recv", two.recv(&mut [0; 8]).await);
}

/// A socket that is connected to one is no socket for others, who are told so.
pub(crate) async fn elsewhere(log: Log) {
    let (one, two) = two().await;
    let three = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let [first, second, third] = [&one, &two, &three].map(|s| s.local_addr().unwrap());
    two.connect(third).await.unwrap();
    one.connect(second).await.unwrap();
    log.os("send", one.send(b"stranger").await);
    log.os("refused", one.recv(&mut [0; 4]).await);
    three.send_to(b"unconnected", second).await.unwrap();
    log.os("from the peer", two.recv(&mut [0; 16]).await);
    two.connect(first).await.unwrap();
    three.send_to(b"x", second).await.unwrap();
    rt::pause().await;
    log.os("one is not told", three.try_recv(&mut [0; 4]));
    log.os("send", one.send(b"friend").await);
    log.os("friend", two.recv(&mut [0; 16]).await);
}

pub(crate) async fn numbers(log: Log) {
    let (one, two) = two().await;
    let to = two.local_addr().unwrap();
    log.os("nowhere", one.send(b"x").await);
    log.os("peer", one.peer_addr().map(|_| "known"));
    log.os("too long", one.send_to(&[0; 65_508], to).await);
    log.os("longest", one.send_to(&[0; 65_507], to).await);
    log.os("port 0", one.send_to(b"x", "127.0.0.1:0").await);
    log.os("version 6", one.send_to(b"x", "[::1]:9").await);
    rt::pause().await;
    one.connect(to).await.unwrap();
    drop(two);
    one.send(b"x").await.unwrap();
    log.os("refused", one.recv(&mut [0; 4]).await);
    one.send(b"x").await.unwrap();
    rt::pause().await;
    log.os("taken", one.take_error().unwrap().map_or(Ok("none"), Err));
}

/// What cannot be sent is told before what became of an earlier datagram.
pub(crate) async fn order_of_errors(log: Log) {
    let (one, two) = two().await;
    let to = two.local_addr().unwrap();
    one.connect(to).await.unwrap();
    drop(two);
    one.send(b"x").await.unwrap();
    rt::pause().await;
    log.os("version 6", one.send_to(b"x", "[::1]:9").await);
    log.os("port 0", one.send_to(b"x", "127.0.0.1:0").await);
    log.os("too long", one.send(&[0; 65_508]).await);
    log.os("far too long", one.send(&[0; 70_000]).await);
    log.os("refused", one.send(b"x").await);
    log.os("connect", one.connect("[::1]:9").await.map(|()| "ok"));
}

/// Version 6 and version 4, by one socket.
pub(crate) async fn both_versions(log: Log) {
    let v4 = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = v4.local_addr().unwrap();
    let mapped = format!("[::ffff:127.0.0.1]:{}", to.port());
    let only = UdpSocket::bind("[::1]:0").await.unwrap();
    log.os("only 6", only.send_to(b"x", to).await);
    log.os("only 6", only.send_to(b"x", &mapped).await);
    log.os("only 6", only.send_to(&[0; 70_000], to).await);
    log.os("connect", only.connect(to).await.map(|()| "ok"));
    log.os("connect", only.connect(&mapped).await.map(|()| "ok"));
    let own = only.local_addr().unwrap();
    log.os("longest", only.send_to(&[0; 65_527], own).await);
    log.os("too long", only.send_to(&[0; 65_528], own).await);
    let both = UdpSocket::bind("[::]:0").await.unwrap();
    both.connect(own).await.unwrap();
    both.send_to(b"x", to).await.unwrap();
    let (_, from) = v4.recv_from(&mut [0; 4]).await.unwrap();
    log.note(from.ip());
    let both = UdpSocket::bind("[::]:0").await.unwrap();
    both.connect(&mapped).await.unwrap();
    log.os("of 4 now", both.send_to(b"x", own).await);
    log.os("of 4 now", both.connect(own).await.map(|()| "ok"));
}

/// A socket that was bound to all addresses has one of them once it is connected.
pub(crate) async fn narrowed(log: Log) {
    let (one, two) = (two().await.0, UdpSocket::bind("0.0.0.0:0").await.unwrap());
    let port = two.local_addr().unwrap().port();
    let all = UdpSocket::bind(("127.0.0.2", port)).await;
    log.result("before", all.map(|_| "ok"));
    two.connect(one.local_addr().unwrap()).await.unwrap();
    let other = UdpSocket::bind(("127.0.0.2", port)).await;
    log.result("other", other.map(|_| "ok"));
    let same = UdpSocket::bind(("127.0.0.1", port)).await;
    log.result("same", same.map(|_| "ok"));
    // All addresses are its own.
    let own = UdpSocket::bind("127.0.0.2:0").await.unwrap();
    let to = ("0.0.0.0", own.local_addr().unwrap().port());
    own.send_to(b"x", to).await.unwrap();
    let (_, from) = own.recv_from(&mut [0; 4]).await.unwrap();
    log.note(from.ip());
    own.connect(to).await.unwrap();
    log.note(own.peer_addr().unwrap().ip());
}
