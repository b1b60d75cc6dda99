//! TCP when all goes well.

use super::Log;
use super::rt::{self, Interest, TcpListener, TcpSocket, TcpStream};
use std::io::{IoSlice, IoSliceMut};
use std::net::SocketAddr;
use std::time::Duration;

pub(super) async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let client = rt::spawn(TcpStream::connect(addr));
    let (server, _) = listener.accept().await.unwrap();
    (client.await.unwrap().unwrap(), server)
}

/// Connected, and the runtime has heard what the system says of new sockets. Should it hear that while an
/// operation finds out something else, tokio keeps what it supposed.
pub(super) async fn settled() -> (TcpStream, TcpStream) {
    let both = connected().await;
    rt::pause().await;
    both
}

pub(crate) async fn hello(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let server = rt::spawn(async move {
        let (mut stream, peer) = listener.accept().await.unwrap();
        assert_eq!(stream.peer_addr().unwrap(), peer);
        let name = rt::read_exact(&mut stream, 5).await.unwrap();
        rt::write_all(&mut stream, format!("hello {name}").as_bytes())
            .await
            .unwrap();
        (stream.local_addr().unwrap(), peer)
    });
    let mut stream = TcpStream::connect(addr).await.unwrap();
    log.note(format!("nodelay {}", stream.nodelay().unwrap()));
    log.note(format!(
        "linger {:?}",
        stream.take_error().unwrap().is_none()
    ));
    stream.set_nodelay(true).unwrap();
    log.note(format!("nodelay {}", stream.nodelay().unwrap()));
    rt::write_all(&mut stream, b"world").await.unwrap();
    log.result("answer", rt::read_to_end(&mut stream).await);
    log.result("again", rt::read(&mut stream, &mut [0; 8]).await);
    let (local, peer) = server.await.unwrap();
    log.note(local == stream.peer_addr().unwrap() && local == addr);
    log.note(peer == stream.local_addr().unwrap());
}

pub(crate) async fn half_close(log: Log) {
    let (mut client, mut server) = connected().await;
    let task = rt::spawn(async move {
        let request = rt::read_to_end(&mut server).await.unwrap();
        rt::pause().await;
        rt::write_all(&mut server, request.to_uppercase().as_bytes())
            .await
            .unwrap();
    });
    rt::write_all(&mut client, b"ab").await.unwrap();
    rt::write_all(&mut client, b"cd").await.unwrap();
    rt::shutdown(&mut client).await.unwrap();
    log.result("answer", rt::read_to_end(&mut client).await);
    log.result("shutdown", rt::shutdown(&mut client).await.map(|()| "ok"));
    task.await.unwrap();
}

pub(crate) async fn peek_and_try(log: Log) {
    let (mut client, server) = connected().await;
    let mut buf = [0; 8];
    log.result("try_read", server.try_read(&mut buf));
    rt::write_all(&mut client, b"abc").await.unwrap();
    log.result("peek", server.peek(&mut buf[..2]).await);
    log.result("peek", server.peek(&mut buf).await);
    log.note(String::from_utf8_lossy(&buf[..3]));
    server.readable().await.unwrap();
    log.result("try_read", server.try_read(&mut buf[..2]));
    log.result("try_read", server.try_read(&mut buf));
    log.result("try_read", server.try_read(&mut buf));
    log.result("empty", server.try_read(&mut []));
    log.result("try_write", server.try_write(b"xyz"));
    let mut grown = Vec::with_capacity(16);
    client.readable().await.unwrap();
    log.result("try_read_buf", client.try_read_buf(&mut grown));
    log.note(String::from_utf8_lossy(&grown));
    drop(client);
    server.readable().await.unwrap();
    log.result("end", server.try_read(&mut buf));
}

