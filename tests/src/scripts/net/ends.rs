//! Ends of connections, and what a script does with them.

use super::line::{Conn, told};
use super::rt::{self, Interest};
use super::stream::{Stream, flags};
use cct_tests::fuzz::{Act, Place, Stage};
use cct_tests::note;
use std::future::poll_fn;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut};
use std::rc::Rc;

/// What a script's futures come to: text, for most of them.
pub(crate) enum Answer<S, A> {
    Text(String),
    /// A new end, its connection's client, and which side it is.
    Open(S, A, usize),
}

/// One end of a connection, whole or in halves.
pub(crate) struct End<S: Stream, A> {
    pub(crate) name: usize,
    pub(super) whole: Place<S>,
    reader: Place<S::Reader>,
    writer: Place<S::Writer>,
    pub(crate) conn: Rc<Conn<A>>,
    pub(crate) side: usize,
}

impl<S: Stream, A> Clone for End<S, A> {
    fn clone(&self) -> Self {
        End {
            name: self.name,
            whole: self.whole.clone(),
            reader: self.reader.clone(),
            writer: self.writer.clone(),
            conn: self.conn.clone(),
            side: self.side,
        }
    }
}

/// What is said when another future has the handle, or it is gone.
const AWAY: &str = "away";
/// What is said of writes whose success would depend on the size of buffers.
pub(super) const ENOUGH: &str = "enough";
pub(super) const SIZES: [usize; 7] = [1, 3, 100, 1000, 5000, 0, 20];
const ROOMS: [usize; 6] = [1, 4, 300, 20_000, 0, 1000];
const INTERESTS: [Interest; 6] = [
    Interest::READABLE,
    Interest::WRITABLE,
    Interest::READABLE.add(Interest::WRITABLE),
    Interest::ERROR,
    Interest::READABLE.add(Interest::ERROR),
    Interest::WRITABLE.add(Interest::ERROR),
];

pub(super) fn away() -> String {
    AWAY.to_owned()
}

