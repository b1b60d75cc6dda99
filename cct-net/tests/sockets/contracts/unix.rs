//! Unix sockets.

use super::Log;
use super::rt::{self, UnixDatagram, UnixListener, UnixSocket, UnixStream};

pub(crate) async fn pair(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    log.note(one.local_addr().unwrap().is_unnamed());
    log.note(one.peer_addr().unwrap().is_unnamed());
    rt::write_all(&mut one, b"hello").await.unwrap();
    two.readable().await.unwrap();
    log.result("try_read", two.try_read(&mut [0; 2]));
    log.result("rest", rt::read_exact(&mut two, 3).await);
    log.result("try_read", two.try_read(&mut [0; 2]));
    let (mut read, write) = two.into_split();
    drop(write);
    log.result("end", rt::read_to_end(&mut one).await);
    rt::write_all(&mut one, b"still").await.unwrap();
    drop(one);
    log.result("read", rt::read_to_end(&mut read).await);
}

pub(crate) async fn listen_and_connect(log: Log) {
    let path = rt::path("listen");
    let listener = UnixListener::bind(&path).unwrap();
    log.note(listener.local_addr().unwrap().as_pathname() == Some(path.as_path()));
    let mut client = UnixStream::connect(&path).await.unwrap();
    log.note(client.peer_addr().unwrap().as_pathname() == Some(path.as_path()));
    let (mut server, peer) = listener.accept().await.unwrap();
    log.note(peer.is_unnamed());
    rt::write_all(&mut client, b"ping").await.unwrap();
    rt::shutdown(&mut client).await.unwrap();
    log.result("server", rt::read_to_end(&mut server).await);
    rt::write_all(&mut server, b"pong").await.unwrap();
    drop(server);
    log.result("client", rt::read_to_end(&mut client).await);
    rt::unlink(&path).unwrap();
}

pub(crate) async fn closed(log: Log) {
    let (mut one, two) = UnixStream::pair().unwrap();
    drop(two);
    log.result("write", rt::write(&mut one, b"x").await);
    log.result("read", rt::read(&mut one, &mut [0; 4]).await);
    let (mut one, two) = UnixStream::pair().unwrap();
    rt::write_all(&mut one, b"unread").await.unwrap();
    drop(two);
    log.result("read", rt::read(&mut one, &mut [0; 4]).await);
    log.result("read", rt::read(&mut one, &mut [0; 4]).await);
    log.result("write", rt::write(&mut one, b"x").await);
}

pub(crate) async fn paths(log: Log) {
    let path = rt::path("paths");
    log.result("nobody", UnixStream::connect(&path).await.map(|_| "ok"));
    let listener = UnixListener::bind(&path).unwrap();
    log.result("taken", UnixListener::bind(&path).map(|_| "ok"));
    drop(listener);
    log.result("closed", UnixStream::connect(&path).await.map(|_| "ok"));
    log.result("still taken", UnixListener::bind(&path).map(|_| "ok"));
    rt::unlink(&path).unwrap();
    log.result("gone", UnixStream::connect(&path).await.map(|_| "ok"));
    log.result("free", UnixListener::bind(&path).map(|_| "ok"));
    rt::unlink(&path).unwrap();
}

/// What is too long for an address, or has a byte that ends it.
pub(crate) async fn no_paths(log: Log) {
    let (datagram, name) = (UnixDatagram::unbound().unwrap(), rt::path("no-path"));
    let long = name.with_file_name("x".repeat(120));
    let cut = name.with_file_name("a\0b");
    let socket = UnixSocket::new_stream().unwrap();
    log.result("socket", socket.bind(&long).map(|()| "ok"));
    log.result("connect", socket.connect(&long).await.map(|_| "ok"));
    datagram.writable().await.unwrap();
    for path in [long, cut] {
        log.result("listener", UnixListener::bind(&path).map(|_| "ok"));
        log.result("datagram", UnixDatagram::bind(&path).map(|_| "ok"));
        log.result("stream", UnixStream::connect(&path).await.map(|_| "ok"));
        log.result("peer", datagram.connect(&path).map(|()| "ok"));
        log.result("send_to", datagram.send_to(b"x", &path).await);
        log.result("try_send_to", datagram.try_send_to(b"x", &path));
    }
}

