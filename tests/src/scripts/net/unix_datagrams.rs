//! Unix datagram sockets: with and without a name, and a peer.

use super::line::told;
use super::rt::{self, Directory, Interest, UnixDatagram};
use super::stream::flags;
use cct_tests::fuzz::{Act, Place, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::cell::{Cell, RefCell};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::Shutdown;
use std::path::PathBuf;
use std::rc::Rc;
use std::task::Poll;

const SOCKETS: usize = 5;
const PATHS: usize = 4;
/// Datagrams that every socket has room for.
const MOST: usize = 8;
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
    /// Datagrams sent and not received.
    waiting: Rc<Cell<usize>>,
    sent: Rc<Cell<usize>>,
    /// Sockets that receive no more.
    shut: Rc<RefCell<Vec<usize>>>,
}

impl Known {
    /// The next datagram: its number again and again.
    fn next(&self, size: usize) -> Vec<u8> {
        self.sent.set(self.sent.get() + 1);
        vec![self.sent.get() as u8; size]
    }

    fn sent(&self, result: io::Result<usize>) -> String {
        self.waiting.set(self.waiting.get() + usize::from(result.is_ok()));
        told(result)
    }

    fn got(&self, result: io::Result<(usize, Option<String>)>, buf: &[u8]) -> String {
        let gone = usize::from(result.is_ok());
        self.waiting.set(self.waiting.get().saturating_sub(gone));
        told(result.map(|(count, from)| format!("{count} of {:?} from {from:?}", buf[..count].first())))
    }
}

/// The name of a socket, without its directory.
fn name(addr: rt::unix::SocketAddr) -> String {
    let name = addr.as_pathname().and_then(|path| path.file_name());
    name.map_or("nobody".to_owned(), |name| name.to_string_lossy().into_owned())
}

struct Table {
    log: Log,
    directory: Directory,
    stage: Stage<'static, String>,
    known: Known,
    sockets: Vec<Place<UnixDatagram>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut table = Table {
        stage: Stage::new(&log).as_a_set(),
        log,
        directory: Directory::new(),
        known: Known::default(),
        sockets: Vec::new(),
    };
    table.open(Act { what: 0, a: 0, b: 0 });
    table.open(Act { what: 0, a: 1, b: 0 });
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
    fn path(&self, number: u8) -> PathBuf {
        self.directory.path().join(format!("{}", usize::from(number) % PATHS))
    }

    fn open(&mut self, act: Act) {
        let opened = match act.b % 5 {
            0..=1 => UnixDatagram::bind(self.path(act.a)).map(|socket| vec![socket]),
            2 => UnixDatagram::unbound().map(|socket| vec![socket]),
            _ => UnixDatagram::pair().map(|(one, two)| vec![one, two]),
        };
        let first = self.sockets.len();
        let opened = opened.map(|sockets| {
            self.sockets.extend(sockets.into_iter().map(Place::new));
            format!("sockets {first}..{}", self.sockets.len())
        });
        note!(self.log, "  open {}: {}", act.b % 5, told(opened));
    }

    async fn operation(&mut self, what: usize, act: Act) {
        let all = 0..self.sockets.len();
        let open: Vec<usize> = all.filter(|&index| self.sockets[index].is_taken()).collect();
        if what < 3 {
            if open.len() < SOCKETS {
                self.open(act);
            }
            return;
        }
        let Some(index) = act.pick(&open) else { return };
        let index = open[index];
        let place = self.sockets[index].clone();
        match what {
            3..=5 => self.send(index, &place, act, None),
            6..=8 => self.send(index, &place, act, Some(self.path(act.b / 8))),
            9..=12 => self.receive(index, &place, act),
            13..=15 => self.try_to_receive(index, &place, act),
            16..=18 => self.try_to_send(index, &place, act),
            19..=20 => self.wait(index, &place, act),
            21..=22 => {
                let done = place.look(|s| told(s.connect(self.path(act.b)).map(|()| "done")));
                note!(self.log, "  {index} connects to {}: {done:?}", usize::from(act.b) % PATHS);
            }
            23 => note!(self.log, "  no socket {index}: {}", place.take().is_some()),
            24 => {
                let how = [Shutdown::Read, Shutdown::Write, Shutdown::Both][act.b(3)];
                let done = place.look(|s| told(s.shutdown(how).map(|()| "done")));
                if how != Shutdown::Write {
                    self.known.shut.borrow_mut().push(index);
                }
                note!(self.log, "  {index} shuts down {how:?}: {done:?}");
            }
            25..=26 => {
                let addrs = place.look(|s| [s.local_addr(), s.peer_addr()]);
                let addrs = addrs.map(|addrs| addrs.map(|addr| told(addr.map(name))));
                note!(self.log, "  {index} addresses: {addrs:?}");
            }
            27 => {
                let done = told(rt::unlink(self.path(act.b).as_path()).map(|()| "done"));
                note!(self.log, "  unlink {}: {done}", usize::from(act.b) % PATHS);
            }
            28 if act.b < 64 => self.fill(index, &place).await,
            _ => self.drain(),
        }
    }

