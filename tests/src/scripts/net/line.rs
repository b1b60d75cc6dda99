//! What goes over a connection: bytes that tell their place, so that readers notice what is lost,
//! doubled or out of order, however much a kernel takes at once.

use std::cell::{Cell, RefCell};
use std::fmt::{Debug, Display};
use std::io;
use std::rc::Rc;

/// After so many bytes they begin again.
const PERIOD: usize = 1 << 16;
/// The most that one write or read is about.
const MOST: usize = 1 << 20;

thread_local! {
    static BYTES: Rc<[u8]> = (0..PERIOD + MOST)
        .map(|at| (at % PERIOD * 7 + at % PERIOD / 251) as u8)
        .collect();
}

/// Bytes that no reader needs to make room for, on any system.
const FEW: usize = 16 << 10;
/// Writes of which this is true as well.
const FEW_WRITES: usize = 40;

/// One direction of a connection.
#[derive(Debug, Default)]
pub(crate) struct Line {
    pub(crate) written: Cell<usize>,
    pub(crate) read: Cell<usize>,
    writes: Cell<usize>,
    /// Nothing more goes in, and how much did is the kernel's secret.
    pub(crate) full: Cell<bool>,
}

impl Line {
    /// Whether both kernels take that much.
    pub(crate) fn has_room(&self, count: usize) -> bool {
        let unread = self.written.get() - self.read.get();
        if unread == 0 {
            self.writes.set(0);
        }
        !self.full.get() && unread + count <= FEW && self.writes.get() < FEW_WRITES
    }

    /// The next bytes to write.
    pub(crate) fn next(&self, count: usize) -> Vec<u8> {
        expected(self.written.get(), count)
    }

    /// A write is over.
    pub(crate) fn wrote(&self, result: &io::Result<usize>) {
        if let Ok(count) = result {
            self.written.set(self.written.get() + count);
            self.writes.set(self.writes.get() + 1);
        }
    }

    /// Bytes were read, or only looked at.
    pub(crate) fn got(&self, bytes: &[u8], keep: bool) -> &'static str {
        let at = self.read.get();
        if !keep {
            self.read.set(at + bytes.len());
        }
        match expected(at, bytes.len()) == bytes {
            true => "",
            false => " of the wrong bytes",
        }
    }
}

fn expected(at: usize, count: usize) -> Vec<u8> {
    let at = at % PERIOD;
    BYTES.with(|bytes| bytes[at..at + count].to_vec())
}

/// A connection, as both ends know it.
#[derive(Debug)]
pub(crate) struct Conn<A> {
    pub(crate) client: A,
    /// What each side writes: first that which connected.
    pub(crate) lines: [Line; 2],
    taken: [Cell<bool>; 2],
}

/// The connections of a script.
#[derive(Debug)]
pub(crate) struct Conns<A>(RefCell<Vec<Rc<Conn<A>>>>);

impl<A> Default for Conns<A> {
    fn default() -> Self {
        Conns(RefCell::default())
    }
}

impl<A: PartialEq> Conns<A> {
    /// The connection of a new end.
    pub(crate) fn of(&self, client: A, side: usize) -> Rc<Conn<A>> {
        let mut all = self.0.borrow_mut();
        let known = all
            .iter()
            .rfind(|conn| conn.client == client && !conn.taken[side].get());
        let conn = known.cloned().unwrap_or_else(|| {
            let conn = Rc::new(Conn {
                client,
                lines: Default::default(),
                taken: Default::default(),
            });
            all.push(conn.clone());
            conn
        });
        conn.taken[side].set(true);
        conn
    }
}

/// A value, or the kind of an error; its number where it has no kind.
pub(crate) fn told<T: Display>(result: io::Result<T>) -> String {
    match result {
        Ok(value) => value.to_string(),
        Err(error) => match format!("{:?}", error.kind()) {
            kind if kind == "Uncategorized" => format!("{:?}", error.raw_os_error()),
            kind => kind,
        },
    }
}

/// As [`told`], for what has no other text.
pub(crate) fn shown<T: Debug>(result: io::Result<T>) -> String {
    told(result.map(|value| format!("{value:?}")))
}
