//! Sockets that are used by their descriptors, on nodes that crash; see also the contracts.

use super::worlds::{checker, everywhere};
use cct_executor::sometimes;
use cct_executor::task::spawn_blocking;
use cct_executor::time::sleep;
use cct_executor::words::Granularity;
use cct_net::io::Interest;
use cct_net::{TcpListener, TcpStream, UdpSocket, node};
use nix::sys::socket::{MsgFlags, SockaddrIn, recvmsg};
use socket2::SockRef;
use std::io::{IoSliceMut, Read as _};
use std::net::SocketAddr;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

/// Says good-bye when it is dropped, as connections do.
struct Leaves(Arc<UdpSocket>, SocketAddr);

impl Drop for Leaves {
    fn drop(&mut self) {
        let _ = SockRef::from(&*self.0).send_to(b"bye", &self.1.into());
    }
}

/// What has come by a call in `async_io`, and from whom.
async fn receive(socket: &UdpSocket) -> (Vec<u8>, SockaddrIn) {
    let receive = || {
        let mut buf = [0; 8];
        let mut parts = [IoSliceMut::new(&mut buf)];
        let flags = MsgFlags::empty();
        let told = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, None, flags)?;
        let (bytes, from) = (told.bytes, told.address);
        Ok((
            buf[..bytes].to_vec(),
            from.expect("it comes from somewhere"),
        ))
    };
    let received = socket.async_io(Interest::READABLE, receive).await;
    received.expect("nothing fails")
}

/// Sends a number to the server again and again, and counts what comes back.
async fn client(answers: Arc<AtomicU32>) {
    let socket = Arc::new(UdpSocket::bind("0.0.0.0:0").await.unwrap());
    let server = cct_net::lookup_host("server:7").await.unwrap().next();
    let server = server.expect("a node has an address");
    let _leaves = Leaves(socket.clone(), server);
    for number in 0..3 {
        let send = || SockRef::from(&*socket).send_to(&[number], &server.into());
        socket.async_io(Interest::WRITABLE, send).await.unwrap();
        let (answer, from) = receive(&socket).await;
        assert_eq!(SocketAddr::from(std::net::SocketAddrV4::from(from)), server);
        assert_eq!(answer, [number]);
        answers.fetch_add(1, SeqCst);
    }
}

#[test]
fn a_node_crashes_in_the_middle_of_a_call() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    everywhere("calls by descriptors", 60, |checker| {
        checker.run(|| async {
            let _server = node("server").start(|| async {
                let socket = UdpSocket::bind("0.0.0.0:7").await.unwrap();
                loop {
                    let (data, from) = receive(&socket).await;
                    let from = SocketAddr::from(std::net::SocketAddrV4::from(from));
                    SockRef::from(&socket).send_to(&data, &from.into()).unwrap();
                }
            });
            let answers = Arc::new(AtomicU32::new(0));
            let theirs = answers.clone();
            let client = node("client").start(move || client(theirs.clone()));
            for _ in 0..cct_executor::nondet::choose(12) {
                cct_executor::task::yield_now().await;
            }
            client.crash();
            sleep(Duration::from_secs(1)).await;
            let answers = answers.load(SeqCst);
            sometimes!(answers == 0, "it crashed before anything came back");
            sometimes!(answers > 0, "something came back before it crashed");
        })
    });
}

/// Blocks until something comes, and again where it does not.
fn reads_on(stream: TcpStream) {
    let mut stream = stream.into_std().unwrap();
    stream.set_nonblocking(false).unwrap();
    while stream.read(&mut [0]).is_err() {}
}

async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap());
    let (client, server) = futures::join!(client, listener.accept());
    (client.unwrap(), server.unwrap().0)
}

#[test]
fn who_waits_in_a_call_of_c_does_not_keep_the_world_open() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        let checker = checker("over").granularity(granularity).iterations(5);
        let report = checker.shrink(false).run(|| async {
            let (client, _server) = connected().await;
            spawn_blocking(move || reads_on(client));
            sleep(Duration::from_millis(1)).await;
            panic!("it is over");
        });
        let told = report.text();
        assert!(told.contains("it is over"), "{told}");
    }
}

#[test]
fn who_waits_in_a_call_of_c_does_not_keep_a_node_from_crashing() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    everywhere("crashed", 5, |checker| {
        checker.run(|| async {
            let db = node("db").start(|| async {
                let (client, _server) = connected().await;
                spawn_blocking(move || reads_on(client)).await.unwrap();
            });
            sleep(Duration::from_millis(1)).await;
            db.crash();
            sleep(Duration::from_millis(1)).await;
        })
    });
}
