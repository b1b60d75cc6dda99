//! What a thread has in the place of the system, while it runs a world.

use crate::symbols::{Clockwork, Word, clockwork, find_parker, set_clockwork};
use std::cell::Cell;
use std::io::{self, IoSlice, IoSliceMut};
use std::net::{IpAddr, Shutdown, SocketAddr};
use std::path::Path;
use std::time::Duration;

/// What a thread does in the place of what the system would.
#[derive(Clone, Copy, Debug)]
pub struct System {
    /// Called where the thread would block until the word changes, or for so long.
    pub wait: fn(Word, Option<Duration>) -> Waited,
    /// Called where so many of those who wait for the word are to be woken. Returns how many were.
    pub wake: fn(Word, u32) -> u32,
    /// Called where the thread would sleep for so long. Returns whether it need not.
    pub sleep: fn(Duration) -> bool,
    /// Called where the thread would let others go first. Returns whether it has.
    pub give_way: fn() -> bool,
    /// Called where the thread would block until another one has ended, or until the machine has something for it, with
    /// what says whether it has. Returns whether it has been waited for.
    pub join: fn(&mut dyn FnMut() -> bool) -> bool,
    /// Called where the thread blocks for what [`join`](Self::join) has not waited for, and when it goes on.
    pub blocks: fn(Blocks),
    /// Called where the thread would block until somebody connects to a socket of the machine's, with what waits for that
    /// for so long at most, and says whether anybody has. Returns whether it may.
    pub accepts: fn(&mut dyn FnMut(Duration) -> bool) -> bool,
    /// Called before an atomic operation of instrumented code.
    pub atomic: fn(Atomic),
    /// How much time clocks show to have passed since zero.
    pub clock: fn() -> Duration,
    /// The same, without a look at them.
    pub unlooked: fn() -> Duration,
    /// As [`clock`](Self::clock), for a thread that is about to be started and may take part: its clocks go on from there, by the machine's.
    pub start: fn() -> Duration,
    /// Called where the thread does something with the file at a path. Returns what was there if that is none of the
    /// machine's files, and has done it.
    pub file: fn(&Path, OnFile<'_>) -> Option<SocketFile>,
    /// Called where the thread does something with a socket by its descriptor, with the number of its inode. Returns what
    /// came of it if the socket is not the machine's.
    pub socket: fn(u64, OnSocket<'_>) -> Option<io::Result<Moved>>,
    /// Called where the thread sends its own process a signal, with whether the process has a handler for it,
    /// or ignores it. Returns whether it need not.
    pub signal: fn(i32, bool) -> bool,
}

impl System {
    /// Nothing is done in the place of the system, and clocks stand at zero.
    pub const AS_EVER: System = System {
        wait: |_, _| Waited::No,
        wake: |_, _| 0,
        sleep: |_| false,
        give_way: || false,
        join: |_| false,
        blocks: |_| {},
        accepts: |_| true,
        atomic: |_| {},
        clock: || Duration::ZERO,
        unlooked: || Duration::ZERO,
        start: || Duration::ZERO,
        file: |_, _| None,
        socket: |_, _| None,
        signal: |_, _| false,
    };
}

/// What a thread blocks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[repr(u8)]
pub enum Blocks {
    /// It does not.
    #[default]
    No,
    /// Another thread has ended.
    Thread,
    /// The machine has something for it: a socket is ready, a pipe, a process has ended, a file is locked.
    Machine,
}

impl Blocks {
    /// The one that `as u8` makes this number of; [`No`](Self::No) if none.
    pub fn from_number(number: u8) -> Blocks {
        let all = [Blocks::Thread, Blocks::Machine];
        let found = all.into_iter().find(|&one| one as u8 == number);
        found.unwrap_or_default()
    }
}

/// Whom a thread asks the machine to connect it to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Peer<'a> {
    /// A socket of IP.
    Address(SocketAddr),
    /// A Unix socket.
    Path(&'a Path),
}

/// Where a thread is to connect that asks the machine for a connection.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Toward {
    /// Where it wants to.
    There,
    /// To this address instead.
    Instead(SocketAddr),
    /// Nowhere: it is refused.
    Nobody,
    /// Nowhere by the kernel: it has begun, for who does not wait, and somebody else sees to it.
    Elsewhere,
}

/// What is done with a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum OnFile<'a> {
    /// Its metadata are looked at.
    Look,
    /// It is removed from its folder.
    Remove,
    /// Its permissions are set to these bits.
    SetMode(u32),
    /// It gets this path.
    Rename(&'a Path),
}

/// The file of a socket that is none of the machine's.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SocketFile {
    /// Tells it from all others.
    pub number: u64,
    /// Its permission bits.
    pub mode: u32,
    /// When it was made, since 1970.
    pub made: Duration,
}

/// What is done with a socket.
#[derive(Debug)]
pub enum OnSocket<'a> {
    /// Something is sent.
    Send(Sending<'a>),
    /// Something is received into these, one after the other.
    Receive {
        /// What does not fit is lost.
        into: &'a mut [IoSliceMut<'a>],
        /// It stays where it is.
        peek: bool,
        /// For how long the thread may wait for it.
        patience: Duration,
    },
    /// It is asked for its own address.
    Local,
    /// It is asked for the address that it is connected to.
    Peer,
    /// These of its directions are shut down.
    Shutdown(Shutdown),
}

