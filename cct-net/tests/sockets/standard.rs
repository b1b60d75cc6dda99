//! Sockets of the standard library: what is the world's, and what is not.

use super::worlds::checker;
use cct_executor::time::timeout;
use cct_executor::{Report, nondet, spawn};
use cct_net::{TcpListener, TcpSocket, TcpStream, UdpSocket, UnixSocket, UnixStream, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use socket2::{Domain, Socket, Type};
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, FromRawFd, IntoRawFd};
use std::time::Duration;

fn standard_listener() -> std::net::TcpListener {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    listener
}

async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = spawn(TcpStream::connect(listener.local_addr().unwrap()));
    let (server, _) = listener.accept().await.unwrap();
    (client.await.unwrap().unwrap(), server)
}

/// The kernel draws other ports in every run, and that leaves no trace.
#[test]
fn drawn_ports_leave_no_trace() {
    let run = || -> Report {
        // How far a schedule is shortened may hang on the wall clock, which is not what is asked here.
        let checker = checker("drawn").iterations(200).shrink(false);
        checker.run(|| async {
            let listeners = [(); 2].map(|()| standard_listener());
            let addrs = [0, 1].map(|i: usize| listeners[i].local_addr().unwrap());
            for (number, listener) in listeners.into_iter().enumerate() {
                spawn(async move {
                    let listener = TcpListener::from_std(listener).unwrap();
                    let (mut server, _) = listener.accept().await.unwrap();
                    server.write_all(&[number as u8]).await.unwrap();
                });
            }
            cct_executor::task::yield_now().await;
            let call = |addr| async move {
                let mut byte = [0];
                let mut client = TcpStream::connect(addr).await.ok()?;
                client.read_exact(&mut byte).await.ok()?;
                Some((byte[0], nondet::choose(8)))
            };
            let (one, two) = futures::join!(call(addrs[0]), call(addrs[1]));
            assert!(one != Some((0, 3)) || two != Some((1, 5)));
        })
    };
    let (first, second) = (run(), run());
    assert_eq!(first.iterations, second.iterations);
    let token = |report: &Report| {
        let failure = report.failure.as_ref().expect("one of 64");
        assert!(failure.reproduced);
        failure.token.clone()
    };
    assert_eq!(token(&first), token(&second));
}

/// A listener that was taken over is reached from other nodes, by the kernel's port.
#[test]
fn others_reach_it() {
    let report = checker("others").iterations(50).run(|| async {
        let standard = std::net::TcpListener::bind("0.0.0.0:0").unwrap();
        standard.set_nonblocking(true).unwrap();
        let port = standard.local_addr().unwrap().port();
        let server = node("server").start(std::future::pending::<()>);
        let accepted = server.spawn(async move {
            let listener = TcpListener::from_std(standard).unwrap();
            let (stream, _) = listener.accept().await.unwrap();
            stream.local_addr().unwrap()
        });
        let client = loop {
            match TcpStream::connect(("server", port)).await {
                Ok(client) => break client,
                Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused),
            }
        };
        assert_eq!(client.peer_addr().unwrap(), accepted.await.unwrap());
        assert_eq!(client.peer_addr().unwrap().port(), port);
    });
    report.assert_passed();
}

/// The world ends while sockets are out, and one comes back after its node's crash.
#[test]
fn sockets_that_stay_out() {
    let report = checker("out").iterations(50).run(|| async {
        let (client, mut server) = connected().await;
        let standard = client.into_std().unwrap();
        drop(standard);
        let nothing = timeout(Duration::from_secs(1), server.read(&mut [0])).await;
        assert!(nothing.is_err(), "nobody learns that it was dropped");
        let (one, _two) = UnixStream::pair().unwrap();
        let _kept_to_the_end = one.into_std().unwrap();

        let home = node("home").start(std::future::pending::<()>);
        let bound = home.spawn(async {
            let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
            listener.into_std().unwrap()
        });
        let standard = bound.await.unwrap();
        cct_net::node::power_off(&home);
        let listener = TcpListener::from_std(standard).unwrap();
        let addr = listener.local_addr().unwrap();
        assert_eq!(addr.port(), 80);
        drop(listener);
    });
    report.assert_passed();
}

#[test]
fn the_kernels_own_are_refused() {
    let report = checker("kernel").iterations(10).run(|| async {
        let there = standard_listener();
        let theirs = std::net::TcpStream::connect(there.local_addr().unwrap()).unwrap();
        theirs.set_nonblocking(true).unwrap();
        let error = TcpStream::from_std(theirs).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
        let text = error.to_string();
        assert!(
            text.contains("the kernel's own") && text.contains("into_std"),
            "{text}"
        );
        // One type does not turn into another.
        let (client, _server) = connected().await;
        let owned = std::os::fd::OwnedFd::from(client.into_std().unwrap());
        let error = UnixStream::from_std(owned.into()).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported);
    });
    report.assert_passed();
}

