//! Datagrams that are sent and received by the descriptors of sockets.

use super::Log;
use super::rt::{self, Interest, UdpSocket};
use nix::cmsg_space;
use nix::sys::socket::{
    ControlMessage, ControlMessageOwned, MsgFlags, MultiHeaders, SockaddrIn, SockaddrIn6, recvmmsg,
    recvmsg, sendmmsg, sendmsg, setsockopt, sockopt,
};
use socket2::SockRef;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::mem::MaybeUninit;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::os::fd::AsRawFd;

async fn bound(addr: &str) -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind(addr).await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

fn v4(addr: SocketAddr) -> SockaddrIn {
    match addr {
        SocketAddr::V4(addr) => addr.into(),
        SocketAddr::V6(_) => panic!("it is bound to an address of version 4"),
    }
}

fn error(log: &Log, what: &str, result: io::Result<usize>) {
    log.note(format!(
        "{what} {:?}",
        result.map_err(|error| error.raw_os_error())
    ));
}

/// What a call in `async_io` has received, and from whom.
async fn received(socket: &UdpSocket, room: usize, flags: i32) -> (String, Option<SocketAddr>) {
    let receive = || {
        let mut buf = vec![b'-'; room];
        let mut parts = [IoSliceMut::new(&mut buf)];
        let flags = MsgFlags::from_bits_retain(flags);
        let told = recvmsg::<SockaddrIn>(socket.as_raw_fd(), &mut parts, None, flags)?;
        let (bytes, from) = (told.bytes, told.address);
        let from = from.map(|from| SocketAddr::from(SocketAddrV4::from(from)));
        Ok((format!("{bytes} {}", String::from_utf8_lossy(&buf)), from))
    };
    socket.async_io(Interest::READABLE, receive).await.unwrap()
}

pub(crate) async fn one_by_one(log: Log) {
    let (one, first) = bound("127.0.0.1:0").await;
    let (two, second) = bound("127.0.0.1:0").await;
    let sent = one.async_io(Interest::WRITABLE, || {
        SockRef::from(&one).send_to(b"hello", &second.into())
    });
    log.note(sent.await.unwrap());
    for flags in [
        libc::MSG_PEEK,
        libc::MSG_PEEK | libc::MSG_TRUNC,
        libc::MSG_TRUNC,
    ] {
        let (text, from) = received(&two, 3, flags).await;
        log.note(format!("{text} {}", from == Some(first)));
    }
    one.connect(second).await.unwrap();
    let parts = [
        IoSlice::new(b"in "),
        IoSlice::new(b""),
        IoSlice::new(b"parts"),
    ];
    log.note(SockRef::from(&one).send_vectored(&parts).unwrap());
    log.note(received(&two, 16, 0).await.0);
    log.note(SockRef::from(&one).send(b"").unwrap());
    log.note(received(&two, 16, 0).await.0);
    log.note(SockRef::from(&one).send(b"by tokio").unwrap());
    let mut buf = [0; 16];
    let (count, from) = two.recv_from(&mut buf).await.unwrap();
    log.note(format!(
        "{} {}",
        String::from_utf8_lossy(&buf[..count]),
        from == first
    ));
    two.send_to(b"back", first).await.unwrap();
    log.note(received(&one, 16, 0).await.0);
}

pub(crate) async fn readiness(log: Log) {
    let (one, _) = bound("127.0.0.1:0").await;
    let (two, second) = bound("127.0.0.1:0").await;
    one.writable().await.unwrap();
    let look = || SockRef::from(&two).recv(&mut [MaybeUninit::uninit(); 4]);
    error(&log, "nothing there", look());
    error(&log, "not ready", two.try_io(Interest::READABLE, look));
    for _ in 0..2 {
        SockRef::from(&one).send_to(b"x", &second.into()).unwrap();
        two.readable().await.unwrap();
        error(&log, "ready", two.try_io(Interest::READABLE, look));
        error(&log, "nothing more", two.try_io(Interest::READABLE, look));
    }
    let later = rt::spawn(async move { received(&two, 8, 0).await.0 });
    rt::pause().await;
    SockRef::from(&one)
        .send_to(b"late", &second.into())
        .unwrap();
    log.note(later.await.unwrap());
}

