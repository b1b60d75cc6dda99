//! A device that sends a log to another, over a link that loses a packet now and then.
//!
//! Both have smoltcp as their TCP stack. The receiver writes what it got to a slow disk, so its buffer
//! is full at times, and the sender has to wait until there is room.
//!
//! The bug, in smoltcp 0.12.0 and before: who has room again says so once. If that packet is lost, the
//! sender waits for it for ever, as it does not ask: it has no zero window probes. Fixed in 0.13.0 by
//! <https://github.com/smoltcp-rs/smoltcp/pull/1026>.

mod device;

use cct_executor::node::Node;
use cct_executor::time::{Instant, timeout};
use cct_net::fault::{Fault, FaultPlan};
use cct_net::node;
use device::{Address, Device};
use smoltcp::socket::tcp::Socket;
use std::time::Duration;

const SENDER: Address = Address::new("sender", 1);
const RECEIVER: Address = Address::new("receiver", 2);

/// How long the log is, in bytes.
const LENGTH: usize = 2_000;

/// How long the disk takes to write what has arrived.
const DISK: Duration = Duration::from_millis(100);

/// How many packets are lost at most.
const LOST: u32 = 4;

/// More than enough for all of it.
const LIMIT: Duration = Duration::from_secs(300);

async fn send(log: Vec<u8>) {
    let mut sender = Device::new(SENDER, RECEIVER);
    sender.connect();
    let mut sent = 0;
    loop {
        let socket = sender.socket();
        while sent < log.len() && socket.can_send() {
            sent += socket.send_slice(&log[sent..]).expect("there is room");
        }
        if sent == log.len() {
            socket.close();
        }
        sender.go_on().await;
    }
}

async fn receive() -> Vec<u8> {
    let mut receiver = Device::new(RECEIVER, SENDER);
    receiver.listen();
    let mut log = Vec::new();
    let mut written = Instant::now();
    loop {
        let socket = receiver.socket();
        if socket.can_recv() && written <= Instant::now() {
            log.extend(page(socket));
            written = Instant::now() + DISK;
        }
        if !log.is_empty() && !socket.may_recv() {
            return log;
        }
        receiver.go_on().await;
    }
}

/// What has arrived.
fn page(socket: &mut Socket<'_>) -> Vec<u8> {
    let take_all = |bytes: &mut [u8]| (bytes.len(), bytes.to_vec());
    socket.recv(take_all).expect("something has arrived")
}

/// A node for a device, which does what it is told only.
fn device(address: Address) -> Node {
    node(address.name).start(|| async {})
}

/// All that is sent arrives.
pub async fn scenario() {
    let [sender, receiver] = [SENDER, RECEIVER].map(device);
    let log: Vec<u8> = (0..LENGTH).map(|byte| byte as u8).collect();
    sender.spawn(send(log.clone()));
    let received = receiver.spawn(receive());
    let faults = FaultPlan::new()
        .nodes([&sender, &receiver])
        .fault(Fault::Drop)
        .total(LOST);
    faults.start().expect("the plan makes sense");
    let received = timeout(LIMIT, received).await.expect("it arrives in time");
    assert!(received.expect("the receiver does not panic") == log);
}
