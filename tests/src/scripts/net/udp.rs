//! UDP: with and without a peer, to sockets that are open and that are not.

use super::line::told;
use super::rt::{self, Interest, UdpSocket};
use super::stream::flags;
use cct_tests::fuzz::{Act, Place, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::rc::Rc;

const SOCKETS: usize = 5;
/// Datagrams that no system drops.
const MOST: usize = 20;
const SIZES: [usize; 6] = [1, 3, 0, 100, 1400, 20];
const ROOMS: [usize; 5] = [2, 100, 0, 2000, 20];
const INTERESTS: [Interest; 5] = [
    Interest::READABLE,
    Interest::WRITABLE,
    Interest::READABLE.add(Interest::WRITABLE),
    Interest::ERROR,
    Interest::READABLE.add(Interest::ERROR),
];

/// What futures and acts have in common.
#[derive(Clone, Default)]
struct Known {
    /// Addresses, and which socket has them; the last one counts.
    ports: Rc<std::cell::RefCell<Vec<(u16, usize)>>>,
    /// Datagrams sent and not received.
    waiting: Rc<Cell<usize>>,
    sent: Rc<Cell<usize>>,
}

impl Known {
    fn name(&self, addr: SocketAddr) -> String {
        let ports = self.ports.borrow();
        let known = ports.iter().rev().find(|(port, _)| *port == addr.port());
        let port = known.map_or("?".to_owned(), |(_, index)| format!("socket {index}"));
        format!("{}:{port}", addr.ip())
    }

    /// The next datagram: its number again and again.
    fn next(&self, size: usize) -> Vec<u8> {
        self.sent.set(self.sent.get() + 1);
        vec![self.sent.get() as u8; size]
    }

    fn sent(&self, result: io::Result<usize>) -> String {
        self.waiting.set(self.waiting.get() + usize::from(result.is_ok()));
        told(result)
    }

    fn got(&self, result: io::Result<(usize, Option<SocketAddr>)>, buf: &[u8], keep: bool) -> String {
        let gone = usize::from(result.is_ok() && !keep);
        self.waiting.set(self.waiting.get().saturating_sub(gone));
        told(result.map(|(count, from)| {
            let from = from.map(|from| self.name(from));
            format!("{count} of {:?} from {from:?}", buf[..count].first())
        }))
    }
}

struct Table {
    log: Log,
    stage: Stage<'static, String>,
    known: Known,
    sockets: Vec<(Place<UdpSocket>, SocketAddr)>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut table = Table {
        stage: Stage::new(&log).as_a_set(),
        log,
        known: Known::default(),
        sockets: Vec::new(),
    };
    for _ in 0..2 {
        table.bind(SocketAddr::new(Ipv4Addr::LOCALHOST.into(), 0)).await;
    }
    rt::settle().await;
    for act in script.acts {
        match table.stage.turn(act) {
            Turn::Ready(text) => note!(table.log, "    {text}"),
            Turn::Own(what) => table.operation(what % 32, act).await,
            Turn::Yield | Turn::Over => {}
        }
        rt::settle().await;
        table.stage.woken();
    }
    table.stage.finish();
}

impl Table {
    async fn bind(&mut self, addr: SocketAddr) {
        note!(self.log, "  bind {}", self.known.name(addr));
        let bound = UdpSocket::bind(addr).await;
        match bound.and_then(|socket| Ok((socket.local_addr()?, socket))) {
            Ok((addr, socket)) => {
                let index = self.sockets.len();
                self.known.ports.borrow_mut().push((addr.port(), index));
                note!(self.log, "    at {}", self.known.name(addr));
                self.sockets.push((Place::new(socket), addr));
            }
            Err(error) => note!(self.log, "    {}", told::<u8>(Err(error))),
        }
    }

    async fn operation(&mut self, what: usize, act: Act) {
        if what < 2 {
            let open = self.sockets.iter().filter(|(place, _)| place.is_taken());
            if open.count() < SOCKETS {
                let addr = self.place_to_bind(act);
                self.bind(addr).await;
            }
            return;
        }
        // Mostly the ones that are open.
        let all = 0..self.sockets.len();
        let open: Vec<usize> = all.filter(|&index| self.sockets[index].0.is_taken()).collect();
        let Some(index) = act.pick(&open) else { return };
        let index = open[index];
        let place = self.sockets[index].0.clone();
        match what {
            2..=5 => self.send(index, &place, act),
            6..=9 => self.send_to(index, &place, act),
            10..=12 => self.receive(index, &place, act),
            13..=14 => self.try_to_receive(index, &place, act),
            15..=17 => self.try_to_send(index, &place, act),
            18..=19 => self.wait(index, &place, act),
            20..=22 => self.connect(index, &place, act).await,
            23 => note!(self.log, "  no socket {index}: {}", place.take().is_some()),
            24 => {
                let error = place.look(|s| told(s.take_error().map(|error| format!("{:?}", error.map(|e| e.kind())))));
                note!(self.log, "  {index} error: {error:?}");
            }
            25..=26 => {
                let addrs = place.look(|s| [s.local_addr(), s.peer_addr()]);
                let addrs = addrs.map(|addrs| addrs.map(|addr| told(addr.map(|addr| self.known.name(addr)))));
                note!(self.log, "  {index} addresses: {addrs:?}");
            }
            27 => {
                let interest = INTERESTS[act.b(INTERESTS.len())];
                let done = place.look(|s| told(s.try_io(interest, || {
                    // Who says `WouldBlock` where there is something may be told again of that whenever
                    // anything happens.
                    if act.b % 3 == 0 { Ok(7) } else { Err(io::ErrorKind::Other.into()) }
                })));
                note!(self.log, "  {index} tries: {done:?}");
            }
            _ => self.drain(),
        }
    }

    /// An old address, or a new one.
    fn place_to_bind(&self, act: Act) -> SocketAddr {
        let old = act.pick(&self.sockets).map(|index| self.sockets[index].1);
        let ip: IpAddr = match act.b % 7 {
            0..=2 => Ipv4Addr::LOCALHOST.into(),
            3 => Ipv4Addr::UNSPECIFIED.into(),
            4 => Ipv4Addr::new(127, 0, 0, 2).into(),
            5 => Ipv6Addr::LOCALHOST.into(),
            _ => Ipv6Addr::UNSPECIFIED.into(),
        };
        // All addresses of version 4 beside a socket of version 6 that has a peer are a matter of their own.
        let old = old.filter(|_| act.b % 2 == 0 && ip != Ipv4Addr::UNSPECIFIED);
        let port = old.map_or(0, |old| old.port());
        SocketAddr::new(ip, port)
    }

    /// Where a datagram goes.
    fn target(&self, act: Act) -> SocketAddr {
        let at = self.sockets[usize::from(act.b / 8) % self.sockets.len()].1;
        let ip: IpAddr = match act.b % 8 {
            0 => Ipv4Addr::LOCALHOST.into(),
            1 => Ipv4Addr::new(127, 0, 0, 2).into(),
            2 => Ipv6Addr::LOCALHOST.into(),
            3 => Ipv4Addr::LOCALHOST.to_ipv6_mapped().into(),
            _ => at.ip(),
        };
        SocketAddr::new(ip, if act.b == 255 { 0 } else { at.port() })
    }

    fn size(&self, act: Act) -> Option<usize> {
        let size = SIZES[act.b(SIZES.len())];
        match act.b {
            250 => (self.known.waiting.get() == 0).then_some(65_507),
            251 => Some(65_508),
            252 => Some(70_000),
            253 => (self.known.waiting.get() == 0).then_some(65_527),
            254 => Some(65_528),
            _ => (self.known.waiting.get() < MOST).then_some(size),
        }
    }

    fn send(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let Some(size) = self.size(act) else { return };
        let (place, known) = (place.clone(), self.known.clone());
        self.stage.put(act, format_args!("{index} sends {size}"), async move {
            let data = known.next(size);
            let sent = place.share(async |s| s.send(&data).await).await;
            sent.map_or_else(|| "away".to_owned(), |sent| known.sent(sent))
        });
    }

    fn send_to(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let Some(size) = self.size(act) else { return };
        let (place, known, to) = (place.clone(), self.known.clone(), self.target(act));
        let text = format!("{index} sends {size} to {}", known.name(to));
        self.stage.put(act, format_args!("{text}"), async move {
            let data = known.next(size);
            let sent = place.share(async |s| s.send_to(&data, to).await).await;
            sent.map_or_else(|| "away".to_owned(), |sent| known.sent(sent))
        });
    }

    fn try_to_send(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let Some(size) = self.size(act) else { return };
        let (data, to) = (self.known.next(size), self.target(act));
        let sent = match act.b / 32 % 2 {
            0 => place.look(|s| s.try_send(&data)),
            _ => place.look(|s| s.try_send_to(&data, to)),
        };
        let sent = sent.map(|sent| self.known.sent(sent));
        note!(self.log, "  {index} tries to send {size}, perhaps to {}: {sent:?}", self.known.name(to));
    }

    fn receive(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let (place, known, how) = (place.clone(), self.known.clone(), act.b / 32);
        let room = ROOMS[act.b(ROOMS.len())];
        self.stage.put(act, format_args!("{index} receives {room} by {how}"), async move {
            let mut buf = vec![0; room];
            let into = &mut buf;
            let got = place.share(async |s| match how {
                0 | 1 => s.recv(into).await.map(|count| (count, None)),
                2 | 3 => s.recv_from(into).await.map(|(count, from)| (count, Some(from))),
                4 => s.peek(into).await.map(|count| (count, None)),
                5 => s.peek_from(into).await.map(|(count, from)| (count, Some(from))),
                6 => s.peek_sender().await.map(|from| (0, Some(from))),
                _ => {
                    let mut grown = Vec::with_capacity(8);
                    let (count, from) = s.recv_buf_from(&mut grown).await?;
                    into.clear();
                    into.append(&mut grown);
                    Ok((count, Some(from)))
                }
            });
            let got = got.await;
            got.map_or_else(|| "away".to_owned(), |got| known.got(got, &buf, (4..7).contains(&how)))
        });
    }

    fn try_to_receive(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let mut buf = vec![0; ROOMS[act.b(ROOMS.len())]];
        let how = act.b / 32;
        let got = place.look(|s| match how {
            0 | 1 => s.try_recv(&mut buf).map(|count| (count, None)),
            2..=4 => s.try_recv_from(&mut buf).map(|(count, from)| (count, Some(from))),
            5 => s.try_peek(&mut buf).map(|count| (count, None)),
            6 => s.try_peek_from(&mut buf).map(|(count, from)| (count, Some(from))),
            _ => s.try_peek_sender().map(|from| (0, Some(from))),
        });
        let got = got.map(|got| self.known.got(got, &buf, how >= 5));
        note!(self.log, "  {index} tries to receive {} by {how}: {got:?}", buf.len());
    }

    fn wait(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let (place, how) = (place.clone(), act.b(INTERESTS.len() + 2));
        self.stage.put(act, format_args!("{index} waits by {how}"), async move {
            let ready = place.share(async |s| match INTERESTS.get(how) {
                Some(&interest) => s.ready(interest).await.map(flags),
                None if how % 2 == 0 => s.readable().await.map(|()| "r".to_owned()),
                None => s.writable().await.map(|()| "w".to_owned()),
            });
            ready.await.map_or_else(|| "away".to_owned(), told)
        });
    }

    async fn connect(&mut self, index: usize, place: &Place<UdpSocket>, act: Act) {
        let to = self.target(act);
        // What that means is known to few.
        if to.port() == 0 {
            return;
        }
        let done = place.clone().share(async |s| s.connect(to).await).await;
        let done = done.map(|done| told(done.map(|()| "done")));
        note!(self.log, "  {index} connects to {}: {done:?}", self.known.name(to));
    }

    /// Every socket receives what is there.
    fn drain(&mut self) {
        for (index, (place, _)) in self.sockets.iter().enumerate() {
            let mut buf = [0; 2000];
            let mut tries = 0;
            let end = loop {
                tries += 1;
                match place.look(|s| s.try_recv_from(&mut buf)) {
                    Some(Ok((count, from))) => {
                        let got = self.known.got(Ok((count, Some(from))), &buf, false);
                        note!(self.log, "  {index} has {got}");
                    }
                    Some(Err(error)) if error.kind() == io::ErrorKind::WouldBlock || tries > 100 => break true,
                    Some(Err(error)) => note!(self.log, "  {index} has {:?}", error.kind()),
                    None => break false,
                }
            };
            note!(self.log, "  {index} is empty: {end}");
        }
        self.known.waiting.set(0);
    }
}