impl OnSocket<'_> {
    /// From now on it is done at once, or not at all.
    pub fn waits_no_longer(&mut self) {
        match self {
            OnSocket::Send(sending) => sending.patience = Duration::ZERO,
            OnSocket::Receive { patience, .. } => *patience = Duration::ZERO,
            OnSocket::Local | OnSocket::Peer | OnSocket::Shutdown(_) => {}
        }
    }
}

/// What is sent, and how.
#[derive(Clone, Copy, Debug)]
pub struct Sending<'a> {
    /// One after the other.
    pub parts: &'a [IoSlice<'a>],
    /// Whom to, if that is not whom the socket is connected to.
    pub to: Option<SocketAddr>,
    /// The address that receivers see, if that is not the socket's choice.
    pub from: Option<IpAddr>,
    /// The length of the pieces that it is sent in, if not in one.
    pub pieces: Option<usize>,
    /// For how long the thread may wait until there is room.
    pub patience: Duration,
}

/// What came of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Moved {
    /// How many bytes were sent, or there were to receive.
    pub bytes: usize,
    /// Who has sent them; the address that was asked for.
    pub address: Option<SocketAddr>,
    /// The address that they were sent to.
    pub to: Option<IpAddr>,
}

/// What an atomic operation does.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Atomic {
    /// It looks.
    Load,
    /// It may change what is there.
    Change,
    /// It counts one more or one less, as references are counted.
    Count,
    /// It is one of a loop that waits for another thread: many before it have found the same and changed nothing.
    InVain,
}

/// Threads that a thread has started, and processes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ThreadsStarted {
    /// How many there ever were.
    pub ever: u64,
    /// How many have not ended.
    pub live: u64,
    /// How many processes it has ever started, or threads counted with its own.
    pub processes: u64,
    /// What the clock shows that is furthest of those that have ended (see [`clocks_outside`](crate::clocks_outside)).
    pub furthest: Duration,
    /// How many threads of the process have not ended that were started under control, by whichever thread, or by one
    /// that was: those of a pool that is made once for all, among others.
    pub controlled: u64,
    /// How many of those have waited for some time to pass, or for somebody no longer than that.
    pub timed: u64,
    /// How many have not ended that are counted for any thread: all but those of the harness and of the engine.
    pub anywhere: u64,
}

/// What a thread does when its body has ended, before it ends.
#[derive(Clone, Copy, Debug)]
pub struct Stay {
    /// Called on the thread. Returns whether it has to stay, as others have something that needs it.
    pub needed: fn() -> bool,
    /// Called on the thread, if it has to. Whoever joins it meanwhile finds that it has ended.
    pub stay: fn(),
    /// Called before that on a thread that is not counted: one of the harness's.
    pub ended: fn(),
}

/// What became of a wait.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Waited {
    /// Nothing: the thread has to block.
    No,
    /// The word has changed, or may have.
    Changed,
    /// The time is over.
    TimedOut,
}

/// What the clocks of a thread show at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Clocks {
    /// Since [`instant_zero`](crate::instant_zero).
    pub monotonic: Duration,
    /// Since 1970.
    pub wall: Duration,
}

impl Clocks {
    /// As a world begins that has nothing to do with what was before it: November 2026 begins (UTC). The same on every
    /// machine, and hardly older than this code: certificates that tests bring along would not be valid yet.
    pub const ZERO: Clocks = Clocks {
        monotonic: Duration::ZERO,
        wall: Duration::from_secs(1_793_491_200),
    };
}

/// What a thread has in the place of the system, and its clocks where there is no world: for another thread to have it for a
/// while. That of no world by default.
#[derive(Debug)]
pub struct Place {
    system: Option<System>,
    zero: Clocks,
    clockwork: Clockwork,
}

impl Default for Place {
    fn default() -> Place {
        Place {
            system: None,
            zero: Clocks::ZERO,
            clockwork: clockwork(),
        }
    }
}

impl Place {
    /// This thread has this from here on, and this what the thread had.
    pub fn exchange(&mut self) {
        if self.system.is_some() {
            // As at the beginning of a world.
            find_parker();
        }
        self.system = SYSTEM.replace(self.system);
        self.zero = ZERO.replace(self.zero);
        let before = clockwork();
        set_clockwork(self.clockwork);
        self.clockwork = before;
    }
}

thread_local! {
    static SYSTEM: Cell<Option<System>> = const { Cell::new(None) };
    static ZERO: Cell<Clocks> = const { Cell::new(Clocks::ZERO) };
}

/// What the clocks of this thread show when no time has passed.
pub(crate) fn zero() -> Clocks {
    ZERO.get()
}

pub(crate) fn set_zero(clocks: Clocks) {
    ZERO.set(clocks);
}

pub(crate) fn set(system: Option<System>) {
    SYSTEM.set(system);
}

pub(crate) fn get() -> Option<System> {
    SYSTEM.get()
}