pub(crate) async fn datagrams(log: Log) {
    let (here, there) = (rt::path("here"), rt::path("there"));
    let one = UnixDatagram::bind(&here).unwrap();
    let two = UnixDatagram::bind(&there).unwrap();
    log.result("send", one.send_to(b"first", &there).await);
    one.connect(&there).unwrap();
    log.result("send", one.send(b"second").await);
    let mut buf = [0; 16];
    let (count, from) = two.recv_from(&mut buf).await.unwrap();
    log.note(String::from_utf8_lossy(&buf[..count]));
    log.note(from.as_pathname() == Some(here.as_path()));
    log.result("short", two.recv(&mut buf[..3]).await);
    log.result("none", two.try_recv(&mut buf));
    let (a, b) = UnixDatagram::pair().unwrap();
    a.send(b"pair").await.unwrap();
    log.result("pair", b.recv(&mut buf).await);
    rt::unlink(&here).unwrap();
    rt::unlink(&there).unwrap();
}

pub(crate) async fn datagrams_to_nobody(log: Log) {
    let path = rt::path("nobody");
    let one = UnixDatagram::unbound().unwrap();
    log.result("send", one.send(b"x").await);
    log.result("send_to", one.send_to(b"x", &path).await);
    log.result("connect", one.connect(&path).map(|()| "ok"));
    let two = UnixDatagram::bind(&path).unwrap();
    one.connect(&path).unwrap();
    drop(two);
    log.result("send", one.send(b"x").await);
    log.result("send_to", one.send_to(b"x", &path).await);
    rt::unlink(&path).unwrap();
    let (a, b) = UnixDatagram::pair().unwrap();
    a.shutdown(std::net::Shutdown::Write).unwrap();
    log.result("shut", a.send(b"x").await);
    drop(b);
}

pub(crate) async fn full(log: Log) {
    let (one, two) = UnixDatagram::pair().unwrap();
    let mut sent = 0_u32;
    let error = loop {
        match one.try_send(&sent.to_be_bytes()) {
            Ok(_) => sent += 1,
            Err(error) => break error,
        }
    };
    log.note(format!("{:?} {}", error.kind(), sent > 5));
    let sender = rt::spawn(async move {
        for number in sent..sent + 20 {
            one.send(&number.to_be_bytes()).await.unwrap();
        }
    });
    let mut buf = [0; 4];
    for number in 0..sent + 20 {
        two.recv(&mut buf).await.unwrap();
        assert_eq!(u32::from_be_bytes(buf), number);
    }
    sender.await.unwrap();
    log.note("all arrive in order");
}

pub(crate) async fn growing_buffers(log: Log) {
    let path = rt::path("growing");
    let one = UnixDatagram::unbound().unwrap();
    let two = UnixDatagram::bind(&path).unwrap();
    let mut grown = Vec::with_capacity(8);
    let sent = std::future::poll_fn(|cx| one.poll_send_to(cx, b"first", &path)).await;
    log.result("send", sent);
    log.result("recv", two.recv_buf(&mut grown).await);
    one.connect(&path).unwrap();
    one.send(b"second").await.unwrap();
    let (count, from) = two.recv_buf_from(&mut grown).await.unwrap();
    log.note(format!("{:?}", (count, from.is_unnamed())));
    log.note(String::from_utf8_lossy(&grown));
    log.result("none", two.try_recv_buf(&mut grown));
    one.send(b"third").await.unwrap();
    one.send(b"fourth").await.unwrap();
    two.readable().await.unwrap();
    let mut short = [0; 2];
    log.result("short", two.try_recv_buf(&mut &mut short[..]));
    let (count, _) = two.try_recv_buf_from(&mut grown).unwrap();
    log.note(format!("{:?}", (count, grown.len())));
    log.result("none", two.try_recv_buf(&mut grown));
    let taken = two.try_io(rt::Interest::READABLE, || Ok("ran"));
    log.result("nothing to read", taken);
    rt::unlink(&path).unwrap();
}

/// A socket that is connected takes nothing from others; one that is shut down says so first.
pub(crate) async fn strangers(log: Log) {
    let bound = |name: &str| {
        let path = rt::path(name);
        (UnixDatagram::bind(&path).unwrap(), path)
    };
    let (one, first) = bound("strangers-1");
    let (two, second) = bound("strangers-2");
    let (three, third) = bound("strangers-3");
    one.connect(&second).unwrap();
    log.os("stranger", two.send_to(b"x", &third).await);
    log.os("stranger sends", three.send_to(b"x", &first).await);
    log.os("stranger connects", three.connect(&first).map(|()| "ok"));
    log.os("the peer sends", two.send_to(b"xy", &first).await);
    log.os("the peer connects", two.connect(&first).map(|()| "ok"));
    log.os("received", one.recv(&mut [0; 4]).await);
    let nobody = rt::path("strangers-none");
    three.shutdown(std::net::Shutdown::Write).unwrap();
    log.os("to nobody", three.send_to(b"x", &nobody).await);
    log.os("unconnected", three.send(b"x").await);
    for path in [first, second, third] {
        rt::unlink(&path).unwrap();
    }
}