#[test]
fn outside_a_world_there_are_none() {
    let error = TcpListener::from_std(standard_listener()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
}

/// As clients do that make their sockets with other crates.
#[test]
fn bare_descriptors_become_sockets() {
    let report = checker("bare").iterations(10).run(|| async {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let theirs = Socket::new(Domain::IPV4, Type::STREAM, None).unwrap();
        theirs.set_reuse_address(true).unwrap();
        let raw = theirs.into_raw_fd();
        #[expect(unsafe_code, reason = "that is what is tested")]
        // SAFETY: it was open a line before, and nobody else has it.
        let socket = unsafe { TcpSocket::from_raw_fd(raw) };
        assert_eq!(socket.as_raw_fd(), raw);
        assert!(socket.reuseaddr().unwrap());
        let client = socket.connect(listener.local_addr().unwrap());
        let (client, server) = futures::join!(client, listener.accept());
        assert_eq!(client.unwrap().local_addr().unwrap(), server.unwrap().1);
    });
    report.assert_passed();
}

/// Sockets that are handed out as bare numbers are what they were when they come back.
#[test]
fn bare_descriptors_come_back() {
    let report = checker("back").iterations(10).run(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let (addr, raw) = (socket.local_addr().unwrap(), socket.into_raw_fd());
        #[expect(unsafe_code, reason = "that is what is tested")]
        // SAFETY: it was handed out a line before, and nobody else has it.
        let socket = unsafe { TcpSocket::from_raw_fd(raw) };
        assert_eq!(
            (socket.local_addr().unwrap(), socket.as_raw_fd()),
            (addr, raw)
        );
        let listener = socket.listen(1).unwrap();
        let client = TcpStream::connect(addr);
        let (client, server) = futures::join!(client, listener.accept());
        assert_eq!(client.unwrap().local_addr().unwrap(), server.unwrap().1);

        let socket = UnixSocket::new_stream().unwrap();
        socket.bind("/run/back").unwrap();
        let raw = socket.into_raw_fd();
        #[expect(unsafe_code, reason = "that is what is tested")]
        // SAFETY: the same.
        let socket = unsafe { UnixSocket::from_raw_fd(raw) };
        let listener = socket.listen(1).unwrap();
        assert_eq!(listener.as_raw_fd(), raw);
        let client = UnixStream::connect("/run/back");
        let (client, server) = futures::join!(client, listener.accept());
        server.unwrap();
        client.unwrap();
    });
    report.assert_passed();
}

/// A descriptor stays with its socket, whatever that becomes.
#[test]
fn descriptors_stay() {
    let report = checker("stay").iterations(10).run(|| async {
        let socket = TcpSocket::new_v4().unwrap();
        let raw = socket.as_raw_fd();
        socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let listener = socket.listen(1).unwrap();
        assert_eq!(listener.as_raw_fd(), raw);
        let socket = TcpSocket::new_v4().unwrap();
        let raw = socket.as_raw_fd();
        let client = socket
            .connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        assert_eq!(client.as_raw_fd(), raw);
        let (read, write) = client.into_split();
        assert_eq!(read.reunite(write).unwrap().as_raw_fd(), raw);
    });
    report.assert_passed();
}

/// Until a task has taken the listener over the kernel queues who connects.
#[cfg(target_os = "linux")]
#[test]
fn who_comes_before_it_is_taken_over_waits() {
    let report = checker("early").iterations(200).run(|| async {
        let listener = standard_listener();
        let addr = listener.local_addr().unwrap();
        let server = spawn(async move {
            let listener = TcpListener::from_std(listener).unwrap();
            assert_eq!(listener.local_addr().unwrap(), addr);
            for number in 0..2 {
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.write_all(&[number]).await.unwrap();
            }
        });
        for number in 0..2 {
            let mut stream = TcpStream::connect(addr).await.unwrap();
            assert_eq!(stream.peer_addr().unwrap(), addr);
            let mut byte = [9];
            stream.read_exact(&mut byte).await.unwrap();
            assert_eq!(byte, [number]);
        }
        server.await.unwrap();
        assert!(TcpStream::connect(addr).await.is_err());
    });
    report.assert_passed();
}

#[cfg(target_os = "linux")]
#[test]
fn who_came_before_it_was_closed_is_reset() {
    let report = checker("closed").iterations(50).run(|| async {
        let listener = standard_listener();
        let addr = listener.local_addr().unwrap();
        let mut stream = TcpStream::connect(addr).await.unwrap();
        drop(listener);
        let refused = TcpStream::connect(addr).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
        let reset = stream.read(&mut [0]).await.unwrap_err();
        assert_eq!(reset.kind(), ErrorKind::ConnectionReset);
    });
    report.assert_passed();
}

