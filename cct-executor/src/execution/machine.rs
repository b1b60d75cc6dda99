//! What tasks wait for that is the machine's, such as the end of a process, in a world whose run nobody will ask for again.
//!
//! 1. It is looked for while nothing else can go on, and every so many steps.
//! 2. As long as anybody waits so, time is the machine's: it goes to no timer before its time. So it is from then on that a
//!    process was started: it may have left others behind, and be waited for by looking at what it does.

use super::core::Core;
use super::helpers::LOOK;
use super::world::{WORLD, World};
use crate::raw::shared::Home;
use crate::words::FailureKind;
use cct_interpose::threads_started;
use std::fmt::Display;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::Waker;
use std::time::Duration;

/// How long a thread that the program has started has to connect to where a poll accepts.
const FOR_THREADS: Duration = Duration::from_secs(1);

/// Worlds that go on for ever look the more seldom the longer nothing has happened: after this part of that time, or so much.
const LAZY: u32 = 32;
const LOOK_MAX: Duration = Duration::from_millis(20);

/// Says whether what a task waits for is there.
pub(crate) type IsThere = Box<dyn FnMut() -> bool + Send>;

struct Awaited {
    number: u64,
    waker: Waker,
    is_there: IsThere,
}

/// What may happen at any time, and has something done here then.
struct Watched {
    has_happened: IsThere,
    act: Arc<dyn Fn() + Send + Sync>,
}

/// What is waited for.
#[derive(Default)]
pub(super) struct Machine {
    awaited: Vec<Awaited>,
    watched: Vec<Watched>,
    /// What is to be done there until it says that it is over, and nobody waits for.
    chores: Vec<IsThere>,
    numbers: u64,
    /// Nobody is left whom the world is for, but others may ask it at any time.
    is_for_ever: bool,
}

/// This process is a program that somebody has started for what it does: see [`is_a_program`].
static PROGRAM: AtomicBool = AtomicBool::new(false);

/// From now on this process is a program that somebody has started for what it does: its worlds that are open go by the
/// machine's time, and wait for what happens there for as long as it takes.
pub(crate) fn is_a_program() {
    PROGRAM.store(true, Ordering::Relaxed);
}

pub(super) fn in_a_program() -> bool {
    PROGRAM.load(Ordering::Relaxed)
}

/// The same for the world of this thread alone, which goes on for good behind the code that it was around.
pub(crate) fn goes_on_for_ever() {
    WORLD.with(|world| world.with(|core, _| core.machine.is_for_ever = true));
}

impl Machine {
    /// Whether anything is.
    pub(super) fn is_awaited(&self) -> bool {
        !self.awaited.is_empty()
    }

    /// When it is looked again, after a wait of so long. There may be many worlds that go on for ever, and nobody asks them any more.
    pub(super) fn look_after(&self, waited: Duration) -> Duration {
        match self.is_for_ever {
            true => LOOK.max((waited / LAZY).min(LOOK_MAX)),
            false => LOOK,
        }
    }

    /// Whether anything is looked for that may happen at any time.
    pub(super) fn is_watched(&self) -> bool {
        !self.watched.is_empty()
    }
}

impl Core {
    /// Whether the world goes by the machine's time, and waits for what happens there for as long as it takes.
    pub(super) fn is_the_machines(&self) -> bool {
        in_a_program() || self.machine.is_for_ever
    }

    /// Somebody waits for what is the machine's. Returns a number to say that it is over.
    pub(crate) fn await_machine(&mut self, waker: Waker, is_there: IsThere) -> u64 {
        self.machine.numbers += 1;
        let number = self.machine.numbers;
        self.machine.awaited.push(Awaited {
            number,
            waker,
            is_there,
        });
        number
    }

    /// Whoever has this number waits no longer. Returns what is to be dropped where the world is nobody's.
    pub(crate) fn await_machine_no_longer(&mut self, number: u64) -> Option<impl Sized + use<>> {
        let awaited = &mut self.machine.awaited;
        let at = awaited.iter().position(|it| it.number == number)?;
        Some(awaited.swap_remove(at))
    }

    /// A poll would block for good. Returns whether the iteration has failed for it, and not for anything before.
    fn refuse_to_accept(&mut self) -> bool {
        let is_first = self.end.is_none();
        self.fail(FailureKind::Panic {
            message: "an `accept` of `std::net` waits for a connection, while which no other task goes on: use the listeners \
                      of tokio (or of cct_net)"
                .to_owned(),
            location: None,
        });
        is_first
    }

    /// `act` is called by the world's thread, between two steps, whenever something has happened.
    pub(crate) fn watch_machine(
        &mut self,
        has_happened: IsThere,
        act: Arc<dyn Fn() + Send + Sync>,
    ) {
        self.machine.watched.push(Watched { has_happened, act });
    }

    /// `is_done` is called now and then, until it says that it is.
    pub(crate) fn see_to_machine(&mut self, is_done: IsThere) {
        self.machine.chores.push(is_done);
    }

    /// Has those woken for whom it is there.
    pub(super) fn look_at_machine(&mut self, home: &'static Home) {
        let Machine {
            awaited,
            watched,
            chores,
            ..
        } = &self.machine;
        let any = !(awaited.is_empty() && watched.is_empty() && chores.is_empty());
        let Some(serial) = self.open.filter(|_| any) else {
            return;
        };
        self.machine.chores.retain_mut(|is_done| !is_done());
        for it in &mut self.machine.watched {
            if (it.has_happened)() {
                let act = it.act.clone();
                Home::leave(serial, Box::new(move || act()));
            }
        }
        let awaited = std::mem::take(&mut self.machine.awaited);
        let (mut there, mut later) = (Vec::new(), Vec::new());
        home.aside(|| {
            for mut it in awaited {
                let found = (it.is_there)();
                if found { &mut there } else { &mut later }.push(it);
            }
        });
        self.machine.awaited = later;
        for Awaited {
            waker, is_there, ..
        } in there
        {
            let job = move || {
                drop(is_there);
                waker.wake();
            };
            Home::leave(serial, Box::new(job));
        }
    }
}

impl World {
    /// Something of the machine's was asked for and refused.
    pub(crate) fn refuse_machine(&self, what: &dyn Display) {
        if self.recording.get() && self.is_running() {
            self.with(|core, _| {
                if let Some(recorder) = &mut core.recorder {
                    recorder.refused_machine(what.to_string());
                }
            });
        }
    }

    /// The thread would block until somebody connects to a socket of the machine's. Nobody in this world could, unless it is
    /// open: others do not go on before.
    pub(super) fn may_accept(&self, connects: &mut dyn FnMut(Duration) -> bool) -> bool {
        let patience = match threads_started().live {
            0 => Duration::ZERO,
            _ => FOR_THREADS,
        };
        if self.open.get() || connects(patience) {
            return true;
        }
        self.refuse_machine(&"a connection to a socket of `std::net`");
        // Who tries again does so for ever.
        self.is_running() && !self.with(|core, _| core.refuse_to_accept())
    }
}