/// Who hears that the other end is closed hears that nobody will read, too.
pub(crate) async fn hang_up(log: Log) {
    let (one, two) = UnixStream::pair().unwrap();
    drop(two);
    rt::pause().await;
    let both = rt::Interest::READABLE | rt::Interest::WRITABLE;
    let ready = one.ready(both).await.unwrap();
    log.note(format!(
        "{} {}",
        ready.is_read_closed(),
        ready.is_write_closed()
    ));
    let (mut one, mut two) = UnixStream::pair().unwrap();
    rt::shutdown(&mut two).await.unwrap();
    rt::pause().await;
    let ready = one.ready(both).await.unwrap();
    log.note(format!(
        "{} {}",
        ready.is_read_closed(),
        ready.is_write_closed()
    ));
    log.os("write", rt::write(&mut one, b"x").await);
    log.os("read", rt::read(&mut two, &mut [0; 4]).await);
    drop(two);
    rt::pause().await;
    let ready = one.ready(both).await.unwrap();
    log.note(format!(
        "{} {}",
        ready.is_read_closed(),
        ready.is_write_closed()
    ));
    for shuts in [false, true] {
        let (mut one, mut two) = UnixStream::pair().unwrap();
        rt::shutdown(&mut two).await.unwrap();
        rt::write(&mut one, b"unread").await.unwrap();
        if shuts {
            rt::shutdown(&mut one).await.unwrap();
        }
        drop(two);
        rt::pause().await;
        log.os("unread", rt::read(&mut one, &mut [0; 4]).await);
        log.os("end", rt::read(&mut one, &mut [0; 4]).await);
    }
}

/// Addresses that were asked for lead back.
pub(crate) async fn by_address(log: Log) {
    let path = rt::path("by address");
    let first = UnixListener::bind(&path).unwrap();
    let addr = first.local_addr().unwrap();
    log.result("taken", UnixListener::bind_addr(&addr).map(|_| "ok"));
    log.result(
        "connect",
        UnixStream::connect_addr(&addr).await.map(|_| "ok"),
    );
    drop(first);
    log.os(
        "closed",
        UnixStream::connect_addr(&addr).await.map(|_| "ok"),
    );
    rt::unlink(&path).unwrap();
    let again = UnixListener::bind_addr(&addr).unwrap();
    let stream = UnixStream::connect_addr(&addr).await.unwrap();
    log.note(stream.peer_addr().unwrap().as_pathname() == Some(path.as_path()));
    log.note(stream.local_addr().unwrap().is_unnamed());
    let unnamed = stream.local_addr().unwrap();
    log.os(
        "unnamed",
        UnixStream::connect_addr(&unnamed).await.map(|_| "ok"),
    );
    drop(again);
    rt::unlink(&path).unwrap();
}

/// A name without a file, which goes with its listener.
#[cfg(target_os = "linux")]
pub(crate) async fn abstract_names(log: Log) {
    let name = format!("\0{}", rt::path("abstract").display());
    log.os("nobody", UnixStream::connect(&name).await.map(|_| "ok"));
    let first = UnixListener::bind(&name).unwrap();
    let addr = first.local_addr().unwrap();
    log.note(addr.as_abstract_name() == Some(&name.as_bytes()[1..]));
    log.note(addr.as_pathname().is_none() && !addr.is_unnamed());
    log.result("taken", UnixListener::bind(&name).map(|_| "ok"));
    log.result("taken", UnixListener::bind_addr(&addr).map(|_| "ok"));
    let stream = UnixStream::connect(&name).await.unwrap();
    let (accepted, peer) = first.accept().await.unwrap();
    log.note(peer.is_unnamed() && stream.local_addr().unwrap().is_unnamed());
    for addr in [stream.peer_addr(), accepted.local_addr()] {
        log.note(addr.unwrap().as_abstract_name() == addr_name(&name));
    }
    log.result("datagram", UnixDatagram::bind(&name).map(|_| "ok"));
    drop(first);
    // Those that are open go on, and the name is free.
    log.os(
        "closed",
        UnixStream::connect_addr(&addr).await.map(|_| "ok"),
    );
    let again = UnixListener::bind_addr(&addr).unwrap();
    let mut accepted = accepted;
    log.os("write", stream.try_write(b"x"));
    log.os("read", rt::read(&mut accepted, &mut [0; 4]).await);
    UnixStream::connect_addr(&addr).await.unwrap();
    again.accept().await.unwrap();
    let long = format!("\0{}", "x".repeat(120));
    log.result("long", UnixListener::bind(&long).map(|_| "ok"));
    log.result("long", UnixStream::connect(&long).await.map(|_| "ok"));
}

