//! Unix sockets that are made step by step.

use super::Log;
use super::rt::{self, UnixDatagram, UnixListener, UnixSocket, UnixStream};
use std::path::Path;

fn noted<T>(log: &Log, what: &str, result: std::io::Result<T>) {
    log.result(what, result.map(|_| "ok"));
}

/// Both sides know each other's path.
pub(crate) async fn names(log: Log) {
    let (path, own) = (rt::path("named"), rt::path("named-client"));
    let socket = UnixSocket::new_stream().unwrap();
    noted(&log, "bind", socket.bind(&path));
    let listener = socket.listen(8).unwrap();
    let leads = |addr: rt::unix::SocketAddr, to: &Path| addr.as_pathname() == Some(to);
    log.note(leads(listener.local_addr().unwrap(), &path));
    let socket = UnixSocket::new_stream().unwrap();
    noted(&log, "taken", socket.bind(&path));
    noted(&log, "own", socket.bind(&own));
    noted(&log, "own, again", socket.bind(rt::path("named-third")));
    noted(&log, "taken, again", socket.bind(&path));
    let mut client = socket.connect(&path).await.unwrap();
    log.note(leads(client.local_addr().unwrap(), &own));
    log.note(leads(client.peer_addr().unwrap(), &path));
    let (mut server, peer) = listener.accept().await.unwrap();
    log.note(leads(peer, &own));
    rt::write_all(&mut client, b"hello").await.unwrap();
    log.result("server", rt::read_exact(&mut server, 5).await);
    noted(
        &log,
        "nobody",
        UnixStream::connect(rt::path("named-third")).await,
    );
    drop(client);
    noted(&log, "closed", UnixStream::connect(&own).await);
    rt::unlink(&path).unwrap();
    rt::unlink(&own).unwrap();
}

/// One more than it says.
pub(crate) async fn backlog(log: Log) {
    let path = rt::path("backlog");
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    let listener = socket.listen(1).unwrap();
    let mut clients = Vec::new();
    for n in 0..3 {
        let client = UnixSocket::new_stream().unwrap().connect(&path).await;
        log.result(
            &format!("{n}"),
            client.map(|client| {
                clients.push(client);
                "ok"
            }),
        );
    }
    noted(&log, "accept", listener.accept().await);
    noted(&log, "room", UnixStream::connect(&path).await);
    rt::unlink(&path).unwrap();
}

/// A path is taken, and nobody answers there.
pub(crate) async fn not_listening(log: Log) {
    let path = rt::path("quiet");
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    noted(&log, "connect", UnixStream::connect(&path).await);
    noted(&log, "bind", UnixListener::bind(&path));
    let listener = socket.listen(0).unwrap();
    noted(&log, "connect", UnixStream::connect(&path).await);
    drop(listener);
    noted(&log, "connect", UnixStream::connect(&path).await);
    rt::unlink(&path).unwrap();
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    drop(socket);
    noted(&log, "connect", UnixStream::connect(&path).await);
    noted(&log, "bind", UnixListener::bind(&path));
    rt::unlink(&path).unwrap();
    noted(&log, "unbound", UnixSocket::new_stream().unwrap().listen(8));
}

/// Datagrams are kept from the bind on.
pub(crate) async fn datagrams(log: Log) {
    let (path, own) = (rt::path("letters"), rt::path("letters-sender"));
    let socket = UnixSocket::new_datagram().unwrap();
    noted(&log, "bind", socket.bind(&path));
    noted(&log, "again", socket.bind(rt::path("letters-third")));
    let sender = UnixSocket::new_datagram().unwrap();
    sender.bind(&own).unwrap();
    let sender = sender.datagram().unwrap();
    log.result("send", sender.send_to(b"early", &path).await);
    let receiver = socket.datagram().unwrap();
    let mut buf = [0; 8];
    let (count, from) = receiver.recv_from(&mut buf).await.unwrap();
    log.note(from.as_pathname() == Some(own.as_path()));
    log.note(String::from_utf8_lossy(&buf[..count]));
    log.note(receiver.local_addr().unwrap().as_pathname() == Some(path.as_path()));
    let unbound = UnixSocket::new_datagram().unwrap().datagram().unwrap();
    log.note(unbound.local_addr().unwrap().is_unnamed());
    log.result("send", unbound.send_to(b"x", &path).await);
    // The runtime has not looked at it.
    rt::yield_now().await;
    let old = UnixSocket::new_datagram().unwrap();
    rt::pause().await;
    noted(&log, "at once", old.datagram().unwrap().try_recv(&mut buf));
    rt::unlink(&path).unwrap();
    rt::unlink(&own).unwrap();
}

pub(crate) async fn of_the_wrong_kind(log: Log) {
    let path = rt::path("kinds");
    let _bound = UnixDatagram::bind(&path).unwrap();
    let datagram = || UnixSocket::new_datagram().unwrap();
    let stream = || UnixSocket::new_stream().unwrap();
    log.os("listen", datagram().listen(8).map(|_| "ok"));
    log.os("connect", datagram().connect(&path).await.map(|_| "ok"));
    log.os("datagram", stream().datagram().map(|_| "ok"));
    rt::unlink(&path).unwrap();
}

/// Who listens at a path that leads elsewhere by now is not found.
pub(crate) async fn unlinked(log: Log) {
    let path = rt::path("unlinked");
    let socket = UnixSocket::new_stream().unwrap();
    socket.bind(&path).unwrap();
    rt::unlink(&path).unwrap();
    let new = UnixListener::bind(&path).unwrap();
    let old = socket.listen(8).unwrap();
    log.note(old.local_addr().unwrap().as_pathname() == Some(path.as_path()));
    let _client = UnixStream::connect(&path).await.unwrap();
    noted(&log, "new", new.accept().await);
    rt::unlink(&path).unwrap();
}
