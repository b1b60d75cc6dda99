//! Unix streams: pairs, listeners at paths, connections.

use super::ends::{Answer, End, OPERATIONS};
use super::line::{Conns, told};
use super::rt::{self, Directory, UnixListener, UnixStream};
use cct_tests::fuzz::{Act, Place, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::path::PathBuf;
use std::rc::Rc;
use std::task::Poll;

/// A connection has a number, as its client has no name.
type Opened = Answer<UnixStream, u32>;

const ENDS: usize = 8;
const PATHS: usize = 3;
/// Connections that any listener has room for.
const BACKLOG: usize = 8;

/// What waits at a listener.
type Queue = Rc<RefCell<VecDeque<u32>>>;

struct Table {
    log: Log,
    directory: Directory,
    stage: Stage<'static, Opened>,
    conns: Conns<u32>,
    numbers: u32,
    ends: Vec<End<UnixStream, u32>>,
    names: usize,
    listeners: Vec<(Place<UnixListener>, Queue)>,
    /// The queue that each path leads to.
    bound: Rc<RefCell<[Option<Queue>; PATHS]>>,
    connects: usize,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut table = Table {
        stage: Stage::new(&log).as_a_set(),
        log,
        directory: Directory::new(),
        conns: Conns::default(),
        numbers: 0,
        ends: Vec::new(),
        names: 0,
        listeners: Vec::new(),
        bound: Rc::default(),
        connects: 0,
    };
    table.pair();
    rt::settle().await;
    for act in script.acts {
        match table.stage.turn(act) {
            Turn::Ready(Answer::Text(text)) => note!(table.log, "    {text}"),
            Turn::Ready(Answer::Open(stream, number, side)) => table.open(stream, number, side),
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
            let Some(index) = act.pick(&self.ends) else {
                return;
            };
            let end = self.ends[index].clone();
            return end.operation(what % OPERATIONS, act, &mut self.stage).await;
        }
        match (what - of_ends) % 16 {
            0..=3 => self.pair(),
            4..=5 => self.listen(act),
            6..=8 => self.connect(act),
            9..=11 => self.accept(act),
            12 => {
                if let Some(index) = act.pick(&self.listeners) {
                    let dropped = self.listeners[index].0.take().is_some();
                    note!(self.log, "  no listener {index}: {dropped}");
                }
            }
            13 => self.unlink(act),
            _ => self.transfer(act).await,
        }
    }

    fn path(&self, act: Act) -> (usize, PathBuf) {
        let index = act.a(PATHS);
        (index, self.directory.path().join(format!("{index}")))
    }

    fn open(&mut self, stream: UnixStream, number: u32, side: usize) {
        let name = self.names;
        self.names += 1;
        note!(self.log, "    end {name} on side {side}");
        let conn = self.conns.of(number, side);
        self.ends.push(End::new(name, stream, conn, side));
    }

    fn number(&mut self) -> u32 {
        self.numbers += 1;
        self.numbers
    }

    fn pair(&mut self) {
        if self.ends.len() + 2 > ENDS {
            return;
        }
        let (one, two) = UnixStream::pair().expect("there always is one");
        let number = self.number();
        self.open(one, number, 0);
        self.open(two, number, 1);
    }

    fn listen(&mut self, act: Act) {
        let (path, at) = self.path(act);
        match UnixListener::bind(at) {
            Ok(listener) => {
                note!(self.log, "  listener {} at {path}", self.listeners.len());
                let queue = Queue::default();
                self.bound.borrow_mut()[path] = Some(queue.clone());
                self.listeners.push((Place::new(listener), queue));
            }
            Err(error) => note!(self.log, "  bind {path}: {}", told::<u8>(Err(error))),
        }
    }

    fn connect(&mut self, act: Act) {
        if self.ends.len() >= ENDS || self.connects >= BACKLOG {
            return;
        }
        self.connects += 1;
        let ((path, at), number) = (self.path(act), self.number());
        let bound = self.bound.clone();
        self.stage.put(act, format_args!("connect to {path}"), async move {
            let mut connect = Box::pin(UnixStream::connect(at));
            // The listener has the connection from the first poll on, whatever becomes of the future.
            let first = poll_fn(|cx| Poll::Ready(connect.as_mut().poll(cx))).await;
            if !matches!(first, Poll::Ready(Err(_))) {
                let queue = bound.borrow()[path].clone();
                queue.unwrap_or_default().borrow_mut().push_back(number);
            }
            let connected = match first {
                Poll::Ready(connected) => connected,
                Poll::Pending => connect.await,
            };
            match connected {
                Ok(stream) => Answer::Open(stream, number, 0),
                Err(error) => Answer::Text(told::<u8>(Err(error))),
            }
        });
    }

    fn accept(&mut self, act: Act) {
        let Some(index) = act.pick(&self.listeners) else {
            return;
        };
        if self.ends.len() >= ENDS {
            return;
        }
        self.connects = self.connects.saturating_sub(1);
        let (place, queue) = self.listeners[index].clone();
        self.stage.put(act, format_args!("accept at {index}"), async move {
            let accepted = place.share(async |listener| listener.accept().await);
            match accepted.await {
                None => Answer::Text("away".to_owned()),
                Some(Ok((stream, _))) => {
                    let number = queue.borrow_mut().pop_front();
                    Answer::Open(stream, number.unwrap_or(0), 1)
                }
                Some(Err(error)) => Answer::Text(told::<u8>(Err(error))),
            }
        });
    }

    fn unlink(&mut self, act: Act) {
        let (path, at) = self.path(act);
        let done = told(rt::unlink(&at).map(|()| "done"));
        note!(self.log, "  unlink {path}: {done}");
        self.bound.borrow_mut()[path] = None;
    }

    /// Much, from one end to the other.
    async fn transfer(&mut self, act: Act) {
        let Some(index) = act.pick(&self.ends) else {
            return;
        };
        let from = &self.ends[index];
        let Some(to) = self.ends.iter().find(|end| end.is_peer_of(from)) else {
            return;
        };
        let count = [20_000, 200_000, 1 << 19][act.b(3)];
        let done = from.transfer(to, count).await;
        note!(self.log, "  {} to {}: {done}", from.name, to.name);
    }
}