#[cfg(target_os = "linux")]
fn addr_name(name: &str) -> Option<&[u8]> {
    name.as_bytes().strip_prefix(&[0])
}

#[cfg(not(target_os = "linux"))]
pub(crate) async fn abstract_names(_: Log) {}

/// What was never accepted.
pub(crate) async fn not_accepted(log: Log) {
    let path = rt::path("not accepted");
    let listener = UnixListener::bind(&path).unwrap();
    let mut one = UnixStream::connect(&path).await.unwrap();
    let mut two = UnixStream::connect(&path).await.unwrap();
    drop(listener);
    log.result("refused", UnixStream::connect(&path).await.map(|_| "ok"));
    rt::pause().await;
    log.result("write", rt::write(&mut one, b"x").await);
    log.result("read", rt::read(&mut one, &mut [0; 4]).await);
    log.result("read", rt::read(&mut two, &mut [0; 4]).await);
    log.result("end", rt::read(&mut two, &mut [0; 4]).await);
    rt::unlink(&path).unwrap();
}

/// What was written can be read, and the end is known, however much there is before it.
pub(crate) async fn end_of_much(log: Log) {
    let (one, mut two) = UnixStream::pair().unwrap();
    one.writable().await.unwrap();
    let mut written = 0;
    while let Ok(count) = one.try_write(&[7; 4000]) {
        written += count;
    }
    let (reader, writer) = one.into_split();
    drop(writer);
    rt::pause().await;
    let ready = two.ready(rt::Interest::READABLE).await.unwrap();
    log.note(format!("end: {}", ready.is_read_closed()));
    rt::write_all(&mut two, b"unread").await.unwrap();
    drop(reader);
    let mut read = 0;
    let end = loop {
        match rt::read(&mut two, &mut [0; 9000]).await {
            Ok(count) => read += count,
            Err(error) => break error,
        }
    };
    log.note(format!("all: {}", read == written));
    log.os("then", std::io::Result::<u8>::Err(end));
    log.result("then", rt::read(&mut two, &mut [0; 4]).await);
}

/// Datagram sockets whose peers change, or go.
pub(crate) async fn new_peers(log: Log) {
    let [first, second, third] = ["peers 1", "peers 2", "peers 3"].map(rt::path);
    let [one, two, _three] =
        [&first, &second, &third].map(|path| UnixDatagram::bind(path).unwrap());
    one.connect(&second).unwrap();
    two.connect(&first).unwrap();
    two.send(b"lost").await.unwrap();
    rt::pause().await;
    // Whom it was connected to is told that not everything was received.
    one.connect(&third).unwrap();
    rt::pause().await;
    log.os("lost", one.try_recv(&mut [0; 4]));
    let ready = two.ready(rt::Interest::ERROR).await.unwrap();
    log.note(format!("error {}", ready.is_error()));
    log.os("told", two.send(b"x").await);
    log.os("once", two.take_error().unwrap().map_or(Ok("none"), Err));
    drop(one);
    log.os("gone", two.send(b"x").await);
    log.os("no peer", two.send(b"x").await);
    log.os("to itself", two.send_to(b"x", &second).await);
    log.os("received", two.recv(&mut [0; 4]).await);
    two.shutdown(std::net::Shutdown::Read).unwrap();
    rt::pause().await;
    log.os("no end", two.try_recv(&mut [0; 4]));
    for path in [first, second, third] {
        rt::unlink(&path).unwrap();
    }
}

/// Whether a socket is ready is asked before where it sends.
pub(crate) async fn full_and_nowhere(log: Log) {
    let (one, _two) = UnixDatagram::pair().unwrap();
    let nobody = rt::path("full and nowhere");
    log.result("nowhere", one.try_send_to(b"x", &nobody));
    while one.try_send(b"x").is_ok() {}
    log.result("full", one.try_send_to(b"x", &nobody));
}
