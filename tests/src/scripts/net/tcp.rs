//! TCP: listeners, connections, and what ends them.

use super::ends::{Answer, End, OPERATIONS};
use super::line::{Conns, told};
use super::rt::{self, TcpListener, TcpSocket, TcpStream};
use cct_tests::fuzz::{Act, Place, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

type Opened = Answer<TcpStream, SocketAddr>;

/// Ends that a script may have open, and listeners.
const ENDS: usize = 8;
const LISTENERS: usize = 4;
const BACKLOG: usize = 8;

struct Table {
    log: Log,
    stage: Stage<'static, Opened>,
    conns: Conns<SocketAddr>,
    ends: Vec<End<TcpStream, SocketAddr>>,
    names: usize,
    listeners: Vec<(Place<TcpListener>, SocketAddr)>,
    /// Ports, and what they are called; the last one counts.
    ports: Vec<(u16, String)>,
    connects: usize,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut table = Table {
        stage: Stage::new(&log).as_a_set(),
        log,
        conns: Conns::default(),
        ends: Vec::new(),
        names: 0,
        listeners: Vec::new(),
        ports: Vec::new(),
        connects: 0,
    };
    table.pair().await;
    rt::settle().await;
    for act in script.acts {
        match table.stage.turn(act) {
            Turn::Ready(answer) => table.answered(answer),
            Turn::Own(what) => table.operation(what, act).await,
            Turn::Yield | Turn::Over => {}
        }
        rt::settle().await;
        table.stage.woken();
    }
    table.stage.finish();
}

impl Table {
    async fn operation(&mut self, what: usize, act: Act) {
        let of_ends = OPERATIONS * 4;
        if what < of_ends {
            self.ends.retain(End::is_open);
            let Some(index) = act.pick(&self.ends) else { return };
            let end = self.ends[index].clone();
            return end.operation(what % OPERATIONS, act, &mut self.stage).await;
        }
        match (what - of_ends) % 16 {
            0..=3 => self.pair().await,
            4..=5 => self.listen(act).await,
            6..=8 => self.connect(act),
            9..=11 => self.accept(act),
            12 => {
                if let Some(index) = act.pick(&self.listeners) {
                    let dropped = self.listeners[index].0.take().is_some();
                    note!(self.log, "  no listener {index}: {dropped}");
                }
            }
            13 => self.transfer(act).await,
            _ => self.addresses(act),
        }
    }

    fn name(&self, addr: SocketAddr) -> String {
        let known = self.ports.iter().rev().find(|(port, _)| *port == addr.port());
        let port = known.map_or("?", |(_, name)| name);
        format!("{}:{port}", addr.ip())
    }

    fn call(&mut self, addr: SocketAddr, name: String) {
        self.ports.push((addr.port(), name));
    }

    fn answered(&mut self, answer: Opened) {
        match answer {
            Answer::Text(text) => note!(self.log, "    {text}"),
            Answer::Open(stream, client, side) => self.open(stream, client, side),
        }
    }

    fn open(&mut self, stream: TcpStream, client: SocketAddr, side: usize) {
        stream.set_nodelay(true).expect("a socket of TCP");
        let name = self.names;
        self.names += 1;
        if side == 0 {
            self.call(client, format!("client {name}"));
        }
        let client = SocketAddr::new(client.ip().to_canonical(), client.port());
        let conn = self.conns.of(client, side);
        note!(self.log, "    end {name} on side {side}");
        self.ends.push(End::new(name, stream, conn, side));
    }

    /// A connection and its two ends, at once.
    async fn pair(&mut self) {
        if self.ends.len() + 2 > ENDS {
            return;
        }
        let listener = TcpListener::bind("127.0.0.1:0").await.expect("a free port");
        let addr = listener.local_addr().expect("it is bound");
        let client = TcpStream::connect(addr).await.expect("it listens");
        let (server, from) = listener.accept().await.expect("it was connected to");
        self.call(addr, "pair".to_owned());
        self.open(client, from, 0);
        self.open(server, from, 1);
    }

    async fn listen(&mut self, act: Act) {
        if self.listeners.len() >= LISTENERS {
            self.listeners.retain(|(place, _)| place.is_taken());
        }
        let old = act.pick(&self.listeners).map(|index| self.listeners[index].1);
        let ip: IpAddr = match act.b % 7 {
            0..=1 => Ipv4Addr::LOCALHOST.into(),
            2 => Ipv4Addr::UNSPECIFIED.into(),
            3 => Ipv4Addr::new(127, 0, 0, 2).into(),
            4 => Ipv6Addr::LOCALHOST.into(),
            5 => Ipv6Addr::UNSPECIFIED.into(),
            _ => old.map_or(Ipv4Addr::LOCALHOST.into(), |old| old.ip()),
        };
        let port = if act.b % 3 == 0 { old.map_or(0, |old| old.port()) } else { 0 };
        let addr = SocketAddr::new(ip, port);
        note!(self.log, "  listen at {}", self.name(addr));
        let listener = match act.b >= 128 {
            true => TcpListener::bind(addr).await,
            false => by_socket(addr, act),
        };
        match listener.and_then(|listener| Ok((listener.local_addr()?, listener))) {
            Ok((addr, listener)) => {
                let index = self.listeners.len();
                if port == 0 {
                    self.call(addr, format!("listener {index}"));
                }
                note!(self.log, "    listener {index} at {}", self.name(addr));
                self.listeners.push((Place::new(listener), addr));
            }
            Err(error) => note!(self.log, "    {}", told::<u8>(Err(error))),
        }
    }

    fn connect(&mut self, act: Act) {
        let Some(index) = act.pick(&self.listeners) else { return };
        let at = self.listeners[index].1;
        // More would wait for the kernel to try again.
        if self.ends.len() >= ENDS || self.connects >= BACKLOG {
            return;
        }
        self.connects += 1;
        let ip: IpAddr = match act.b % 5 {
            0 => Ipv4Addr::LOCALHOST.into(),
            1 => Ipv4Addr::new(127, 0, 0, 2).into(),
            2 => Ipv6Addr::LOCALHOST.into(),
            _ => at.ip(),
        };
        let to = SocketAddr::new(ip, at.port());
        let how = act.b / 64;
        let text = format!("connect to {} by {how}", self.name(to));
        self.stage.put(act, format_args!("{text}"), async move {
            match connected(to, how).await {
                Ok((stream, from)) => Answer::Open(stream, from, 0),
                Err(error) => Answer::Text(told::<u8>(Err(error))),
            }
        });
    }

    fn accept(&mut self, act: Act) {
        let Some(index) = act.pick(&self.listeners) else { return };
        if self.ends.len() >= ENDS {
            return;
        }
        self.connects = self.connects.saturating_sub(1);
        let place = self.listeners[index].0.clone();
        self.stage.put(act, format_args!("accept at {index}"), async move {
            match place.share(async |listener| listener.accept().await).await {
                None => Answer::Text("away".to_owned()),
                Some(Ok((stream, from))) => Answer::Open(stream, from, 1),
                Some(Err(error)) => Answer::Text(told::<u8>(Err(error))),
            }
        });
    }

    fn addresses(&self, act: Act) {
        let Some(index) = act.pick(&self.ends) else { return };
        let end = &self.ends[index];
        let addrs = end.look(|s| [s.local_addr(), s.peer_addr()]);
        let addrs = addrs.map(|addrs| addrs.map(|addr| told(addr.map(|addr| self.name(addr)))));
        note!(self.log, "  {} addresses: {addrs:?}", end.name);
    }

    /// Much, from one end to the other.
    async fn transfer(&mut self, act: Act) {
        let Some(index) = act.pick(&self.ends) else { return };
        let from = &self.ends[index];
        let Some(to) = self.ends.iter().find(|end| end.is_peer_of(from)) else {
            return;
        };
        let count = [20_000, 200_000, 1 << 19][act.b(3)];
        let done = from.transfer(to, count).await;
        note!(self.log, "  {} to {}: {done}", from.name, to.name);
    }
}

/// A listener with options.
fn by_socket(addr: SocketAddr, act: Act) -> io::Result<TcpListener> {
    let socket = if addr.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // Without, connections that are over keep the port for a minute.
    socket.set_reuseaddr(true)?;
    if act.b % 11 == 0 {
        socket.set_zero_linger()?;
    }
    socket.bind(addr)?;
    socket.listen(2 * BACKLOG as u32)
}

async fn connected(to: SocketAddr, how: u8) -> io::Result<(TcpStream, SocketAddr)> {
    let stream = match how {
        0 | 1 => TcpStream::connect(to).await?,
        _ => {
            let socket = if to.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
            if how == 3 && to.is_ipv4() {
                socket.bind(SocketAddr::new(Ipv4Addr::new(127, 0, 0, 3).into(), 0))?;
            }
            socket.connect(to).await?
        }
    };
    let from = stream.local_addr()?;
    Ok((stream, from))
}
