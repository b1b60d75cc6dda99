//! Datagrams that arrive when they are sent, where that was asked for, and what comes before that.

use super::worlds::{checker, everywhere};
use cct_executor::node::{Node, current};
use cct_executor::sometimes;
use cct_executor::time::sleep;
use cct_net::fabric::{self, Delivery, Latency, Timed, Verdict};
use cct_net::udp::{self, Options};
use cct_net::{UdpSocket, node};
use std::net::SocketAddr;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);
/// What UDP and IP add to each datagram.
const HEADERS: usize = 28;

async fn bound() -> (UdpSocket, SocketAddr) {
    let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    socket.writable().await.unwrap();
    let addr = socket.local_addr().unwrap();
    (socket, addr)
}

/// All that is there.
fn there(socket: &UdpSocket) -> Vec<u8> {
    let mut byte = [0];
    std::iter::from_fn(|| socket.try_recv(&mut byte).ok().map(|_| byte[0])).collect()
}

/// Three datagrams of two sockets, and whether they came in order.
async fn in_order() -> bool {
    let (receiver, to) = bound().await;
    let (one, _) = bound().await;
    let (two, _) = bound().await;
    one.send_to(&[1], to).await.unwrap();
    two.send_to(&[2], to).await.unwrap();
    one.send_to(&[3], to).await.unwrap();
    let mut seen = Vec::new();
    let mut byte = [0];
    for _ in 0..3 {
        receiver.recv(&mut byte).await.unwrap();
        seen.push(byte[0]);
    }
    let in_order = seen == [1, 2, 3];
    seen.sort_unstable();
    assert_eq!(seen, [1, 2, 3], "all arrive, once");
    in_order
}

#[test]
fn by_default_and_where_configured_they_overtake_each_other() {
    let report = checker("default").iterations(200).run(|| async {
        let in_order = in_order().await;
        sometimes!(in_order, "in order");
        sometimes!(!in_order, "out of order");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
    let report = checker("configured").iterations(200).run(|| async {
        udp::configure(|udp| udp.recv_buffer = 1000);
        udp::presume(Options::loopback());
        sometimes!(!in_order().await, "out of order");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}

#[test]
fn what_was_sent_is_there() {
    everywhere("there", 20, |checker| {
        checker.run(|| async {
            udp::presume(Options::loopback());
            assert!(in_order().await);
            let (receiver, to) = bound().await;
            let (sender, _) = bound().await;
            let before = fabric::statistics();
            sender.send_to(&[1], to).await.unwrap();
            sender.try_send_to(&[2], to).unwrap();
            assert_eq!(there(&receiver), [1, 2]);
            let own = cct_net::node::own_addresses()[0];
            let all = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            let to = SocketAddr::new(own, all.local_addr().unwrap().port());
            all.send_to(&[3], to).await.unwrap();
            assert_eq!(there(&all), [3], "by the address that others have for it");
            all.set_broadcast(true).unwrap();
            let to = ("255.255.255.255", to.port());
            all.send_to(&[4], to).await.unwrap();
            assert_eq!(there(&all), [4]);
            let after = fabric::statistics();
            assert_eq!((after.sent - before.sent, after.in_flight), (4, 0));
            assert_eq!(after.arrived - before.arrived, 4);
        })
    });
}

/// A node's way to itself may be cut, held, slow, and under a rule.
#[test]
fn what_holds_them_up_comes_first() {
    everywhere("held up", 20, |checker| {
        checker.run(|| async {
            udp::presume(Options::loopback());
            let node = node("itself").start(std::future::pending::<()>);
            node.spawn(held_up(node.clone())).await.unwrap();
        })
    });
}

async fn held_up(own: Node) {
    assert_eq!(current(), own.id());
    let (receiver, to) = bound().await;
    let (sender, _) = bound().await;
    let send = async |numbers: &[u8]| {
        for &number in numbers {
            sender.send_to(&[number], to).await.unwrap();
        }
    };
    fabric::partition(&own, &own);
    send(&[1]).await;
    fabric::heal(&own, &own);
    sleep(SECOND).await;
    assert_eq!(there(&receiver), [], "a cut loses it");
    fabric::hold(&own, &own);
    send(&[2, 3]).await;
    sleep(SECOND).await;
    assert_eq!(there(&receiver), [], "held");
    fabric::release(&own, &own);
    send(&[4]).await;
    let mut all = there(&receiver);
    all.sort_unstable();
    assert_eq!(all, [2, 3, 4], "whatever was held comes with the next");
    fabric::set_rule(|packet| match packet.size - HEADERS {
        1 => Verdict::Duplicate,
        2 => Verdict::Drop,
        _ => Verdict::DeliverAfter(SECOND),
    });
    send(&[5]).await;
    assert_eq!(there(&receiver), [5, 5], "doubled");
    sender.send_to(&[6; 2], to).await.unwrap();
    sender.send_to(&[7; 3], to).await.unwrap();
    sleep(SECOND / 2).await;
    assert_eq!(there(&receiver), [], "one is lost, one late");
    sleep(SECOND).await;
    assert_eq!(there(&receiver), [7]);
    fabric::set_rule(|_| Verdict::Pass);
    let latency = Latency::constant(SECOND);
    let timed = Timed {
        latency,
        bandwidth: None,
    };
    fabric::set_delivery(&own, &own, Delivery::Timed(timed));
    send(&[8]).await;
    assert_eq!(there(&receiver), [], "takes a second");
    sleep(2 * SECOND).await;
    assert_eq!(there(&receiver), [8]);
    fabric::set_delivery(&own, &own, Delivery::Ordered);
    send(&[9, 10]).await;
    assert_eq!(there(&receiver), [9, 10]);
}

#[test]
fn what_finds_no_room_is_lost() {
    let report = checker("room").iterations(20).run(|| async {
        udp::presume(Options::loopback());
        udp::configure(|udp| udp.recv_buffer = 2);
        let (socket, own) = bound().await;
        for number in 1..5 {
            socket.send_to(&[number], own).await.unwrap();
        }
        assert_eq!(there(&socket), [1, 2]);
    });
    report.assert_passed();
}

#[test]
fn other_nodes_are_as_far_as_ever() {
    let report = checker("others").iterations(200).run(|| async {
        udp::presume(Options::loopback());
        let server = node("server").start(std::future::pending::<()>);
        let bound = server.spawn(async { UdpSocket::bind("0.0.0.0:9").await.unwrap() });
        let receiver = bound.await.unwrap();
        let sender = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        sender.send_to(&[1], "server:9").await.unwrap();
        sender.send_to(&[2], "server:9").await.unwrap();
        let first = there(&receiver);
        sometimes!(first.is_empty(), "on its way");
        sleep(SECOND).await;
        let all = [first, there(&receiver)].concat();
        sometimes!(all == [1, 2], "in order");
        sometimes!(all == [2, 1], "out of order");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}
