//! Sockets in the poll that has made them: the runtime has not looked at them yet, except that it
//! supposes something of pairs.

use super::Log;
use super::rt::{self, Interest, UdpSocket, UnixDatagram, UnixStream};
use futures::FutureExt;

fn noted<T>(log: &Log, what: &str, result: std::io::Result<T>) {
    log.result(what, result.map(|_| "ok"));
}

/// What is asked of each new socket cannot wait.
pub(crate) async fn made(log: Log) {
    let path = rt::path("fresh");
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = udp.local_addr().unwrap();
    noted(&log, "udp receives", udp.try_recv(&mut [0; 4]));
    noted(&log, "udp", udp.try_send_to(b"x", to));
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    noted(&log, "udp io", udp.try_io(Interest::WRITABLE, || Ok(())));
    let unix = UnixDatagram::bind(&path).unwrap();
    noted(&log, "unix", unix.try_send_to(b"x", &path));
    let unbound = UnixDatagram::unbound().unwrap();
    noted(&log, "unbound", unbound.try_send_to(b"x", &path));
    noted(
        &log,
        "unbound io",
        unbound.try_io(Interest::WRITABLE, || Ok(())),
    );
    let (one, _two) = UnixDatagram::pair().unwrap();
    noted(&log, "pair", one.try_send(b"x"));
    let (one, _two) = UnixStream::pair().unwrap();
    noted(&log, "stream", one.try_write(b"x"));
    rt::unlink(&path).unwrap();
}

/// Waiting takes one poll, and no more.
pub(crate) async fn later(log: Log) {
    let path = rt::path("later");
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = udp.local_addr().unwrap();
    log.note(udp.send_to(b"x", to).now_or_never().is_some());
    log.note(udp.writable().now_or_never().is_some());
    let unix = UnixDatagram::bind(&path).unwrap();
    log.note(unix.send_to(b"x", &path).now_or_never().is_some());
    let unbound = UnixDatagram::unbound().unwrap();
    rt::yield_now().await;
    noted(&log, "udp", udp.try_send_to(b"x", to));
    noted(&log, "unix", unix.try_send_to(b"x", &path));
    noted(&log, "unbound", unbound.try_send_to(b"x", &path));
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    noted(&log, "udp waits", udp.send_to(b"x", to).await);
    noted(&log, "udp", udp.try_send_to(b"x", to));
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    noted(&log, "writable", udp.writable().await);
    noted(&log, "udp", udp.try_send_to(b"x", to));
    let unbound = UnixDatagram::unbound().unwrap();
    noted(&log, "unix waits", unbound.send_to(b"x", &path).await);
    rt::unlink(&path).unwrap();
}
