//! TCP when something goes wrong.

use super::Log;
use super::rt::{self, TcpListener, TcpSocket, TcpStream};
use super::tcp::connected;
use std::time::Duration;

pub(crate) async fn refused(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    log.result("connect", TcpStream::connect(addr).await.map(|_| "ok"));
}

pub(crate) async fn taken(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    log.result("again", TcpListener::bind(addr).await.map(|_| "ok"));
    let all = ("0.0.0.0", addr.port());
    log.result("all", TcpListener::bind(all).await.map(|_| "ok"));
    let other = ("127.0.0.2", addr.port());
    log.result(
        "other address",
        TcpListener::bind(other).await.map(|_| "ok"),
    );
    let socket = TcpSocket::new_v4().unwrap();
    log.result("socket", socket.bind(addr).map(|()| "ok"));
    drop(listener);
    let listener = TcpListener::bind(addr).await.unwrap();
    log.note("free again");
    let client = TcpStream::connect(addr).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    drop(listener);
    // A connection keeps the port from those who do not ask to share it.
    let socket = TcpSocket::new_v4().unwrap();
    log.result("without reuse", socket.bind(addr).map(|()| "ok"));
    socket.set_reuseaddr(true).unwrap();
    log.result("with reuse", socket.bind(addr).map(|()| "ok"));
    drop((client, server));
}

pub(crate) async fn shared_port(log: Log) {
    let socket = |shares: bool| {
        let socket = TcpSocket::new_v4().unwrap();
        log.result("at first", socket.reuseport());
        socket.set_reuseport(shares).unwrap();
        socket
    };
    let first = socket(true);
    first.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let addr = first.local_addr().unwrap();
    let second = socket(true);
    log.result("shares", second.bind(addr).map(|()| "ok"));
    log.result("does not share", socket(false).bind(addr).map(|()| "ok"));
    let (first, second) = (first.listen(8).unwrap(), second.listen(8).unwrap());
    log.result("listening", TcpListener::bind(addr).await.map(|_| "ok"));
    let third = socket(true);
    log.result("shares still", third.bind(addr).map(|()| "ok"));
    drop(third);
    // Each connection comes to one of the two.
    for _ in 0..6 {
        let client = TcpStream::connect(addr).await.unwrap();
        let accepted = rt::timeout(Duration::from_millis(50), first.accept()).await;
        let server = match accepted {
            Ok(accepted) => accepted.unwrap().0,
            Err(_) => second.accept().await.unwrap().0,
        };
        assert_eq!(server.peer_addr().unwrap(), client.local_addr().unwrap());
    }
    log.note("accepted");
    drop(first);
    // All come to the one that is left.
    let _client = TcpStream::connect(addr).await.unwrap();
    log.result("left", second.accept().await.map(|_| "ok"));
}

pub(crate) async fn elsewhere(log: Log) {
    let bound = TcpListener::bind("192.0.2.1:0").await.map(|_| "ok");
    log.result("bind", bound);
    let socket = TcpSocket::new_v4().unwrap();
    log.result(
        "socket",
        socket.bind("192.0.2.1:0".parse().unwrap()).map(|()| "ok"),
    );
}

/// Closing a socket with data that nobody read resets the connection.
pub(crate) async fn close_with_unread_data(log: Log) {
    let (mut client, server) = connected().await;
    rt::write_all(&mut client, b"unread").await.unwrap();
    server.peek(&mut [0]).await.unwrap();
    drop(server);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("shutdown", rt::shutdown(&mut client).await.map(|()| "ok"));
}

pub(crate) async fn zero_linger(log: Log) {
    let (mut client, server) = connected().await;
    server.set_zero_linger().unwrap();
    drop(server);
    client.readable().await.unwrap();
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
}

/// What arrived before a reset can still be read.
pub(crate) async fn data_before_reset(log: Log) {
    let (mut client, mut server) = connected().await;
    rt::write_all(&mut server, b"last words").await.unwrap();
    client.readable().await.unwrap();
    server.set_zero_linger().unwrap();
    drop(server);
    rt::pause().await;
    log.result("read", rt::read_exact(&mut client, 10).await);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
}

/// The first write to a peer that has closed is swallowed; it brings the reset about.
pub(crate) async fn write_to_closed(log: Log) {
    let (mut client, server) = connected().await;
    drop(server);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
    log.result("write", rt::write(&mut client, b"x").await);
    rt::pause().await;
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
}

pub(crate) async fn write_after_shutdown(log: Log) {
    let (mut client, mut server) = connected().await;
    rt::shutdown(&mut client).await.unwrap();
    log.result("write", rt::write(&mut client, b"x").await);
    log.result("shutdown", rt::shutdown(&mut client).await.map(|()| "ok"));
    log.result("end", rt::read_to_end(&mut server).await);
    drop(server);
    log.result("end", rt::read_to_end(&mut client).await);
    rt::pause().await;
    log.result("shutdown", rt::shutdown(&mut client).await.map(|()| "ok"));
    log.result("write", rt::write(&mut client, b"x").await);
}

