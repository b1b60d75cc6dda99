//! What sockets are known to be ready for: it stays so until an operation finds out, even when it
//! is not true any more.

use super::Log;
use super::rt::{self, Interest, TcpStream, UdpSocket, UnixDatagram, UnixStream};
use super::tcp::settled;
use futures::FutureExt;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::task::{Context, Poll, Wake, Waker};

/// Whether a future is ready when it is polled once.
async fn at_once<F: Future>(future: F) -> bool {
    let mut future = pin!(future);
    poll_fn(|cx| Poll::Ready(future.as_mut().poll(cx).is_ready())).await
}

fn would_block<T>() -> io::Result<T> {
    Err(ErrorKind::WouldBlock.into())
}

pub(crate) async fn reading(log: Log) {
    let (mut client, mut server) = settled().await;
    log.note(format!("supposed {}", at_once(server.readable()).await));
    log.result("nothing", server.try_read(&mut [0; 4]));
    log.note(format!("found out {}", at_once(server.readable()).await));
    rt::write_all(&mut client, b"ping").await.unwrap();
    server.readable().await.unwrap();
    log.result("all", server.try_read(&mut [0; 4]));
    log.note(format!("stale {}", at_once(server.readable()).await));
    let ready = server.ready(Interest::READABLE).await.unwrap();
    log.note(format!("ready {}", ready.is_readable()));
    let polled = at_once(poll_fn(|cx| server.poll_read_ready(cx))).await;
    log.note(format!("polled {polled}"));
    log.result("nothing", server.try_read(&mut [0; 4]));
    log.note(format!("found out {}", at_once(server.readable()).await));
    let polled = at_once(poll_fn(|cx| server.poll_read_ready(cx))).await;
    log.note(format!("polled {polled}"));
    rt::write_all(&mut client, b"ping").await.unwrap();
    log.result("exact", rt::read_exact(&mut server, 4).await);
    log.note(format!("stale {}", at_once(server.readable()).await));
    rt::write_all(&mut client, b"ping").await.unwrap();
    rt::pause().await;
    log.result("less", rt::read(&mut server, &mut [0; 8]).await);
    log.note(format!("drained {}", at_once(server.readable()).await));
    drop(client);
    server.readable().await.unwrap();
    log.result("end", server.try_read(&mut [0; 4]));
    log.note(format!("closed {}", at_once(server.readable()).await));
}

pub(crate) async fn peeking(log: Log) {
    let (mut client, mut server) = settled().await;
    rt::write_all(&mut client, b"ping").await.unwrap();
    log.result("peek", server.peek(&mut [0; 8]).await);
    log.note(format!("there {}", at_once(server.readable()).await));
    log.result("exact", rt::read_exact(&mut server, 4).await);
    log.note(format!("stale {}", at_once(server.readable()).await));
    log.note(format!("peek {}", at_once(server.peek(&mut [0; 8])).await));
    log.note(format!("found out {}", at_once(server.readable()).await));
}