pub(crate) async fn split_and_reunite(log: Log) {
    let (client, mut server) = connected().await;
    let (other, _kept) = connected().await;
    let (read, write) = client.into_split();
    let (other_read, other_write) = other.into_split();
    let error = read.reunite(other_write).unwrap_err();
    log.note(&error);
    let (read, other_write) = (error.0, error.1);
    drop((other_read, other_write));
    let mut client = read.reunite(write).unwrap();
    {
        let (mut read, mut write) = client.split();
        rt::write_all(&mut write, b"1").await.unwrap();
        log.result("server", rt::read_exact(&mut server, 1).await);
        rt::write_all(&mut server, b"2").await.unwrap();
        log.result("client", rt::read_exact(&mut read, 1).await);
    }
    let (mut read, write) = client.into_split();
    drop(write);
    log.result("server", rt::read_to_end(&mut server).await);
    rt::write_all(&mut server, b"3").await.unwrap();
    log.result("client", rt::read_exact(&mut read, 1).await);
    let (mut read, mut write) = server.into_split();
    rt::shutdown(&mut write).await.unwrap();
    write.forget();
    log.result("server", rt::read_to_end(&mut read).await);
}

pub(crate) async fn back_pressure(log: Log) {
    let (client, mut server) = connected().await;
    let chunk = [7; 4096];
    let mut sent = 0;
    loop {
        match client.try_write(&chunk) {
            Ok(count) => sent += count,
            Err(error) => {
                rt::pause().await;
                if client.try_write(&[7]).map(|count| sent += count).is_err() {
                    log.note(format!("{:?}", error.kind()));
                    break;
                }
            }
        }
    }
    log.note(sent > 10_000);
    let reader = rt::spawn(async move {
        let mut buf = vec![0; 8192];
        let mut read = 0;
        loop {
            match rt::read(&mut server, &mut buf).await.unwrap() {
                0 => break read,
                count => read += count,
            }
        }
    });
    client.writable().await.unwrap();
    let mut client = client;
    rt::write_all(&mut client, &[9; 100_000]).await.unwrap();
    drop(client);
    log.note(reader.await.unwrap() == sent + 100_000);
}

pub(crate) async fn backlog(log: Log) {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = socket.local_addr().unwrap();
    let listener = socket.listen(1).unwrap();
    let _one = TcpStream::connect(addr).await.unwrap();
    let _two = TcpStream::connect(addr).await.unwrap();
    let mut three = rt::spawn(TcpStream::connect(addr));
    let waits = rt::timeout(Duration::from_millis(300), &mut three).await;
    log.note(format!("the third waits: {}", waits.is_err()));
    let _first = listener.accept().await.unwrap();
    let three = three.await.unwrap();
    log.note(format!("until there is room: {}", three.is_ok()));
}

pub(crate) async fn early_bird(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    rt::write_all(&mut client, b"early").await.unwrap();
    drop(client);
    let (mut server, _) = listener.accept().await.unwrap();
    log.result("server", rt::read_to_end(&mut server).await);
}

pub(crate) async fn vectored(log: Log) {
    let (client, server) = connected().await;
    let parts = [IoSlice::new(b"ab"), IoSlice::new(b""), IoSlice::new(b"cde")];
    log.result("write", client.try_write_vectored(&parts));
    server.peek(&mut [0]).await.unwrap();
    let (mut one, mut two) = ([0; 1], [0; 9]);
    let mut parts = [IoSliceMut::new(&mut one), IoSliceMut::new(&mut two)];
    log.result("read", server.try_read_vectored(&mut parts));
    log.note(String::from_utf8_lossy(&one));
    log.note(String::from_utf8_lossy(&two[..4]));
}