/// Connections that wait to be accepted are reset.
pub(crate) async fn listener_dropped(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut client = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    rt::pause().await;
    drop(listener);
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
}

pub(crate) async fn bad_names(log: Log) {
    for name in ["nonsense", "localhost:99999", "localhost:http", "127.0.0.1"] {
        let error = TcpStream::connect(name).await.unwrap_err();
        log.note(format!("{name}: {:?}", error.kind()));
    }
    let nowhere: &[std::net::SocketAddr] = &[];
    let error = TcpStream::connect(nowhere).await.unwrap_err();
    log.note(format!("nowhere: {:?}", error.kind()));
    let socket = TcpSocket::new_v4().unwrap();
    let error = socket.connect("[::1]:80".parse().unwrap()).await.is_err();
    log.note(format!("wrong version: {error}"));
}

/// A connection that is over does not know any more whom it was with.
pub(crate) async fn forgotten_peer(log: Log) {
    let peer = |stream: &TcpStream| stream.peer_addr().map(|_| "known");
    let (mut client, mut server) = connected().await;
    log.os("open", peer(&client));
    rt::shutdown(&mut client).await.unwrap();
    log.os("half", peer(&client));
    log.result("end", rt::read(&mut server, &mut [0; 4]).await);
    log.os("other half", peer(&server));
    rt::shutdown(&mut server).await.unwrap();
    log.result("end", rt::read(&mut client, &mut [0; 4]).await);
    rt::pause().await;
    log.os("closed", peer(&client));
    log.os("closed", peer(&server));
    log.note(client.local_addr().is_ok());
    let (mut client, mut server) = connected().await;
    rt::write_all(&mut server, b"unread").await.unwrap();
    rt::shutdown(&mut server).await.unwrap();
    rt::shutdown(&mut client).await.unwrap();
    rt::pause().await;
    drop(client);
    rt::pause().await;
    let error = server.take_error().unwrap();
    log.os("no reset any more", error.map_or(Ok("none"), Err));
    let (client, server) = connected().await;
    drop(server);
    client.readable().await.unwrap();
    log.os("half", peer(&client));
    let (client, server) = connected().await;
    server.set_zero_linger().unwrap();
    drop(server);
    client.readable().await.unwrap();
    log.os("reset", peer(&client));
    let (client, _) = client.into_split();
    log.os("reset half", client.peer_addr().map(|_| "known"));
}

/// Errors have the numbers of the system's.
pub(crate) async fn numbers(log: Log) {
    let (mut client, mut server) = connected().await;
    rt::shutdown(&mut client).await.unwrap();
    log.os("pipe", rt::write(&mut client, b"x").await);
    log.os("pipe", client.try_write(b"x"));
    rt::write_all(&mut server, b"unread").await.unwrap();
    client.readable().await.unwrap();
    drop(client);
    rt::pause().await;
    log.os("reset", rt::write(&mut server, b"x").await);
    let (mut client, server) = connected().await;
    server.set_zero_linger().unwrap();
    drop(server);
    log.os("reset", rt::read(&mut client, &mut [0; 4]).await);
    let (client, server) = connected().await;
    server.set_zero_linger().unwrap();
    drop(server);
    client.readable().await.unwrap();
    let error = client.take_error().unwrap();
    log.os("taken", error.map_or(Ok("none"), Err));
    log.os("nothing", client.try_read(&mut []));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    drop(listener);
    log.os("refused", TcpStream::connect(addr).await.map(|_| "ok"));
}

/// A reset finds an end that has closed as well: it was told all, or it still had something to say.
pub(crate) async fn reset_at_the_end(log: Log) {
    let (mut client, mut server) = connected().await;
    rt::write_all(&mut client, b"unread").await.unwrap();
    rt::shutdown(&mut client).await.unwrap();
    rt::pause().await;
    rt::shutdown(&mut server).await.unwrap();
    drop(server);
    rt::pause().await;
    log.result("read", rt::read(&mut client, &mut [0; 4]).await);
    log.result("write", rt::write(&mut client, b"x").await);

    let (mut client, mut server) = connected().await;
    client.writable().await.unwrap();
    while client.try_write(&[7; 40_000]).is_ok() {
        rt::pause().await;
    }
    rt::shutdown(&mut server).await.unwrap();
    rt::pause().await;
    rt::shutdown(&mut client).await.unwrap();
    drop(server);
    rt::pause().await;
    let error = client.take_error().unwrap();
    log.os("reset", error.map_or(Ok("none"), Err));
}

/// All addresses, as somebody to connect to, are the socket's own.
pub(crate) async fn all_addresses(log: Log) {
    let listener = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let to = listener.local_addr().unwrap();
    for from in ["127.0.0.1:0", "127.0.0.3:0", "0.0.0.0:0"] {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind(from.parse().unwrap()).unwrap();
        let stream = socket.connect(to).await.unwrap();
        let [local, peer] = [stream.local_addr(), stream.peer_addr()];
        log.note(format!("{} {}", local.unwrap().ip(), peer.unwrap().ip()));
    }
}
