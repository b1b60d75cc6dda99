//! Ends the process when the code around which there is a world has come to a standstill.
//!
//! Such code may wait for a thread that it has started, and that thread for a runtime that it cannot use, as in an
//! iteration among many. On tokio it would go on; here nobody could unwind it, as it waits for something outside of
//! the world, and the harness would wait for it for ever.

use crate::execution::run;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::thread::{self, Thread};
use std::time::Duration;

/// How often it is looked, and how often nothing may have happened.
const NAP: Duration = Duration::from_secs(1);
const NAPS_MAX: u32 = 60;
/// For one iteration among many.
const NAPS_OF_ONE: u32 = 10;

/// The exit status of a process for one iteration in which the code stands still.
pub(in crate::explore) const STANDS_STILL: i32 = 86;

/// Watches until it is dropped.
pub(super) struct Watch {
    over: Arc<AtomicBool>,
    watcher: Option<Thread>,
}

/// What changes while a thread does something.
#[derive(PartialEq, Eq)]
struct Signs {
    steps: u64,
    /// Clock ticks that the thread took.
    ticks: u64,
}

struct Watched {
    name: String,
    heartbeat: Arc<AtomicU64>,
    /// Where the system tells what the thread has taken; only Linux does.
    stat: Option<String>,
    /// How often nothing may have happened.
    naps: u32,
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
            stat: std::fs::read_link("/proc/thread-self")
                .ok()
                .map(|path| format!("/proc/{}/stat", path.display())),
            naps: if is_one { NAPS_OF_ONE } else { NAPS_MAX },
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
        let stat = std::fs::read_to_string(self.stat.as_ref()?).ok()?;
        Some(Signs {
            steps: self.heartbeat.load(Relaxed),
            ticks: ticks(&stat)?,
        })
    }

    fn watch(&self, over: &AtomicBool) {
        let (mut before, mut naps) = (self.signs(), 0);
        while !over.load(Relaxed) {
            thread::park_timeout(NAP);
            let now = self.signs();
            if now.is_none() || now != before {
                (before, naps) = (now, 0);
                continue;
            }
            naps += 1;
            if naps == self.naps && !over.load(Relaxed) {
                self.give_up();
            }
        }
    }

    fn give_up(&self) -> ! {
        if self.naps == NAPS_OF_ONE {
            std::process::exit(STANDS_STILL);
        }
        let text = format!(
            "cct: the test `{}` waits for something outside of its world, and has done nothing for {} \
             seconds: for a thread that it has started, maybe. It was run once. The \
             process ends here: skip the test (`-- --skip`), or have such tests refused \
             (CCT_PLAIN_TESTS=refuse)",
            self.name, self.naps
        );
        // The harness captures what is printed, and would keep it.
        let _ = writeln!(std::io::stderr(), "{text}");
        std::process::exit(101)
    }
}

/// The time that a thread took, of its line in `/proc`: the 14th and 15th field. The second one, in brackets, may
/// have spaces.
fn ticks(stat: &str) -> Option<u64> {
    let (_, fields) = stat.rsplit_once(')')?;
    let mut fields = fields.split_whitespace().skip(11);
    let (user, system) = (fields.next()?, fields.next()?);
    Some(user.parse::<u64>().ok()? + system.parse::<u64>().ok()?)
}

#[cfg(test)]
mod tests {
    use super::ticks;

    #[test]
    fn time_is_found_behind_any_name() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194560 90 0 0 0 12 30 0 0 20 0 1 0 5 0 0";
        assert_eq!(ticks(stat), Some(42));
        assert_eq!(ticks("7 (a) S 1"), None);
    }
}