impl<S: Stream, A: 'static> End<S, A> {
    pub(crate) fn new(name: usize, stream: S, conn: Rc<Conn<A>>, side: usize) -> Self {
        End {
            name,
            whole: Place::new(stream),
            reader: Place::empty(),
            writer: Place::empty(),
            conn,
            side,
        }
    }

    pub(crate) fn is_open(&self) -> bool {
        self.whole.is_taken() || self.reader.is_taken() || self.writer.is_taken()
    }

    pub(crate) fn is_peer_of(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.conn, &other.conn) && self.side != other.side
    }

    /// Looks at the stream, through whichever handle there is.
    pub(crate) fn look<R>(&self, f: impl FnOnce(&S) -> R) -> Option<R> {
        if self.whole.is_taken() {
            self.whole.look(f)
        } else if self.reader.is_taken() {
            self.reader.look(|reader| f(reader.as_ref()))
        } else {
            self.writer.look(|writer| f(writer.as_ref()))
        }
    }

    async fn share<R>(self, f: impl AsyncFnOnce(&S) -> R) -> Option<R> {
        if self.whole.is_taken() {
            self.whole.share(f).await
        } else if self.reader.is_taken() {
            let reader = self.reader.clone();
            reader.share(async |reader| f(reader.as_ref()).await).await
        } else {
            let writer = self.writer.clone();
            writer.share(async |writer| f(writer.as_ref()).await).await
        }
    }

    async fn read(self, room: usize) -> String {
        let mut buf = vec![0; room];
        let into = &mut buf;
        let result = if self.whole.is_taken() {
            self.whole.clone().alone(async |s| rt::read(s, into).await).await
        } else {
            self.reader.clone().alone(async |s| rt::read(s, into).await).await
        };
        self.heard(result, &buf, false)
    }

    /// Tells what a read came to.
    pub(super) fn heard(&self, result: Option<io::Result<usize>>, buf: &[u8], keep: bool) -> String {
        let line = &self.conn.lines[1 - self.side];
        match result {
            None => away(),
            Some(Ok(count)) => format!("{count}{}", line.got(&buf[..count], keep)),
            Some(Err(error)) => told::<u8>(Err(error)),
        }
    }

    async fn write(self, count: usize) -> String {
        let line = &self.conn.lines[self.side];
        if !line.has_room(count) {
            return ENOUGH.to_owned();
        }
        let buf = line.next(count);
        let result = if self.whole.is_taken() {
            self.whole.clone().alone(async |s| rt::write(s, &buf).await).await
        } else {
            self.writer.clone().alone(async |s| rt::write(s, &buf).await).await
        };
        let Some(result) = result else { return away() };
        line.wrote(&result);
        told(result)
    }

    async fn shut_down(self) -> String {
        let result = if self.whole.is_taken() {
            self.whole.alone(async |s| rt::shutdown(s).await).await
        } else {
            self.writer.alone(async |s| rt::shutdown(s).await).await
        };
        result.map_or_else(away, |result| told(result.map(|()| "done")))
    }

    async fn wait(self, how: usize) -> String {
        // When there is room again in a buffer that was filled is the kernel's business.
        let full = self.conn.lines[self.side].full.get();
        let interest = INTERESTS[how % INTERESTS.len()];
        if full && (interest.is_writable() || how % 9 >= 6) {
            return ENOUGH.to_owned();
        }
        let end = self.clone();
        let result = match how % 9 {
            6 => end.share(async |s| s.writable().await.map(|()| "w".to_owned())).await,
            7 => end.share(async |s| s.readable().await.map(|()| "r".to_owned())).await,
            8 => {
                let polled = poll_fn(|cx| match end.look(|s| s.poll_write_ready(cx)) {
                    None => std::task::Poll::Ready(None),
                    Some(poll) => poll.map(|ready| Some(ready.map(|()| "w".to_owned()))),
                });
                polled.await
            }
            0 => {
                let polled = poll_fn(|cx| match end.look(|s| s.poll_read_ready(cx)) {
                    None => std::task::Poll::Ready(None),
                    Some(poll) => poll.map(|ready| Some(ready.map(|()| "r".to_owned()))),
                });
                polled.await
            }
            _ => end.share(async |s| s.ready(interest).await.map(flags)).await,
        };
        result.map_or_else(away, told)
    }

    async fn peek(self, room: usize) -> String {
        let mut buf = vec![0; room];
        let into = &mut buf;
        match self.clone().share(async |s| s.peek(into).await).await {
            Some(None) => "cannot peek".to_owned(),
            Some(result) => self.heard(result, &buf, true),
            None => away(),
        }
    }

    fn try_read(&self, act: Act) -> String {
        let room = ROOMS[act.b(ROOMS.len())];
        let mut buf = vec![0; room];
        let (first, second) = buf.split_at_mut(if act.b >= 200 { room / 3 } else { room });
        let mut bufs = [IoSliceMut::new(first), IoSliceMut::new(second)];
        let bufs = if act.b >= 200 { &mut bufs[..] } else { &mut bufs[..1] };
        let result = self.look(|s| s.try_read(bufs));
        self.heard(result, &buf, false)
    }

    fn try_write(&self, act: Act) -> String {
        let line = &self.conn.lines[self.side];
        let count = SIZES[act.b(SIZES.len())];
        if !line.has_room(count) {
            return ENOUGH.to_owned();
        }
        let buf = line.next(count);
        let (first, second) = buf.split_at(if act.b >= 200 { count / 3 } else { count });
        let bufs = [IoSlice::new(first), IoSlice::new(second)];
        let bufs = if act.b >= 200 { &bufs[..] } else { &bufs[..1] };
        let result = self.look(|s| s.try_write(bufs));
        let Some(result) = result else { return away() };
        line.wrote(&result);
        told(result)
    }

    fn try_io(&self, act: Act) -> String {
        let interest = INTERESTS[act.b(INTERESTS.len())];
        if interest.is_writable() && self.conn.lines[self.side].full.get() {
            return ENOUGH.to_owned();
        }
        // Who says `WouldBlock` where there is something, or room, may wait for ever afterwards.
        let other = &self.conn.lines[1 - self.side];
        let lies = interest.is_writable() || other.written.get() != other.read.get();
        let result = match act.b % 5 {
            0 => Ok(7),
            2..=4 if !lies => Err(ErrorKind::WouldBlock.into()),
            _ => Err(ErrorKind::Other.into()),
        };
        self.look(|s| s.try_io(interest, result)).map_or_else(away, told)
    }

    /// Splits, puts together, drops or forgets.
    fn handle(&self, act: Act) -> String {
        match act.b % 8 {
            0..=2 => match self.whole.take() {
                Some(whole) => {
                    let (reader, writer) = whole.into_halves();
                    self.reader.put(reader);
                    self.writer.put(writer);
                    "split".to_owned()
                }
                None => self.reunite(),
            },
            3 => self.reunite(),
            4 => gone("reader", self.reader.take().map(drop)),
            5 => gone("writer", self.writer.take().map(drop)),
            6 => gone("forgotten writer", self.writer.take().map(S::forget)),
            _ => self.close(),
        }
    }

    fn reunite(&self) -> String {
        let reader = self.reader.take();
        match (reader, self.writer.take()) {
            (Some(reader), Some(writer)) => {
                let whole = S::reunite((reader, writer)).ok().expect("halves of one stream");
                self.whole.put(whole);
                "whole again".to_owned()
            }
            (reader, writer) => {
                reader.into_iter().for_each(|reader| self.reader.put(reader));
                writer.into_iter().for_each(|writer| self.writer.put(writer));
                away()
            }
        }
    }

    /// Drops whatever there is.
    pub(crate) fn close(&self) -> String {
        let whole = gone("whole", self.whole.take().map(drop));
        let reader = gone("reader", self.reader.take().map(drop));
        format!("{whole} {reader} {}", gone("writer", self.writer.take().map(drop)))
    }

    /// What a script may do with an end.
    pub(crate) async fn operation(
        &self,
        what: usize,
        act: Act,
        stage: &mut Stage<'static, Answer<S, A>>,
    ) {
        let (end, name, log) = (self.clone(), self.name, stage.log.clone());
        let (size, room) = (SIZES[act.b(SIZES.len())], ROOMS[act.b(ROOMS.len())]);
        match what {
            0..=3 => stage.put(act, format_args!("{name} writes {size}"), async move {
                Answer::Text(end.write(size).await)
            }),
            4..=7 => stage.put(act, format_args!("{name} reads {room}"), async move {
                Answer::Text(end.read(room).await)
            }),
            8 => stage.put(act, format_args!("{name} peeks {room}"), async move {
                Answer::Text(end.peek(room).await)
            }),
            9..=10 => stage.put(act, format_args!("{name} waits {}", act.b % 18), async move {
                Answer::Text(end.wait(usize::from(act.b % 18)).await)
            }),
            11 => stage.put(act, format_args!("{name} shuts down"), async move {
                Answer::Text(end.shut_down().await)
            }),
            12..=14 => note!(log, "  {name} tries to read: {}", self.try_read(act)),
            15..=17 => note!(log, "  {name} tries to write: {}", self.try_write(act)),
            18 => note!(log, "  {name} tries: {}", self.try_io(act)),
            19..=21 => note!(log, "  {name} handle: {}", self.handle(act)),
            22 => {
                let error = self.look(S::error).unwrap_or_else(away);
                note!(log, "  {name} error: {error}");
            }
            23 => {
                let other = self.look(|s| s.other(usize::from(act.b))).unwrap_or_else(away);
                note!(log, "  {name} other: {other}");
            }
            24 if act.b < 80 => note!(log, "  {name} fills: {}", self.fill().await),
            24 | 25 => note!(log, "  {name} drains: {}", self.drain().await),
            _ => note!(log, "  {name} both ways: {}", self.both_ways(act).await),
        }
    }
}

/// How many operations an end knows.
pub(crate) const OPERATIONS: usize = 27;

fn gone(what: &str, handle: Option<()>) -> String {
    handle.map_or_else(|| AWAY.to_owned(), |()| format!("no {what}"))
}
