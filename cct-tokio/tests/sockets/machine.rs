//! Addresses that the system has told the program, as those do that look for all that they can be reached at.

use super::worlds::checker;
use cct_tokio::net::{TcpListener, TcpStream, UdpSocket};
use std::io::ErrorKind;
use std::net::IpAddr;

/// The address at which others than the machine itself would reach it, if it has one.
fn address() -> Option<IpAddr> {
    let socket = std::net::UdpSocket::bind("0.0.0.0:0").ok()?;
    socket.connect("192.0.2.1:9").ok()?;
    let ip = socket.local_addr().ok()?.ip();
    (!ip.is_unspecified()).then_some(ip)
}

#[test]
fn those_of_the_machine_are_the_tests_own() {
    let Some(ip) = address() else {
        return;
    };
    let report = checker("machine").iterations(50).run(move || async move {
        let (one, two) = (
            UdpSocket::bind((ip, 0)).await,
            UdpSocket::bind((ip, 0)).await,
        );
        let (one, two) = (one.unwrap(), two.unwrap());
        let to = two.local_addr().unwrap();
        assert_eq!(one.send_to(b"datagram", to).await.unwrap(), 8);
        let (count, from) = two.recv_from(&mut [0; 16]).await.unwrap();
        assert_eq!((count, from), (8, one.local_addr().unwrap()));

        let listener = TcpListener::bind((ip, 0)).await.unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap());
        let (client, accepted) = tokio::join!(client, listener.accept());
        let (_server, peer) = accepted.unwrap();
        assert_eq!(
            (peer, peer.ip()),
            (client.unwrap().local_addr().unwrap(), ip)
        );
    });
    report.assert_passed();
}

#[test]
fn others_are_not() {
    let report = checker("others").iterations(10).run(|| async {
        let refused = UdpSocket::bind("198.51.100.77:0").await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::AddrNotAvailable);
    });
    report.assert_passed();
}
