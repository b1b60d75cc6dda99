//! Bytes that are sent and received by the descriptors of streams, and ends that are shut down by them.

use super::Log;
use super::rt::{self, Interest, TcpListener, TcpSocket, TcpStream, UnixStream};
use super::tcp::connected;
use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, recv};
use socket2::SockRef;
use std::io::{self, IoSlice, IoSliceMut, Read, Write};
use std::net::Shutdown;
use std::os::fd::AsRawFd;
use std::time::Duration;

/// The number of the error, if it is one.
fn number<T>(result: io::Result<T>) -> Result<T, Option<i32>> {
    result.map_err(|error| error.raw_os_error())
}

/// What comes at once.
fn received(stream: &impl AsRawFd, room: usize, flags: i32) -> Result<String, Errno> {
    let mut buf = vec![0; room];
    let count = recv(
        stream.as_raw_fd(),
        &mut buf,
        MsgFlags::from_bits_retain(flags),
    )?;
    Ok(String::from_utf8_lossy(&buf[..count]).into_owned())
}

pub(crate) async fn sent_and_received(log: Log) {
    let (client, server) = connected().await;
    let options = SockRef::from(&client);
    log.note(format!("{:?}", received(&client, 8, 0)));
    log.note(options.send(b"hello").unwrap());
    for flags in [libc::MSG_PEEK, 0] {
        let receive = || received(&server, 3, flags).map_err(|_| io::ErrorKind::WouldBlock.into());
        let text = server.async_io(Interest::READABLE, receive).await;
        log.note(text.unwrap());
    }
    let parts = [
        IoSlice::new(b" in"),
        IoSlice::new(b""),
        IoSlice::new(b" parts"),
    ];
    log.note(options.send_vectored(&parts).unwrap());
    log.note(number(options.send(b"")).unwrap());
    let mut server = server;
    log.note(rt::read_exact(&mut server, 11).await.unwrap());
    log.note(format!("{:?}", received(&server, 8, libc::MSG_PEEK)));
    rt::write_all(&mut server, b"answer").await.unwrap();
    drop(server);
    rt::pause().await;
    for flags in [libc::MSG_PEEK, 0, libc::MSG_PEEK, 0] {
        log.note(format!("{:?}", received(&client, 8, flags)));
    }
}

pub(crate) async fn addresses(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let options = SockRef::from(&listener);
    log.note(options.local_addr().unwrap().as_socket() == Some(addr));
    log.note(format!("{:?}", number(options.peer_addr()).err()));
    let client = TcpStream::connect(addr).await.unwrap();
    let (server, from) = listener.accept().await.unwrap();
    for (stream, peer) in [(&client, addr), (&server, from)] {
        let options = SockRef::from(stream);
        let local = options.local_addr().unwrap().as_socket();
        log.note(local == Some(stream.local_addr().unwrap()));
        log.note(options.peer_addr().unwrap().as_socket() == Some(peer));
    }
    SockRef::from(&server)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    drop(server);
    rt::pause().await;
    log.note(format!(
        "{:?}",
        number(SockRef::from(&client).peer_addr()).err()
    ));
}

pub(crate) async fn shut_down(log: Log) {
    let (mut client, mut server) = connected().await;
    SockRef::from(&client).shutdown(Shutdown::Write).unwrap();
    log.note(rt::read_to_end(&mut server).await.unwrap());
    log.note(format!(
        "{:?}",
        number(rt::write(&mut client, b"late").await)
    ));
    rt::write_all(&mut server, b"answer").await.unwrap();
    log.note(rt::read_exact(&mut client, 6).await.unwrap());
    SockRef::from(&server).shutdown(Shutdown::Both).unwrap();
    rt::pause().await;
    log.note(rt::read_to_end(&mut client).await.unwrap());
    log.note(format!(
        "{:?}",
        number(SockRef::from(&client).shutdown(Shutdown::Both))
    ));
}

pub(crate) async fn readers_are_shut_down(log: Log) {
    let (mut client, mut server) = connected().await;
    rt::write_all(&mut server, b"before").await.unwrap();
    rt::pause().await;
    SockRef::from(&client).shutdown(Shutdown::Read).unwrap();
    log.note(rt::read_exact(&mut client, 6).await.unwrap());
    log.note(rt::read(&mut client, &mut [0; 8]).await.unwrap());
    rt::write_all(&mut server, b"after").await.unwrap();
    rt::pause().await;
    log.note(rt::read_exact(&mut client, 5).await.unwrap());
    log.note(rt::read(&mut client, &mut [0; 8]).await.unwrap());
    let ready = client.ready(Interest::READABLE).await.unwrap();
    log.note(ready.is_read_closed());
    rt::write_all(&mut client, b"on").await.unwrap();
    log.note(rt::read_exact(&mut server, 2).await.unwrap());

    // Who waits hears of it.
    let (client, _server) = connected().await;
    let client = std::sync::Arc::new(client);
    let waits = {
        let client = client.clone();
        rt::spawn(async move { client.readable().await.unwrap() })
    };
    rt::pause().await;
    SockRef::from(&*client).shutdown(Shutdown::Both).unwrap();
    waits.await.unwrap();
    log.note(client.try_read(&mut [0; 8]).unwrap());
    log.note(format!("{:?}", number(client.try_write(b"late"))));
}

