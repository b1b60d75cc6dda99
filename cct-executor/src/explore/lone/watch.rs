//! Ends the process when the code around which there is a world has come to a standstill.
//!
//! Such code may wait for a thread that it has started, and that thread for a runtime that it cannot use, as in an
//! iteration among many. On tokio it would go on; here nobody could unwind it, as it waits for something outside of
//! the world, and the harness would wait for it for ever. So it would for a poll that does not return.

use crate::execution::run;
use crate::explore::processor::{Processor, TICKS};
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often it is looked.
const NAP: Duration = Duration::from_secs(1);

/// The exit status of a process for one iteration in which the code stands still.
pub(in crate::explore) const STANDS_STILL: i32 = 86;
/// The same, in which a poll does not return.
pub(in crate::explore) const SPINS: i32 = 87;

/// For how long it may go on like this.
#[derive(Clone, Copy)]
struct Patience {
    /// How many looks in a row may find that nothing has happened.
    naps: u32,
    /// How many ticks the thread may take without a step of the world.
    ticks: u64,
}

const FOR_ONE_OF_MANY: Patience = Patience {
    naps: 10,
    ticks: 10 * TICKS,
};
/// What is run once may be long.
const FOR_ALL: Patience = Patience {
    naps: 60,
    ticks: 600 * TICKS,
};

/// What has become of the thread.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Lost {
    StandsStill,
    Spins,
}

/// Watches until it is dropped.
pub(super) struct Watch {
    over: Arc<AtomicBool>,
    watcher: Option<Thread>,
}

/// What changes while a thread does something.
#[derive(Clone, Copy)]
struct Signs {
    steps: u64,
    /// Clock ticks that the thread took.
    ticks: u64,
}

struct Watched {
    name: String,
    heartbeat: Arc<AtomicU64>,
    thread: Processor,
    is_one: bool,
}

/// What it has come to since the last step.
struct Since {
    step: Option<Signs>,
    last: Option<Signs>,
    naps: u32,
}

impl Since {
    fn now(now: Option<Signs>) -> Since {
        Since {
            step: now,
            last: now,
            naps: 0,
        }
    }

    /// What is seen next.
    fn see(&mut self, now: Option<Signs>, patience: Patience) -> Option<Lost> {
        let (Some(step), Some(last), Some(seen)) = (self.step, self.last, now) else {
            *self = Since::now(now);
            return None;
        };
        if seen.steps != step.steps {
            *self = Since::now(now);
        } else if seen.ticks != last.ticks {
            (self.last, self.naps) = (now, 0);
        } else {
            self.naps += 1;
        }
        if self.naps >= patience.naps {
            return Some(Lost::StandsStill);
        }
        let spins = seen.steps == step.steps && seen.ticks - step.ticks >= patience.ticks;
        spins.then_some(Lost::Spins)
    }
}

impl Watch {
    /// Watches this thread, which runs one iteration of a test, or all of it.
    #[expect(
        clippy::disallowed_methods,
        reason = "outside of worlds: it decides nothing"
    )]
    pub(super) fn begin(is_one: bool) -> Watch {
        let watched = Watched {
            name: thread::current().name().unwrap_or_default().to_owned(),
            heartbeat: run::heartbeat(),
            thread: Processor::of_this_thread(),
            is_one,
        };
        let over = Arc::new(AtomicBool::new(false));
        let told = over.clone();
        let watcher = thread::Builder::new().name("cct-lone".to_owned());
        let watcher = cct_interpose::uncounted(|| watcher.spawn(move || watched.watch(&told)));
        Watch {
            over,
            watcher: watcher.ok().map(|watcher| watcher.thread().clone()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        self.over.store(true, Relaxed);
        if let Some(watcher) = &self.watcher {
            watcher.unpark();
        }
    }
}

impl Watched {
    fn signs(&self) -> Option<Signs> {
        Some(Signs {
            steps: self.heartbeat.load(Relaxed),
            ticks: self.thread.ticks()?,
        })
    }

    fn watch(&self, over: &AtomicBool) {
        let patience = if self.is_one {
            FOR_ONE_OF_MANY
        } else {
            FOR_ALL
        };
        let mut since = Since::now(self.signs());
        while !over.load(Relaxed) {
            thread::park_timeout(NAP);
            let lost = since.see(self.signs(), patience);
            if let (Some(lost), false) = (lost, over.load(Relaxed)) {
                self.give_up(lost);
            }
        }
    }

    fn give_up(&self, lost: Lost) -> ! {
        if self.is_one {
            std::process::exit(match lost {
                Lost::StandsStill => STANDS_STILL,
                Lost::Spins => SPINS,
            });
        }
        let what = match lost {
            Lost::StandsStill => format!(
                "waits for something outside of its world, and has done nothing for {} seconds: for a thread that it \
                 has started, maybe",
                FOR_ALL.naps
            ),
            Lost::Spins => format!(
                "has taken {} seconds of processor time without a step of its world: it spins",
                FOR_ALL.ticks / TICKS
            ),
        };
        let name = match self.name.as_str() {
            "" => String::new(),
            name => format!(" `{name}`"),
        };
        let text = format!(
            "cct: the test{name} {what}. It was run once. The process ends here: skip the test (`-- --skip`), or \
             have such tests refused (CCT_PLAIN_TESTS=refuse)"
        );
        // The harness captures what is printed, and would keep it.
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::exit(101)
    }
}

#[cfg(test)]
mod tests {
    use super::{Lost, Patience, Signs, Since};

    const PATIENCE: Patience = Patience { naps: 3, ticks: 50 };

    /// What is found after so many steps and ticks, and after how many looks.
    fn found(seen: impl IntoIterator<Item = (u64, u64)>) -> Option<(usize, Lost)> {
        let mut since = Since::now(Some(Signs { steps: 0, ticks: 0 }));
        let signs = seen
            .into_iter()
            .map(|(steps, ticks)| Signs { steps, ticks });
        let mut looks = (1..).zip(signs.map(|signs| since.see(Some(signs), PATIENCE)));
        looks.find_map(|(look, lost)| Some((look, lost?)))
    }

    #[test]
    fn who_does_nothing_stands_still() {
        assert_eq!(found((0..9).map(|_| (0, 0))), Some((3, Lost::StandsStill)));
        assert_eq!(
            found([(0, 0), (0, 0), (0, 1), (0, 1), (0, 1), (1, 1)]),
            None
        );
    }

    #[test]
    fn who_makes_no_step_but_takes_time_spins() {
        assert_eq!(found((1..9).map(|i| (0, 10 * i))), Some((5, Lost::Spins)));
        assert_eq!(found((1..90).map(|i| (i / 4, 10 * i))), None);
    }

    #[test]
    fn who_cannot_be_seen_is_left_alone() {
        let mut since = Since::now(None);
        assert!((0..9).all(|_| since.see(None, PATIENCE).is_none()));
    }
}