pub(crate) async fn writing(log: Log) {
    let (client, server) = settled().await;
    let chunk = [7; 4000];
    let (mut sent, mut received) = (0, 0);
    for _ in 0..2 {
        client.writable().await.unwrap();
        // What was sent may make room when it arrives.
        while at_once(client.writable()).await {
            match client.try_write(&chunk) {
                Ok(count) => sent += count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
        log.note(format!("much {}", sent - received > chunk.len()));
        log.note(format!("full {}", at_once(client.writable()).await));
        let polled = at_once(poll_fn(|cx| client.poll_write_ready(cx))).await;
        log.note(format!("polled {polled}"));
        log.result("no room", client.try_write(&chunk));
        while received < sent {
            server.readable().await.unwrap();
            match server.try_read(&mut [0; 9000]) {
                Ok(count) => received += count,
                Err(error) => assert_eq!(error.kind(), ErrorKind::WouldBlock),
            }
        }
    }
    client.writable().await.unwrap();
    log.result("room", client.try_write(b"x"));
}

pub(crate) async fn closed_while_full(log: Log) {
    let (one, two) = UnixStream::pair().unwrap();
    while one.try_write(&[7; 4000]).is_ok() {}
    log.note(format!("full {}", at_once(one.writable()).await));
    drop(two);
    one.writable().await.unwrap();
    log.result("write", one.try_write(b"x"));
}

pub(crate) async fn half_written(log: Log) {
    let (mut one, mut two) = UnixStream::pair().unwrap();
    log.note(format!("new {}", at_once(one.writable()).await));
    log.note(format!("new {}", at_once(one.readable()).await));
    let chunk = vec![7; 4 << 20];
    let mut left = 0;
    while at_once(one.writable()).await {
        // On a busy machine the runtime may hear only now that there was room once.
        let Some(written) = rt::write(&mut one, &chunk).now_or_never() else {
            continue;
        };
        let count = written.unwrap();
        assert!(count < chunk.len(), "no end of room");
        left += count;
    }
    log.note(format!("some {}", left > 0));
    while left > 0 {
        left -= rt::read(&mut two, &mut vec![0; left]).await.unwrap();
    }
    one.writable().await.unwrap();
    log.result("room", rt::write(&mut one, b"x").await);
    log.note(format!("still {}", at_once(one.writable()).await));
}

pub(crate) async fn own_operations(log: Log) {
    let (mut client, server) = settled().await;
    rt::write_all(&mut client, b"a").await.unwrap();
    rt::pause().await;
    log.result("ran", server.try_io(Interest::READABLE, || Ok("ok")));
    log.note(format!("there {}", at_once(server.readable()).await));
    let blocked = server.try_io(Interest::READABLE, would_block::<u8>);
    log.result("blocked", blocked);
    // It is taken at its word.
    log.note(format!("there {}", at_once(server.readable()).await));
    log.result("read", server.try_read(&mut [0; 4]));
    log.result("ran", server.try_io(Interest::READABLE, || Ok("ok")));
    log.note(format!("writable {}", at_once(server.writable()).await));
    rt::write_all(&mut client, b"b").await.unwrap();
    server.readable().await.unwrap();
    rt::pause().await;
    log.result("read", server.try_read(&mut [0; 4]));
}

pub(crate) async fn udp(log: Log) {
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let two = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = two.local_addr().unwrap();
    log.note(format!("new {}", at_once(two.readable()).await));
    one.writable().await.unwrap();
    log.result("sent", one.try_send_to(b"ping", to));
    two.readable().await.unwrap();
    log.result("received", two.try_recv(&mut [0; 4]));
    log.note(format!("stale {}", at_once(two.readable()).await));
    log.result("nothing", two.try_recv(&mut [0; 4]));
    log.note(format!("found out {}", at_once(two.readable()).await));
    one.send_to(b"ping", to).await.unwrap();
    log.result("peek", two.peek(&mut [0; 8]).await);
    log.result("received", two.recv(&mut [0; 8]).await);
    log.note(format!("stale {}", at_once(two.readable()).await));
    log.note(format!("recv {}", at_once(two.recv(&mut [0; 8])).await));
    log.note(format!("found out {}", at_once(two.readable()).await));
}

pub(crate) async fn udp_error(log: Log) {
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let two = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.connect(two.local_addr().unwrap()).await.unwrap();
    drop(two);
    one.send(b"lost").await.unwrap();
    let ready = one.ready(Interest::ERROR).await.unwrap();
    log.note(format!("error {}", ready.is_error()));
    log.note(format!("readable {}", at_once(one.readable()).await));
    let ready = one.ready(Interest::WRITABLE).await.unwrap();
    log.note(format!("write closed {}", ready.is_write_closed()));
    let sender = at_once(poll_fn(|cx| one.poll_peek_sender(cx))).await;
    log.note(format!("polled {sender}"));
    log.result("unasked", one.try_recv(&mut [0; 4]));
    log.result("received", one.recv(&mut [0; 4]).await);
    let ready = one.ready(Interest::ERROR).await.unwrap();
    log.note(format!("error {}", ready.is_error()));
    log.note(format!("recv {}", at_once(one.recv(&mut [0; 4])).await));
}

/// Nothing urgent comes, and then nothing more at all. Elsewhere than on Linux there is no such interest.
pub(crate) async fn urgent(log: Log) {
    let (client, server) = settled().await;
    #[cfg(any(target_os = "linux", target_os = "android"))]
    {
        log.note(format!("{:?}", Interest::PRIORITY | Interest::READABLE));
        log.note(format!("{}", Interest::PRIORITY.is_priority()));
        log.note(format!(
            "at once {}",
            at_once(server.ready(Interest::PRIORITY)).await
        ));
        drop(client);
        let ready = server.ready(Interest::PRIORITY).await.unwrap();
        log.note(format!(
            "{} {}",
            ready.is_priority(),
            ready.is_read_closed()
        ));
        log.note(format!("{:?} {:?}", rt::Ready::PRIORITY, rt::Ready::ALL));
        let tried = server.try_io(Interest::PRIORITY, || Ok(7));
        log.result("tried", tried);
    }
    #[cfg(not(any(target_os = "linux", target_os = "android")))]
    drop((log, client, server));
}

/// To look by hand spends budget, and to wait does not.
pub(crate) async fn budget(log: Log) {
    let (one, _two) = UnixStream::pair().unwrap();
    let (here, _there) = UnixDatagram::pair().unwrap();
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.writable().await.unwrap();
    here.writable().await.unwrap();
    socket.writable().await.unwrap();
    let task = rt::spawn(async move {
        for _ in 0..500 {
            assert!(at_once(one.writable()).await, "a stream that is writable");
            assert!(at_once(here.writable()).await, "as are datagrams");
            assert!(at_once(socket.writable()).await, "everywhere");
        }
        let looks = poll_fn(|cx| {
            let looks = (0..1000).take_while(|number| match number % 3 {
                0 => one.poll_write_ready(cx).is_ready(),
                1 => here.poll_send_ready(cx).is_ready(),
                _ => socket.poll_send_ready(cx).is_ready(),
            });
            Poll::Ready(looks.count())
        });
        looks.await
    });
    log.note(task.await.unwrap());
}

pub(crate) async fn datagrams(log: Log) {
    let (one, two) = UnixDatagram::pair().unwrap();
    log.note(format!("new {}", at_once(one.readable()).await));
    let mut waiting = 0_u32;
    for _ in 0..2 {
        one.writable().await.unwrap();
        let error = loop {
            assert!(at_once(one.writable()).await, "not known to be full");
            match one.try_send(b"ping") {
                Ok(_) => waiting += 1,
                Err(error) => break error,
            }
        };
        log.note(format!("{:?}", error.kind()));
        log.note(format!("full {}", at_once(one.writable()).await));
        log.note(format!("send {}", at_once(one.send(b"ping")).await));
        while waiting > 0 {
            two.readable().await.unwrap();
            two.try_recv(&mut [0; 8]).unwrap();
            waiting -= 1;
        }
        log.note(format!("stale {}", at_once(two.readable()).await));
        log.result("nothing", two.try_recv(&mut [0; 8]));
        log.note(format!("found out {}", at_once(two.readable()).await));
    }
    one.writable().await.unwrap();
    log.result("room", one.try_send(b"x"));
}

pub(crate) async fn again_until_it_works(log: Log) {
    let (mut client, server) = settled().await;
    let sender = rt::spawn(async move {
        rt::pause().await;
        rt::write_all(&mut client, b"ping").await.unwrap();
        client
    });
    let mut buf = [0; 8];
    let read = server.async_io(Interest::READABLE, || server.try_read(&mut buf));
    log.result("stream", read.await);
    let odd = server.async_io(Interest::WRITABLE, || {
        io::Result::<u8>::Err(ErrorKind::Other.into())
    });
    log.result("its own error", odd.await);
    let nothing = server.async_io(Interest::READABLE, || server.try_read(&mut buf));
    log.note(format!("nothing {}", at_once(nothing).await));
    drop(sender.await.unwrap());
    let end = server.async_io(Interest::READABLE, || server.try_read(&mut buf));
    log.result("end", end.await);

    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let address = socket.local_addr().unwrap();
    let received = async {
        socket
            .async_io(Interest::READABLE, || socket.try_recv(&mut buf))
            .await
    };
    let sent = async {
        rt::pause().await;
        socket.send_to(b"a datagram", address).await
    };
    let (received, sent) = futures::join!(received, sent);
    log.result("received", received);
    log.result("sent", sent);

    let (one, other) = UnixDatagram::pair().unwrap();
    let sent = one.async_io(Interest::WRITABLE, || one.try_send(b"word"));
    log.result("sent", sent.await);
    let received = other.async_io(Interest::READABLE, || other.try_recv(&mut buf));
    log.result("received", received.await);

    let (one, other) = UnixStream::pair().unwrap();
    let written = one.async_io(Interest::WRITABLE, || one.try_write(b"word"));
    log.result("written", written.await);
    let read = other.async_io(Interest::READABLE, || other.try_read(&mut buf));
    log.result("read", read.await);
}

/// Counts how often it is woken.
#[derive(Default)]
struct Count(AtomicU32);

impl Wake for Count {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

impl Count {
    fn poll<F: Future + ?Sized>(self: &Arc<Count>, future: Pin<&mut F>) -> Poll<F::Output> {
        let waker = Waker::from(self.clone());
        future.poll(&mut Context::from_waker(&waker))
    }

    fn get(&self) -> u32 {
        self.0.load(SeqCst)
    }
}

/// Who waits no longer is not woken, nor who waits for something else.
pub(crate) async fn only_who_waits(log: Log) {
    let (mut one, two) = UnixStream::pair().unwrap();
    let [gave_up, before, now, error] = std::array::from_fn(|_| Arc::new(Count::default()));
    let pending = gave_up.poll(pin!(two.readable())).is_pending();
    log.note(format!("gave up: {pending}"));
    let mut readable = pin!(two.readable());
    log.note(before.poll(readable.as_mut()).is_pending());
    log.note(now.poll(readable.as_mut()).is_pending());
    let mut wrong = pin!(two.ready(Interest::ERROR));
    log.note(error.poll(wrong.as_mut()).is_pending());
    rt::write_all(&mut one, b"x").await.unwrap();
    rt::pause().await;
    let counts = [&gave_up, &before, &now, &error].map(|count| count.get());
    log.note(format!("{counts:?}"));
    log.note(now.poll(readable.as_mut()).is_ready());
}

/// A task that polled a socket, and lives on without it.
pub(crate) async fn dropped(log: Log) {
    let (mut one, two) = UnixStream::pair().unwrap();
    let count = Arc::new(Count::default());
    log.note(count.poll(pin!(rt::read(&mut one, &mut [0]))).is_pending());
    drop(one);
    drop(two);
    let (one, two) = UnixDatagram::pair().unwrap();
    let mut polled = pin!(poll_fn(|cx| one.poll_recv_ready(cx)));
    log.note(count.poll(polled.as_mut()).is_pending());
    drop(one);
    drop(two);
    rt::pause().await;
    log.note(count.get());
}

/// Whoever was woken is told so, even if another was faster.
pub(crate) async fn woken_for_nothing(log: Log) {
    let (mut one, two) = UnixStream::pair().unwrap();
    let (first, second) = (Arc::new(Count::default()), Arc::new(Count::default()));
    let mut readable = pin!(two.readable());
    let mut ready = pin!(two.ready(Interest::READABLE));
    log.note(first.poll(readable.as_mut()).is_pending());
    log.note(second.poll(ready.as_mut()).is_pending());
    rt::write_all(&mut one, b"x").await.unwrap();
    rt::pause().await;
    log.note(format!("{} {}", first.get(), second.get()));
    log.note(first.poll(readable.as_mut()).is_ready());
    log.result("read", two.try_read(&mut [0; 4]));
    log.result("nothing", two.try_read(&mut [0; 4]));
    match second.poll(ready.as_mut()) {
        Poll::Ready(ready) => log.note(format!("empty: {}", ready.unwrap().is_empty())),
        Poll::Pending => log.note("waits"),
    }
}

/// To try for several things at once is to find none.
pub(crate) async fn several_interests(log: Log) {
    let both = Interest::READABLE | Interest::WRITABLE;
    let (stream, _other) = UnixStream::pair().unwrap();
    stream.writable().await.unwrap();
    log.result("stream", stream.try_io(both, || Ok("ran")));
    log.result("one", stream.try_io(Interest::WRITABLE, || Ok("ran")));
    log.result("async", stream.async_io(both, || Ok("ran")).await);
    let (datagram, _other) = UnixDatagram::pair().unwrap();
    datagram.writable().await.unwrap();
    log.result("datagram", datagram.try_io(both, || Ok("ran")));
    log.result("async", datagram.async_io(both, || Ok("ran")).await);
    let udp = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    udp.writable().await.unwrap();
    log.result("udp", udp.try_io(both, || Ok("ran")));
    log.result("async", udp.async_io(both, || Ok("ran")).await);
}

/// The kernel does not ask a socket for nothing from several buffers.
pub(crate) async fn nothing_at_all(log: Log) {
    let (mut client, server) = settled().await;
    let [mut a, mut b] = [[0; 0]; 2];
    let mut bufs = [io::IoSliceMut::new(&mut a), io::IoSliceMut::new(&mut b)];
    log.result("buffers", server.try_read_vectored(&mut bufs));
    log.result("one buffer", server.try_read(&mut []));
    rt::shutdown(&mut client).await.unwrap();
    let empty = [io::IoSlice::new(&[]), io::IoSlice::new(&[])];
    log.result("buffers", client.try_write_vectored(&empty));
    log.result("one buffer", client.try_write(&[]));
}

/// What comes back from the standard library is new to the runtime: nothing is known until it has looked.
pub(crate) async fn coming_back(log: Log) {
    let (mut client, server) = settled().await;
    let server = TcpStream::from_std(server.into_std().unwrap()).unwrap();
    rt::pause().await;
    log.note(format!("nothing came {}", at_once(server.readable()).await));
    log.note(format!("room {}", at_once(server.writable()).await));
    rt::write_all(&mut client, b"ping").await.unwrap();
    server.readable().await.unwrap();
    log.result("all", server.try_read(&mut [0; 4]));
    let server = TcpStream::from_std(server.into_std().unwrap()).unwrap();
    rt::pause().await;
    log.note(format!("all was read {}", at_once(server.readable()).await));
    rt::write_all(&mut client, b"pong").await.unwrap();
    server.readable().await.unwrap();
    let mut server = TcpStream::from_std(server.into_std().unwrap()).unwrap();
    log.result("is there", rt::read_exact(&mut server, 4).await);

    let (mut one, two) = UnixStream::pair().unwrap();
    rt::write_all(&mut one, b"ping").await.unwrap();
    two.readable().await.unwrap();
    log.result("all", two.try_read(&mut [0; 4]));
    let two = UnixStream::from_std(two.into_std().unwrap()).unwrap();
    rt::pause().await;
    log.note(format!("all was read {}", at_once(two.readable()).await));
    rt::write_all(&mut one, b"ping").await.unwrap();
    two.readable().await.unwrap();
    let (mut one, mut two) = (one, UnixStream::from_std(two.into_std().unwrap()).unwrap());
    log.result("is there", rt::read_exact(&mut two, 4).await);
    rt::write_all(&mut two, b"pong").await.unwrap();
    log.result("back", rt::read_exact(&mut one, 4).await);

    let from = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let to = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    from.send_to(b"ping", to.local_addr().unwrap())
        .await
        .unwrap();
    log.result("one", to.recv(&mut [0; 4]).await);
    let to = UdpSocket::from_std(to.into_std().unwrap()).unwrap();
    rt::pause().await;
    log.note(format!("all was received {}", at_once(to.readable()).await));
    from.send_to(b"ping", to.local_addr().unwrap())
        .await
        .unwrap();
    log.result("one", to.recv(&mut [0; 4]).await);

    let (one, two) = UnixDatagram::pair().unwrap();
    one.send(b"ping").await.unwrap();
    log.result("one", two.recv(&mut [0; 4]).await);
    let two = UnixDatagram::from_std(two.into_std().unwrap()).unwrap();
    rt::pause().await;
    log.note(format!(
        "all was received {}",
        at_once(two.readable()).await
    ));
    one.send(b"ping").await.unwrap();
    log.result("one", two.recv(&mut [0; 4]).await);
}