pub(crate) async fn of_unix_streams(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    log.note(SockRef::from(&one).send(b"hello").unwrap());
    log.note(format!("{:?}", received(&two, 8, libc::MSG_PEEK)));
    log.note(format!("{:?}", received(&two, 8, 0)));
    log.note(format!("{:?}", received(&two, 8, 0)));
    rt::write_all(&mut two, b"before").await.unwrap();
    SockRef::from(&one).shutdown(Shutdown::Read).unwrap();
    log.note(format!("{:?}", number(rt::write(&mut two, b"late").await)));
    log.note(rt::read_to_end(&mut one).await.unwrap());
    rt::write_all(&mut one, b"on").await.unwrap();
    log.note(rt::read_exact(&mut two, 2).await.unwrap());
    SockRef::from(&one).shutdown(Shutdown::Both).unwrap();
    log.note(rt::read_to_end(&mut two).await.unwrap());
}

pub(crate) async fn options(log: Log) {
    let (client, mut server) = connected().await;
    client.set_nodelay(true).unwrap();
    client.set_ttl(61).unwrap();
    let options = SockRef::from(&client);
    log.note(format!(
        "{:?} {}",
        options.tcp_nodelay(),
        options.ttl_v4().unwrap()
    ));
    options.set_tcp_nodelay(false).unwrap();
    options.set_ttl_v4(62).unwrap();
    options.set_linger(Some(Duration::ZERO)).unwrap();
    log.note(format!("{:?} {:?}", client.nodelay(), client.ttl()));
    client.set_nodelay(true).unwrap();
    log.note(format!("{:?}", options.tcp_nodelay()));
    drop(client);
    log.note(format!(
        "{:?}",
        number(rt::read(&mut server, &mut [0; 8]).await)
    ));

    // A socket's stay when it is connected, or listens.
    let listening = TcpSocket::new_v4().unwrap();
    listening.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    SockRef::from(&listening)
        .set_linger(Some(Duration::ZERO))
        .unwrap();
    let listener = listening.listen(8).unwrap();
    let connecting = TcpSocket::new_v4().unwrap();
    SockRef::from(&connecting).set_keepalive(true).unwrap();
    SockRef::from(&connecting).set_tcp_nodelay(true).unwrap();
    let addr = listener.local_addr().unwrap();
    let mut client = connecting.connect(addr).await.unwrap();
    log.note(format!("{:?}", client.nodelay()));
    let options = SockRef::from(&client);
    log.note(format!(
        "{:?} {:?}",
        options.keepalive(),
        options.tcp_nodelay()
    ));
    log.note(options.peer_addr().unwrap().as_socket() == Some(addr));
    drop(listener.accept().await.unwrap());
    log.note(format!(
        "{:?}",
        number(rt::read(&mut client, &mut [0; 8]).await)
    ));
}

pub(crate) async fn of_the_standard_library(log: Log) {
    let (client, mut server) = connected().await;
    client.set_nodelay(true).unwrap();
    let mut standard = client.into_std().unwrap();
    log.note(standard.nodelay().unwrap());
    log.note(standard.peer_addr().unwrap() == server.local_addr().unwrap());
    let read = standard.read(&mut [0; 8]);
    log.note(format!("{:?}", read.map_err(|error| error.kind())));
    standard.write_all(b"by std, ").unwrap();
    let parts = [IoSlice::new(b"in "), IoSlice::new(b"parts")];
    log.note(standard.write_vectored(&parts).unwrap());
    log.note(rt::read_exact(&mut server, 16).await.unwrap());
    rt::write_all(&mut server, b"answer").await.unwrap();
    rt::pause().await;
    let (mut first, mut second) = ([0; 3], [0; 3]);
    let mut parts = [IoSliceMut::new(&mut first), IoSliceMut::new(&mut second)];
    log.note(standard.read_vectored(&mut parts).unwrap());
    log.note(format!("{first:?} {second:?}"));
    standard
        .try_clone()
        .unwrap()
        .shutdown(Shutdown::Write)
        .unwrap();
    log.note(rt::read_to_end(&mut server).await.unwrap());
    let mut client = TcpStream::from_std(standard).unwrap();
    rt::write_all(&mut server, b"again").await.unwrap();
    log.note(rt::read_exact(&mut client, 5).await.unwrap());
}

pub(crate) async fn those_that_block(log: Log) {
    let (client, mut server) = connected().await;
    let mut standard = client.into_std().unwrap();
    standard.set_nonblocking(false).unwrap();
    let blocking = rt::spawn_blocking(move || {
        let mut all = vec![0; 5];
        standard.read_exact(&mut all).unwrap();
        standard.write_all(&[b'x'; 300_000]).unwrap();
        standard
            .set_read_timeout(Some(Duration::from_millis(5)))
            .unwrap();
        let error = standard.read(&mut [0; 8]).unwrap_err();
        (String::from_utf8(all).unwrap(), error.kind())
    });
    rt::pause().await;
    rt::write_all(&mut server, b"hel").await.unwrap();
    rt::pause().await;
    rt::write_all(&mut server, b"lo").await.unwrap();
    let mut count = 0;
    while count < 300_000 {
        count += rt::read(&mut server, &mut vec![0; 1 << 20]).await.unwrap();
    }
    log.note(count);
    log.note(format!("{:?}", blocking.await.unwrap()));
    drop(server);
}