pub(crate) async fn names(log: Log) {
    for addr in ["127.0.0.1:0", "[::1]:0"] {
        let (one, first) = bound(addr).await;
        let (_two, second) = bound(addr).await;
        log.note(SockRef::from(&one).local_addr().unwrap().as_socket() == Some(first));
        let none = SockRef::from(&one).peer_addr().map(|_| 0);
        error(&log, "no peer", none);
        one.connect(second).await.unwrap();
        log.note(SockRef::from(&one).peer_addr().unwrap().as_socket() == Some(second));
    }
}

pub(crate) async fn errors(log: Log) {
    let (one, _) = bound("127.0.0.1:0").await;
    let (two, second) = bound("127.0.0.1:0").await;
    let by = SockRef::from(&one);
    error(&log, "nowhere", by.send(b"x"));
    error(
        &log,
        "too long",
        by.send_to(&vec![0; 70_000], &second.into()),
    );
    let port: SocketAddr = "127.0.0.1:0".parse().unwrap();
    error(&log, "no port", by.send_to(b"x", &port.into()));
    let other: SocketAddr = "[::1]:7".parse().unwrap();
    error(&log, "version 6", by.send_to(b"x", &other.into()));
    error(
        &log,
        "out of band",
        by.send_to_with_flags(b"x", &second.into(), libc::MSG_OOB),
    );
    let errors = libc::MSG_ERRQUEUE;
    let queued = by.recv_with_flags(&mut [MaybeUninit::uninit(); 4], errors);
    error(&log, "no queue", queued);
    one.connect(second).await.unwrap();
    drop(two);
    error(&log, "sent", by.send(b"x"));
    rt::pause().await;
    error(&log, "refused", by.recv(&mut [MaybeUninit::uninit(); 4]));
    error(
        &log,
        "told before",
        by.recv(&mut [MaybeUninit::uninit(); 4]),
    );
}

/// What the standard library's type does with it, there and back, and its copies.
pub(crate) async fn of_the_standard_library(log: Log) {
    let (one, first) = bound("127.0.0.1:0").await;
    let (two, second) = bound("127.0.0.1:0").await;
    one.writable().await.unwrap();
    let one = one.into_std().unwrap();
    log.note(one.local_addr().unwrap() == first);
    log.note(one.send_to(b"out", second).unwrap());
    log.note(received(&two, 8, 0).await.0);
    let copy = one.try_clone().unwrap();
    log.note(copy.send_to(b"copy", second).unwrap());
    let (text, from) = received(&two, 8, 0).await;
    log.note(format!("{text} {}", from == Some(first)));
    error(&log, "nothing", one.recv(&mut [0; 4]));
    let one = UdpSocket::from_std(one).unwrap();
    two.send_to(b"in", first).await.unwrap();
    one.readable().await.unwrap();
    error(&log, "by the copy", copy.recv(&mut [0; 4]));
    let standard = std::net::UdpSocket::bind("127.0.0.1:0").unwrap();
    standard.set_nonblocking(true).unwrap();
    let three = UdpSocket::from_std(standard).unwrap();
    let third = three.local_addr().unwrap();
    log.note(
        SockRef::from(&three)
            .send_to(b"taken over", &first.into())
            .unwrap(),
    );
    let (text, from) = received(&one, 16, 0).await;
    log.note(format!("{text} {}", from == Some(third)));
    log.note(
        SockRef::from(&one)
            .send_to(b"answer", &third.into())
            .unwrap(),
    );
    log.note(received(&three, 16, 0).await.0);
}

