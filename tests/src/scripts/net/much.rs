//! What an end does that takes its time: more than buffers hold, or in both directions. It comes to its
//! end by itself.

use super::ends::{ENOUGH, End, SIZES, away};
use super::line::told;
use super::rt;
use super::stream::Stream;
use cct_tests::fuzz::Act;
use std::io::{ErrorKind, IoSlice, IoSliceMut};

const CHUNK: usize = 4000;

impl<S: Stream, A: 'static> End<S, A> {
    /// Borrowed halves.
    pub(super) async fn both_ways(&self, act: Act) -> String {
        let line = &self.conn.lines[self.side];
        let count = SIZES[act.b(SIZES.len())];
        // It waits for what it reads.
        let other = &self.conn.lines[1 - self.side];
        if !line.has_room(count) || other.written.get() == other.read.get() {
            return ENOUGH.to_owned();
        }
        let (out, mut into) = (line.next(count), vec![0; 1000]);
        let both = self.whole.clone().alone(async |s| s.both_ways(&out, &mut into).await).await;
        let Some([wrote, read]) = both else { return away() };
        line.wrote(&wrote);
        format!("{} {}", told(wrote), self.heard(Some(read), &into, false))
    }

    /// Writes until there is no room at all.
    pub(super) async fn fill(&self) -> String {
        let line = &self.conn.lines[self.side];
        if line.full.get() {
            return ENOUGH.to_owned();
        }
        let (before, mut idle) = (line.written.get(), 0);
        while idle < 2 {
            let buf = line.next(CHUNK);
            let Some(result) = self.look(|s| s.try_write(&[IoSlice::new(&buf)])) else {
                return away();
            };
            line.wrote(&result);
            match result {
                Ok(_) => {
                    // The other end may have something to say.
                    if idle == 0 && line.written.get() - before <= CHUNK {
                        rt::settle().await;
                    }
                    idle = 0;
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => idle += 1,
                Err(error) => {
                    // How much went before is nobody's business any more.
                    line.written.set(line.read.get());
                    return told::<u8>(Err(error));
                }
            }
            if idle > 0 {
                rt::settle().await;
            }
        }
        line.full.set(true);
        "full".to_owned()
    }

    /// Reads everything that was written.
    pub(super) async fn drain(&self) -> String {
        let line = &self.conn.lines[1 - self.side];
        let mut buf = vec![0; 1 << 16];
        let (mut wrong, mut idle) = ("", 0);
        let end = loop {
            let Some(result) = self.look(|s| s.try_read(&mut [IoSliceMut::new(&mut buf)])) else {
                return away();
            };
            match result {
                Ok(0) => break "the end".to_owned(),
                Ok(count) => wrong = [wrong, line.got(&buf[..count], false)].into_iter().max().unwrap_or(""),
                Err(error) if error.kind() == ErrorKind::WouldBlock && idle < 3 => {
                    idle += 1;
                    rt::settle().await;
                }
                Err(error) => break told::<u8>(Err(error)),
            }
        };
        line.full.set(false);
        let all = line.read.get() == line.written.get();
        match all || end == "WouldBlock" {
            true => format!("all: {all}, {end}{wrong}"),
            // How much came before a reset is the kernel's business.
            false => format!("some, {end}{wrong}"),
        }
    }

    /// Writes as much as no buffer holds, while the other end reads it.
    pub(crate) async fn transfer(&self, to: &Self, count: usize) -> String {
        let line = &self.conn.lines[self.side];
        // Only where it comes to its end on its own.
        if line.full.get() || !self.whole.is_free() || !to.whole.is_free() {
            return ENOUGH.to_owned();
        }
        let bytes = line.next(count);
        let mut into = vec![0; count + line.written.get() - line.read.get()];
        let writing = async {
            let wrote = self.whole.clone().alone(async |s| rt::write_all(s, &bytes).await).await;
            let wrote = wrote.unwrap_or(Ok(())).map(|()| count);
            line.wrote(&wrote);
            told(wrote)
        };
        let reading = async {
            let read = to.whole.clone().alone(async |s| rt::read_exact(s, &mut into).await).await;
            read.unwrap_or(Ok(()))
        };
        // Who waited to read before does not, whenever tokio hears of the bytes.
        let (read, wrote) = futures::join!(reading, writing);
        let read = match read {
            Ok(()) => format!("all{}", line.got(&into, false)),
            Err(error) => {
                line.read.set(line.written.get());
                told::<u8>(Err(error))
            }
        };
        format!("{wrote} {read}")
    }
}
