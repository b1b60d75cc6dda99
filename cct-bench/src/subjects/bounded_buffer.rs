//! A bounded buffer with one condition variable for both "full" and "empty": the challenge that Tom
//! Cargill posted on Ward's wiki, as Coyote's sample `BoundedBuffer` has it.
//!
//! Bug: a notification wakes one waiter, and that may be one of the wrong kind, which goes back to
//! sleep; the one that could go on sleeps for ever. It shows as a deadlock.
//!
//! - `bounded-buffer`: 3 writers, started first, 5 readers of 2 items each, and 3 places, the most with
//!   which eight tasks can deadlock; with the main task that makes the 9 workers of the QL paper,
//!   whose port is not public. The sizes are a guess by the columns of the strategies that learn
//!   nothing: of all splits of eight tasks, 1 to 3 places, 1 to 10 items a reader, and either kind
//!   started first, it is the one nearest to the published figures for Random (12), PCT and delay
//!   bounding (0), of those that Random finds at all.
//! - `bounded-buffer-minimal`: one place, 2 readers of 5, 1 writer of 10, as in Coyote's test.
//! - `bounded-buffer-random`: size, readers, writers 1 to 5 and rounds 1 to 10 are data choices, as
//!   in Coyote's test.
//!
//! The points are P#'s, see `threads`. Fixed form: all waiters are notified.
//!
//! For custom abstractions it observes the contents of the buffer: who wrote what is in it.

use super::threads::{Condition, Crew, Lock};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity, nondet, observe};
use std::collections::VecDeque;
use std::sync::Arc;

struct Buffer {
    size: usize,
    notifies_all: bool,
    lock: Lock,
    changed: Condition,
    contents: Shared<VecDeque<u32>>,
}

impl Buffer {
    async fn put(&self, item: u32) {
        self.lock.acquire().await;
        while self.contents.with(|contents| contents.len()) == self.size {
            self.changed.wait(&self.lock).await;
        }
        self.change(|contents| contents.push_back(item));
        self.lock.release().await;
    }

    async fn take(&self) {
        self.lock.acquire().await;
        while self.contents.with(|contents| contents.is_empty()) {
            self.changed.wait(&self.lock).await;
        }
        self.change(|contents| {
            contents.pop_front();
        });
        self.lock.release().await;
    }

    fn change(&self, f: impl FnOnce(&mut VecDeque<u32>)) {
        self.contents.with(|contents| {
            f(contents);
            observe("buffer", &*contents);
        });
        if self.notifies_all {
            self.changed.notify_all();
        } else {
            self.changed.notify_one();
        }
    }
}

#[derive(Clone, Copy)]
struct Load {
    size: u32,
    readers: u32,
    writers: u32,
    /// Items that each reader takes.
    rounds: u32,
    writers_first: bool,
}

/// Items are split evenly, and the last writer writes the rest.
async fn start_writers(crew: &Crew, buffer: &Arc<Buffer>, load: Load) {
    let (items, writers) = (load.readers * load.rounds, load.writers);
    for writer in 0..writers {
        let rest = if writer + 1 == writers {
            items % writers
        } else {
            0
        };
        let share = items / writers + rest;
        let buffer = buffer.clone();
        let work = async move {
            for _ in 0..share {
                buffer.put(writer).await;
            }
        };
        crew.start(work).await;
    }
}

async fn run(load: Load, notifies_all: bool) {
    let Load {
        size,
        readers,
        rounds,
        ..
    } = load;
    let buffer = Arc::new(Buffer {
        size: size as usize,
        notifies_all,
        lock: Lock::new(),
        changed: Condition::new(),
        contents: Shared::default(),
    });
    let crew = Crew::new();
    if load.writers_first {
        start_writers(&crew, &buffer, load).await;
    }
    for _ in 0..readers {
        let buffer = buffer.clone();
        let work = async move {
            for _ in 0..rounds {
                buffer.take().await;
            }
        };
        crew.start(work).await;
    }
    if !load.writers_first {
        start_writers(&crew, &buffer, load).await;
    }
    crew.join().await;
}

const MINIMAL: Load = Load {
    size: 1,
    readers: 2,
    writers: 1,
    rounds: 5,
    writers_first: false,
};

const NINE_WORKERS: Load = Load {
    size: 3,
    readers: 5,
    writers: 3,
    rounds: 2,
    writers_first: true,
};

fn scenario(load: Load, notifies_all: bool) -> Scenario {
    Box::pin(run(load, notifies_all))
}

fn random(notifies_all: bool) -> Scenario {
    Box::pin(async move {
        let load = Load {
            size: 1 + nondet::choose(5),
            readers: 1 + nondet::choose(5),
            writers: 1 + nondet::choose(5),
            rounds: 1 + nondet::choose(10),
            writers_first: false,
        };
        run(load, notifies_all).await;
    })
}

pub(crate) const BOUNDED_BUFFER: Subject = Subject {
    name: "bounded-buffer",
    about: "a notification wakes a waiter of the wrong kind: deadlock; 5 readers, 3 writers",
    standing: Standing::Model,
    workers: 9,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| scenario(NINE_WORKERS, false),
    fixed: Some(|_| scenario(NINE_WORKERS, true)),
    targets: &[],
    published: &Published::ql2([0.0, 53.0, 12.0, 36.0, 0.0, 0.0, 0.0, 0.0]),
};

pub(crate) const BOUNDED_BUFFER_MINIMAL: Subject = Subject {
    name: "bounded-buffer-minimal",
    about: "a notification wakes a waiter of the wrong kind: deadlock; 2 readers, 1 writer",
    standing: Standing::Variant,
    workers: 4,
    scenario: |_| scenario(MINIMAL, false),
    fixed: Some(|_| scenario(MINIMAL, true)),
    published: &[],
    ..BOUNDED_BUFFER
};

pub(crate) const BOUNDED_BUFFER_RANDOM: Subject = Subject {
    name: "bounded-buffer-random",
    about: "a notification wakes a waiter of the wrong kind: deadlock; sizes are data choices",
    standing: Standing::Variant,
    workers: 11,
    scenario: |_| random(false),
    fixed: Some(|_| random(true)),
    published: &[],
    ..BOUNDED_BUFFER
};