/// Nobody takes over what the standard library accepts from, and the report shows who waits there.
#[cfg(target_os = "linux")]
#[test]
fn a_listener_that_nobody_takes_over_is_seen_in_the_report() {
    let report = checker("kept").iterations(1).run(|| async {
        let listener = standard_listener();
        let mut stream = TcpStream::connect(listener.local_addr().unwrap())
            .await
            .unwrap();
        let _ = stream.read(&mut [0]).await;
    });
    let text = report.text();
    assert!(text.contains(": deadlock"), "{text}");
    assert!(text.contains("1 of 1024 wait to be accepted"), "{text}");
}

fn standard_socket() -> std::net::UdpSocket {
    let socket = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    socket.set_nonblocking(true).unwrap();
    socket
}

/// As servers do that set options which tokio does not know: the kernel's port is the one that everybody names.
#[test]
fn sockets_of_datagrams_are_taken_over_with_their_ports_and_options() {
    let report = checker("datagrams").iterations(100).run(|| async {
        let (server, client) = (standard_socket(), standard_socket());
        server.set_broadcast(true).unwrap();
        let addrs = [&server, &client].map(|socket| socket.local_addr().unwrap());
        client.connect(addrs[0]).unwrap();
        let server = UdpSocket::from_std(server).unwrap();
        let client = UdpSocket::from_std(client).unwrap();
        assert_eq!(server.local_addr().unwrap(), addrs[0]);
        assert_eq!(client.peer_addr().unwrap(), addrs[0]);
        assert!(server.broadcast().unwrap() && !client.broadcast().unwrap());
        client.send(b"question").await.unwrap();
        let mut buf = [0; 16];
        assert_eq!(server.recv_from(&mut buf).await.unwrap(), (8, addrs[1]));
        server.send_to(b"answer", addrs[1]).await.unwrap();
        assert_eq!(client.recv(&mut buf).await.unwrap(), 6);
        // One of the world's own has another port, and is known by that alone.
        let own = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let at = own.local_addr().unwrap();
        server.send_to(b"to you", at).await.unwrap();
        assert_eq!(own.recv_from(&mut buf).await.unwrap(), (6, addrs[0]));
    });
    report.assert_passed();
}

/// As those who join before they bind do, for mDNS.
#[test]
#[cfg(target_os = "linux")]
fn groups_that_a_socket_has_joined_are_taken_over() {
    const GROUP: Ipv4Addr = Ipv4Addr::new(239, 1, 2, 3);
    let member = || {
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, None).unwrap();
        socket.set_reuse_address(true).unwrap();
        let any: SocketAddr = "0.0.0.0:20401".parse().unwrap();
        socket.bind(&any.into()).unwrap();
        let here = Ipv4Addr::LOCALHOST;
        socket.join_multicast_v4(&GROUP, &here).unwrap();
        socket.set_nonblocking(true).unwrap();
        UdpSocket::from_std(socket.into()).unwrap()
    };
    let report = checker("groups").iterations(50).run(move || async move {
        let (one, two) = (member(), member());
        one.send_to(b"all", (GROUP, 20401)).await.unwrap();
        for socket in [&one, &two] {
            let mut buf = [0; 8];
            let got = timeout(Duration::from_secs(1), socket.recv(&mut buf)).await;
            assert_eq!(got.expect("it hears it").unwrap(), 3);
        }
        two.leave_multicast_v4(GROUP, Ipv4Addr::UNSPECIFIED)
            .unwrap();
    });
    report.assert_passed();
}

/// Which numbers the kernel draws is nothing that a run hangs on.
#[test]
fn drawn_ports_of_datagrams_leave_no_trace() {
    let run = || {
        let checker = checker("drawn datagrams").iterations(50).shrink(false);
        checker.run(|| async {
            let (one, two) = (standard_socket(), standard_socket());
            let addr = two.local_addr().unwrap();
            let (one, two) = (UdpSocket::from_std(one), UdpSocket::from_std(two));
            let (one, two) = (one.unwrap(), two.unwrap());
            let sender = spawn(async move { one.send_to(&[7], addr).await.unwrap() });
            let mut buf = [0];
            two.recv(&mut buf).await.unwrap();
            sender.await.unwrap();
            assert!(nondet::choose(8) != 5, "one of eight");
        })
    };
    let token = |report: Report| report.failure.expect("one of eight").token;
    assert_eq!(token(run()), token(run()));
}