/// Several at a time, in pieces, and with the addresses that they are sent to.
pub(crate) async fn with_what_goes_along(log: Log) {
    let (one, first) = bound("127.0.0.1:0").await;
    let (two, _) = bound("0.0.0.0:0").await;
    let port = two.local_addr().unwrap().port();
    let to = SockaddrIn::from(SocketAddrV4::new(Ipv4Addr::new(127, 0, 0, 9), port));
    setsockopt(&two, sockopt::Ipv4PacketInfo, &true).unwrap();
    let pieces = [ControlMessage::UdpGsoSegments(&3)];
    let data = [IoSlice::new(b"one"), IoSlice::new(b"two3")];
    let none = MsgFlags::empty();
    log.note(sendmsg(one.as_raw_fd(), &data, &pieces, none, Some(&to)).unwrap());
    let mut all = Vec::new();
    for _ in 0..3 {
        let receive = || {
            let (mut buf, mut control) = ([0; 2], cmsg_space!(libc::in_pktinfo));
            let mut parts = [IoSliceMut::new(&mut buf)];
            let told =
                recvmsg::<SockaddrIn>(two.as_raw_fd(), &mut parts, Some(&mut control), none)?;
            let addresses = told.cmsgs()?.map(|told| match told {
                ControlMessageOwned::Ipv4PacketInfo(info) => {
                    let ip = |addr: libc::in_addr| Ipv4Addr::from(addr.s_addr.to_ne_bytes());
                    format!("{} {}", ip(info.ipi_addr), info.ipi_ifindex)
                }
                other => format!("{other:?}"),
            });
            let addresses = addresses.collect::<Vec<_>>();
            let from = told.address == Some(v4(first));
            let whole = !told.flags.contains(MsgFlags::MSG_TRUNC);
            Ok(format!("{} {whole} {addresses:?} {from}", told.bytes))
        };
        all.push(two.async_io(Interest::READABLE, receive).await.unwrap());
    }
    all.sort();
    log.note(format!("{all:?}"));
    let too_many = vec![0; 200];
    let pieces = [ControlMessage::UdpGsoSegments(&1)];
    let sent = sendmsg(
        one.as_raw_fd(),
        &[IoSlice::new(&too_many)],
        &pieces,
        none,
        Some(&to),
    );
    log.note(format!("{sent:?}"));
}

/// From an address that the sender chooses.
pub(crate) async fn from_elsewhere(log: Log) {
    let (one, _) = bound("0.0.0.0:0").await;
    let (two, second) = bound("127.0.0.1:0").await;
    for from in [[127, 0, 0, 7], [192, 0, 2, 1]] {
        let info = libc::in_pktinfo {
            ipi_ifindex: 0,
            ipi_spec_dst: libc::in_addr {
                s_addr: u32::from_ne_bytes(from),
            },
            ipi_addr: libc::in_addr { s_addr: 0 },
        };
        let from = [ControlMessage::Ipv4PacketInfo(&info)];
        let data = [IoSlice::new(b"x")];
        let sent = sendmsg(
            one.as_raw_fd(),
            &data,
            &from,
            MsgFlags::empty(),
            Some(&v4(second)),
        );
        log.note(format!("{sent:?}"));
    }
    let (text, from) = received(&two, 4, 0).await;
    log.note(format!("{text} {:?}", from.map(|from| from.ip())));
}

pub(crate) async fn several_at_a_time(log: Log) {
    let (one, first) = bound("[::1]:0").await;
    let (two, second) = bound("[::1]:0").await;
    let SocketAddr::V6(second) = second else {
        panic!("{second} is of version 6")
    };
    let to = [Some(SockaddrIn6::from(SocketAddrV6::new(
        *second.ip(),
        second.port(),
        0,
        0,
    ))); 3];
    let data = [b"a".as_slice(), b"bc", b""].map(|data| [IoSlice::new(data)]);
    let none = MsgFlags::empty();
    let mut headers = MultiHeaders::preallocate(3, None);
    let sent = sendmmsg(one.as_raw_fd(), &mut headers, &data, to, [], none).unwrap();
    log.note(format!(
        "{:?}",
        sent.map(|sent| sent.bytes).collect::<Vec<_>>()
    ));
    let mut all = Vec::new();
    while all.len() < 3 {
        let receive = || {
            let mut bufs = [[0; 8]; 8];
            let mut parts = bufs.each_mut().map(|buf| [IoSliceMut::new(buf)]);
            let mut headers = MultiHeaders::<SockaddrIn6>::preallocate(8, None);
            let told = recvmmsg(two.as_raw_fd(), &mut headers, &mut parts, none, None)?;
            let told = told.map(|told| (told.bytes, told.address.map(|from| from.port())));
            Ok::<_, io::Error>(told.collect::<Vec<_>>())
        };
        all.extend(two.async_io(Interest::READABLE, receive).await.unwrap());
    }
    all.sort_unstable();
    for (bytes, from) in all {
        log.note(format!("{bytes} {}", from == Some(first.port())));
    }
    let mut headers = MultiHeaders::<SockaddrIn6>::preallocate(1, None);
    let mut buf = [0; 8];
    let mut parts = [[IoSliceMut::new(&mut buf)]];
    let none = recvmmsg(two.as_raw_fd(), &mut headers, &mut parts, none, None).map(drop);
    log.note(none.map_err(io::Error::from).unwrap_err().kind() == ErrorKind::WouldBlock);
}