    fn size(&self, act: Act) -> Option<usize> {
        (self.known.waiting.get() < MOST).then_some(SIZES[act.b(SIZES.len())])
    }

    fn send(&mut self, index: usize, place: &Place<UnixDatagram>, act: Act, to: Option<PathBuf>) {
        let Some(size) = self.size(act) else { return };
        let (place, known) = (place.clone(), self.known.clone());
        let whom = usize::from(act.b / 8) % PATHS;
        let text = format!("{index} sends {size}, to {whom}: {}", to.is_some());
        self.stage.put(act, format_args!("{text}"), async move {
            let data = known.next(size);
            let sent = place.share(async |s| match to {
                Some(to) => s.send_to(&data, to).await,
                None => s.send(&data).await,
            });
            sent.await.map_or_else(|| "away".to_owned(), |sent| known.sent(sent))
        });
    }

    fn try_to_send(&mut self, index: usize, place: &Place<UnixDatagram>, act: Act) {
        let Some(size) = self.size(act) else { return };
        let (data, to) = (self.known.next(size), self.path(act.b / 8));
        let sent = match act.b / 32 % 2 {
            0 => place.look(|s| s.try_send(&data)),
            _ => place.look(|s| s.try_send_to(&data, to)),
        };
        let sent = sent.map(|sent| self.known.sent(sent));
        note!(self.log, "  {index} tries to send {size} by {}: {sent:?}", act.b / 8);
    }

    fn receive(&mut self, index: usize, place: &Place<UnixDatagram>, act: Act) {
        let (place, known, how) = (place.clone(), self.known.clone(), act.b / 64);
        let room = ROOMS[act.b(ROOMS.len())];
        let shut = self.known.clone();
        let mut future = Box::pin(async move {
            let mut buf = vec![0; room];
            let into = &mut buf;
            let got = place.share(async |s| match how {
                0 => s.recv(into).await.map(|count| (count, None)),
                1 | 2 => {
                    let (count, from) = s.recv_from(into).await?;
                    Ok((count, Some(name(from))))
                }
                _ => {
                    let mut grown = Vec::with_capacity(8);
                    let (count, from) = s.recv_buf_from(&mut grown).await?;
                    into.clear();
                    into.append(&mut grown);
                    Ok((count, Some(name(from))))
                }
            });
            let got = got.await;
            got.map_or_else(|| "away".to_owned(), |got| known.got(got, &buf))
        });
        let text = format!("{index} receives {room} by {how}");
        // After its end tokio receives without end.
        let future = poll_fn(move |cx| match shut.shut.borrow().contains(&index) {
            true => Poll::Ready("shut down".to_owned()),
            false => future.as_mut().poll(cx),
        });
        self.stage.put(act, format_args!("{text}"), future);
    }

    fn try_to_receive(&mut self, index: usize, place: &Place<UnixDatagram>, act: Act) {
        let mut buf = vec![0; ROOMS[act.b(ROOMS.len())]];
        let got = place.look(|s| match act.b / 128 {
            0 => s.try_recv(&mut buf).map(|count| (count, None)),
            _ => s.try_recv_from(&mut buf).map(|(count, from)| (count, Some(name(from)))),
        });
        let got = got.map(|got| self.known.got(got, &buf));
        note!(self.log, "  {index} tries to receive {}: {got:?}", buf.len());
    }

    fn wait(&mut self, index: usize, place: &Place<UnixDatagram>, act: Act) {
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

    /// Sends until there is no room, or for some other reason no more, and makes room again. For how many
    /// there is room the system says.
    async fn fill(&mut self, index: usize, place: &Place<UnixDatagram>) {
        for _ in 0..2000 {
            match place.look(|s| s.try_send(&[0])) {
                Some(Ok(_)) => {}
                Some(Err(error)) => {
                    note!(self.log, "  {index} fills: {:?}", error.kind());
                    break;
                }
                None => return,
            }
        }
        rt::settle().await;
        self.drain();
    }

    /// Every socket receives what is there; how much that is of a queue that was full, the system says.
    fn drain(&mut self) {
        for (index, place) in self.sockets.iter().enumerate() {
            let mut buf = [0; 2000];
            let mut ends = 0;
            let end = loop {
                match place.look(|s| s.try_recv(&mut buf)) {
                    Some(Ok(0)) if ends > MOST => break "the end".to_owned(),
                    Some(Ok(0)) => ends += 1,
                    Some(Ok(_)) => {}
                    Some(Err(error)) if error.kind() == ErrorKind::WouldBlock => break "empty".to_owned(),
                    Some(Err(error)) => break told::<u8>(Err(error)),
                    None => break "away".to_owned(),
                }
            };
            note!(self.log, "  {index}: {end}");
        }
        self.known.waiting.set(0);
    }
}