pub(crate) async fn version_6(log: Log) {
    let listener = TcpListener::bind("[::1]:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let mut client = TcpStream::connect(("::1", addr.port())).await.unwrap();
    let (mut server, peer) = listener.accept().await.unwrap();
    log.note(peer.ip());
    rt::write_all(&mut client, b"six").await.unwrap();
    log.result("server", rt::read_exact(&mut server, 3).await);
    let four = SocketAddr::new("127.0.0.1".parse().unwrap(), addr.port());
    log.result("four", TcpStream::connect(four).await.map(|_| "connected"));
}

pub(crate) async fn both_versions(log: Log) {
    let listener = TcpListener::bind("[::]:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (server, peer) = listener.accept().await.unwrap();
    log.note(peer.ip());
    log.note(server.local_addr().unwrap().ip());
    log.note(client.peer_addr().unwrap().ip());
    let client = TcpStream::connect(("::1", port)).await.unwrap();
    let (_, peer) = listener.accept().await.unwrap();
    log.note(peer.ip());
    log.note(client.peer_addr().unwrap().ip());
}

pub(crate) async fn readiness(log: Log) {
    let (mut client, mut server) = settled().await;
    let both = Interest::READABLE | Interest::WRITABLE;
    let show = |what: &str, ready: rt::Ready| {
        format!(
            "{what}: {} {} {} {}",
            ready.is_readable(),
            ready.is_writable(),
            ready.is_read_closed(),
            ready.is_write_closed()
        )
    };
    // tokio supposes a new socket to be readable until it is not.
    log.result("try_read", server.try_read(&mut [0; 1]));
    log.note(show("idle", server.ready(both).await.unwrap()));
    rt::write_all(&mut client, b"x").await.unwrap();
    log.note(show(
        "data",
        server.ready(Interest::READABLE).await.unwrap(),
    ));
    rt::shutdown(&mut client).await.unwrap();
    rt::pause().await;
    log.note(show("closed", server.ready(both).await.unwrap()));
    log.result("rest", rt::read_to_end(&mut server).await);
    rt::shutdown(&mut server).await.unwrap();
    rt::pause().await;
    log.note(show("both closed", server.ready(both).await.unwrap()));
}

pub(crate) async fn names(log: Log) {
    let listener = TcpListener::bind("localhost:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    let client = TcpStream::connect(format!("localhost:{port}")).await;
    log.result("client", client.map(|_| "connected"));
    let list = [
        SocketAddr::new("127.0.0.1".parse().unwrap(), 1),
        listener.local_addr().unwrap(),
    ];
    let client = TcpStream::connect(&list[..]).await;
    log.result("client", client.map(|_| "connected"));
    let found: Vec<_> = rt::lookup_host(("127.0.0.1", 80)).await.unwrap().collect();
    log.note(format!("{found:?}"));
}

pub(crate) async fn growing_buffers(log: Log) {
    let (mut one, two) = connected().await;
    rt::write_all(&mut one, &[b'x'; 10]).await.unwrap();
    rt::pause().await;
    let mut grown = Vec::with_capacity(8);
    two.readable().await.unwrap();
    log.result("what fits", two.try_read_buf(&mut grown));
    log.result("the rest", two.try_read_buf(&mut grown));
    log.result("nothing", two.try_read_buf(&mut grown));
    log.result("quick", one.set_quickack(false).map(|()| "ok"));
}

pub(crate) async fn what_panics_may_pass(log: Log) {
    // That it compiles is what matters.
    fn may_pass<T: std::panic::UnwindSafe + std::panic::RefUnwindSafe>() -> &'static str {
        std::any::type_name::<T>().rsplit("::").next().unwrap()
    }
    log.note(may_pass::<rt::TcpListener>());
    log.note(may_pass::<rt::TcpSocket>());
    log.note(may_pass::<TcpStream>());
    log.note(may_pass::<rt::UdpSocket>());
    log.note(may_pass::<rt::UnixDatagram>());
    log.note(may_pass::<rt::UnixListener>());
    log.note(may_pass::<rt::UnixStream>());
}

/// What sockets ask routers for, of which TCP keeps two bits for itself.
pub(crate) async fn service(log: Log) {
    for socket in [TcpSocket::new_v4(), TcpSocket::new_v6()] {
        let socket = socket.unwrap();
        log.os("keepalive", socket.keepalive());
        log.os("set", socket.set_keepalive(true).map(|()| "ok"));
        log.os("keepalive", socket.keepalive());
        for device in [None, Some(&b""[..]), Some(b"\0lo"), Some(b"nosuch0")] {
            log.os("bind", socket.bind_device(device).map(|()| "ok"));
            log.os("device", socket.device().map(|name| format!("{name:?}")));
        }
        log.os("tos", socket.tos_v4());
        log.os("class", socket.tclass_v6());
        for value in [1, 3, 184, 255, 256, 300, u32::MAX] {
            log.os("set tos", socket.set_tos_v4(value).map(|()| "ok"));
            log.os("tos", socket.tos_v4());
            log.os("set class", socket.set_tclass_v6(value).map(|()| "ok"));
            log.os("class", socket.tclass_v6());
        }
    }
}
