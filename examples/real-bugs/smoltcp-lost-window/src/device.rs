//! A device with one TCP socket, on a link that keeps the order of packets.

use cct_executor::time::{self, timeout};
use cct_net::mailbox::Mailbox;
use smoltcp::iface::{Config, Interface, SocketHandle, SocketSet};
use smoltcp::phy::{self, DeviceCapabilities, Medium};
use smoltcp::socket::tcp::{Socket, SocketBuffer};
use smoltcp::time::Instant;
use smoltcp::wire::{HardwareAddress, IpAddress, IpCidr};
use std::collections::VecDeque;
use std::time::Duration;

/// The port of both ends of the connection.
const PORT: u16 = 7000;

/// The longest packet.
const PACKET: usize = 256;

/// How much the receiver's stack can hold.
const ROOM: usize = 512;

/// How often a device looks whether there is anything to do.
const TICK: Duration = Duration::from_millis(20);

/// Where a device is: the name of its node, and the last byte of its IP address.
#[derive(Clone, Copy)]
pub struct Address {
    pub name: &'static str,
    last: u8,
}

impl Address {
    pub const fn new(name: &'static str, last: u8) -> Address {
        Address { name, last }
    }

    fn ip(self) -> IpAddress {
        IpAddress::v4(10, 0, 0, self.last)
    }
}

pub struct Device {
    other: Address,
    mailbox: Mailbox<Vec<u8>>,
    started: time::Instant,
    link: Link,
    interface: Interface,
    sockets: SocketSet<'static>,
    socket: SocketHandle,
}

impl Device {
    pub fn new(own: Address, other: Address) -> Device {
        let mut link = Link::default();
        let mut config = Config::new(HardwareAddress::Ip);
        config.random_seed = own.last.into();
        let mut interface = Interface::new(config, &mut link, Instant::ZERO);
        interface.update_ip_addrs(|addresses| {
            let address = IpCidr::new(own.ip(), 24);
            addresses.push(address).expect("room for an address");
        });
        let buffer = |length| SocketBuffer::new(vec![0; length]);
        let mut sockets = SocketSet::new(Vec::new());
        let socket = sockets.add(Socket::new(buffer(ROOM), buffer(8 * ROOM)));
        Device {
            other,
            mailbox: Mailbox::bind("link").expect("a device has one link"),
            started: time::Instant::now(),
            link,
            interface,
            sockets,
            socket,
        }
    }

    pub fn socket(&mut self) -> &mut Socket<'static> {
        self.sockets.get_mut(self.socket)
    }

    pub fn connect(&mut self) {
        let socket = self.sockets.get_mut::<Socket<'static>>(self.socket);
        let context = self.interface.context();
        let begun = socket.connect(context, (self.other.ip(), PORT), PORT);
        begun.expect("the socket is new");
    }

    pub fn listen(&mut self) {
        self.socket().listen(PORT).expect("the socket is new");
    }

    /// Sends what there is to send, and waits until something arrives, or something is due.
    pub async fn go_on(&mut self) {
        self.poll();
        while let Some(packet) = self.link.leaving.pop_front() {
            // Where nobody listens yet it is lost, as on any link.
            let _ = self.mailbox.send(self.other.name, packet);
        }
        let due = self.interface.poll_delay(self.now(), &self.sockets);
        let due = due.map_or(TICK, |due| TICK.min(due.into()));
        if let Ok((_, packet)) = timeout(due, self.mailbox.recv()).await {
            self.link.arrived.push_back(packet);
        }
        self.poll();
    }

    fn poll(&mut self) {
        let now = self.now();
        self.interface.poll(now, &mut self.link, &mut self.sockets);
    }

    fn now(&self) -> Instant {
        Instant::from_micros(self.started.elapsed().as_micros() as i64)
    }
}

/// What the stack believes to be its hardware.
#[derive(Default)]
struct Link {
    arrived: VecDeque<Vec<u8>>,
    leaving: VecDeque<Vec<u8>>,
}

struct Arrived(Vec<u8>);

struct Leaving<'a>(&'a mut VecDeque<Vec<u8>>);

impl phy::RxToken for Arrived {
    fn consume<R, F: FnOnce(&[u8]) -> R>(self, look: F) -> R {
        look(&self.0)
    }
}

impl phy::TxToken for Leaving<'_> {
    fn consume<R, F: FnOnce(&mut [u8]) -> R>(self, length: usize, fill: F) -> R {
        let mut packet = vec![0; length];
        let result = fill(&mut packet);
        self.0.push_back(packet);
        result
    }
}

impl phy::Device for Link {
    type RxToken<'a> = Arrived;
    type TxToken<'a> = Leaving<'a>;

    fn receive(&mut self, _: Instant) -> Option<(Arrived, Leaving<'_>)> {
        let packet = self.arrived.pop_front()?;
        Some((Arrived(packet), Leaving(&mut self.leaving)))
    }

    fn transmit(&mut self, _: Instant) -> Option<Leaving<'_>> {
        Some(Leaving(&mut self.leaving))
    }

    fn capabilities(&self) -> DeviceCapabilities {
        let mut capabilities = DeviceCapabilities::default();
        capabilities.medium = Medium::Ip;
        capabilities.max_transmission_unit = PACKET;
        capabilities
    }
}
