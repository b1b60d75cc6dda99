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
    /// How many looks may find that there was no step since, and next to nothing was done.
    naps: u32,
    /// How many ticks the thread may take without a step of the world.
    ticks: u64,
}

/// What waits for so long in each iteration is better run once, and the time of all is not to be spent on finding that.
const FOR_ONE_OF_MANY: Patience = Patience {
    naps: 4,
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

/// Watches until it is dropped; or until the process ends, if that is for one iteration: behind its world, too, the code
/// may wait for what is only there where threads take part.
pub(super) struct Watch {
    is_one: bool,
    over: Arc<AtomicBool>,
    watcher: Option<Thread>,
}

/// What changes while a thread does something.
#[derive(Clone, Copy, Default)]
struct Signs {
    steps: u64,
    /// Clock ticks that the thread took.
    ticks: u64,
    /// The same of all others of the process, if they count.
    others: u64,
}

struct Watched {
    name: String,
    heartbeat: Arc<AtomicU64>,
    thread: Processor,
    is_one: bool,
}

/// Who takes no more than this part of the time does next to nothing: who wakes now and then to look whether there is
/// something to do, for one.
const IDLE: u64 = 20;
/// Others work that take more than this part of it, all of them together: they may bring what the thread waits for.
const WORK: u64 = 4;

/// What it has come to since the last step.
struct Since {
    step: Option<Signs>,
    naps: u32,
}

impl Since {
    fn now(now: Option<Signs>) -> Since {
        Since { step: now, naps: 0 }
    }

    /// What is seen next.
    fn see(&mut self, now: Option<Signs>, patience: Patience) -> Option<Lost> {
        let (Some(step), Some(seen)) = (self.step, now) else {
            *self = Since::now(now);
            return None;
        };
        if seen.steps != step.steps {
            *self = Since::now(now);
            return None;
        }
        self.naps += 1;
        let ticks = seen.ticks - step.ticks;
        let time = u64::from(self.naps) * TICKS * NAP.as_secs();
        let others = seen.others.saturating_sub(step.others);
        let is_idle = ticks * IDLE <= time && others * WORK <= time;
        if is_idle && self.naps >= patience.naps {
            return Some(Lost::StandsStill);
        }
        (ticks >= patience.ticks).then_some(Lost::Spins)
    }
}

impl Watch {
    /// Watches this thread, which runs one iteration of a test, or all of it, or was started by one: then its name is not
    /// the test's.
    #[expect(
        clippy::disallowed_methods,
        reason = "outside of worlds: it decides nothing"
    )]
    pub(super) fn begin(is_one: bool, is_started: bool) -> Watch {
        let thread = thread::current();
        let name = thread.name().filter(|_| !is_started);
        let watched = Watched {
            name: name.unwrap_or_default().to_owned(),
            heartbeat: run::heartbeat(),
            thread: Processor::of_this_thread(),
            is_one,
        };
        let over = Arc::new(AtomicBool::new(false));
        let told = over.clone();
        let watcher = thread::Builder::new().name("cct-lone".to_owned());
        let watcher = cct_interpose::uncounted(|| watcher.spawn(move || watched.watch(&told)));
        Watch {
            is_one,
            over,
            watcher: watcher.ok().map(|watcher| watcher.thread().clone()),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        if self.is_one {
            return;
        }
        self.over.store(true, Relaxed);
        if let Some(watcher) = &self.watcher {
            watcher.unpark();
        }
    }
}

impl Watched {
    fn signs(&self) -> Option<Signs> {
        let ticks = self.thread.ticks()?;
        let process = match self.is_one {
            // Others have time where a test is run once.
            true => None,
            false => Processor::of_this_process().ticks(),
        };
        Some(Signs {
            steps: self.heartbeat.load(Relaxed),
            ticks,
            others: process.map_or(0, |process| process.saturating_sub(ticks)),
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
            let may_wait_for_a_child = !self.is_one && cct_interpose::children_run();
            if lost == Some(Lost::StandsStill) && may_wait_for_a_child {
                since = Since::now(self.signs());
                continue;
            }
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
                "waits for something outside of its world, and has done next to nothing for {} seconds: for a thread \
                 that it has started, maybe",
                FOR_ALL.naps
            ),
            Lost::Spins => format!(
                "has taken {} seconds of processor time without a step of its world: it spins",
                FOR_ALL.ticks / TICKS
            ),
        };
        let who = match self.name.as_str() {
            "" => "a thread of a test".to_owned(),
            name => format!("the test `{name}`"),
        };
        let text = format!(
            "cct: {who} {what}. It was run once. The process ends here: skip the test (`-- --skip`), or \
             have such tests refused (CCT_PLAIN_TESTS=refuse)"
        );
        // The harness captures what is printed, and would keep it.
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::exit(101)
    }
}

#[cfg(test)]
mod tests {
    use super::{IDLE, Lost, Patience, Signs, Since, TICKS, WORK};

    const PATIENCE: Patience = Patience {
        naps: 3,
        ticks: 50 * TICKS,
    };

    /// What is found after so many steps and ticks, and after how many looks.
    fn found(seen: impl IntoIterator<Item = (u64, u64)>) -> Option<(usize, Lost)> {
        let mut since = Since::now(Some(Signs::default()));
        let signs = seen.into_iter().map(|(steps, ticks)| Signs {
            steps,
            ticks,
            others: 0,
        });
        let mut looks = (1..).zip(signs.map(|signs| since.see(Some(signs), PATIENCE)));
        looks.find_map(|(look, lost)| Some((look, lost?)))
    }

    #[test]
    fn who_does_next_to_nothing_stands_still() {
        assert_eq!(found((0..9).map(|_| (0, 0))), Some((3, Lost::StandsStill)));
        // It wakes now and then.
        let part = TICKS / IDLE;
        let seldom = (1..9).map(|nap| (0, nap * part));
        assert_eq!(found(seldom), Some((3, Lost::StandsStill)));
        let often = (1..9).map(|nap| (0, nap * (part + 1)));
        assert_eq!(found(often), None);
        assert_eq!(found((1..9).map(|nap| (nap / 2, 0))), None);
    }

    #[test]
    fn who_makes_no_step_but_takes_time_spins() {
        let busy = |nap| 10 * TICKS * nap;
        assert_eq!(
            found((1..9).map(|nap| (0, busy(nap)))),
            Some((5, Lost::Spins))
        );
        assert_eq!(found((1..90).map(|nap| (nap / 4, busy(nap)))), None);
    }

    #[test]
    fn nobody_stands_still_while_others_work() {
        let others = |part: u64| {
            let mut since = Since::now(Some(Signs::default()));
            let seen = (1..9).map(|nap| Signs {
                others: nap * part,
                ..Signs::default()
            });
            seen.filter_map(|seen| since.see(Some(seen), PATIENCE))
                .next()
        };
        assert_eq!(others(TICKS / WORK), Some(Lost::StandsStill));
        assert_eq!(others(TICKS / WORK + 1), None);
    }

    #[test]
    fn who_cannot_be_seen_is_left_alone() {
        let mut since = Since::now(None);
        assert!((0..9).all(|_| since.see(None, PATIENCE).is_none()));
    }
}
