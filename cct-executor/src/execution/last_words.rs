//! The last words of threads that would end the process: by a panic that aborts it, a signal, or `exit`. They stop there, and
//! leave word for whoever watches them.
//!
//! What is lost is a thread, as with a poll that does not return. That of a signal stops in its handler, which may be in the
//! middle of an allocation.

use super::panics::is_lone;
use crate::raw::{room, stack};
use crate::words::FailureKind;
use cct_interpose::Fatal;
use std::io::Write as _;
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

thread_local! {
    static LAST_WORDS: LastWords = LastWords::default();
}

/// The last words of a thread that would abort the process.
#[derive(Clone, Default)]
pub(crate) struct LastWords(Arc<Words>);

#[derive(Default)]
struct Words {
    kind: Mutex<Option<FailureKind>>,
    /// Whether `abort` comes next, in which this thread stops.
    aborts: AtomicBool,
    /// What is said in a signal handler, which should not allocate: a signal, [`NO_STACK`], or 0.
    fatal: AtomicI32,
}

const NO_STACK: i32 = -1;

impl LastWords {
    fn say(&self, kind: FailureKind) {
        *self.0.kind.lock().unwrap_or_else(PoisonError::into_inner) = Some(kind);
    }

    /// What was said since it was last asked.
    pub(crate) fn take(&self) -> Option<FailureKind> {
        let fatal = self.0.fatal.load(Ordering::SeqCst);
        if fatal != 0 {
            // Before anything is allocated.
            report_begins();
            self.0.fatal.store(0, Ordering::SeqCst);
        }
        let mut said = self.0.kind.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(kind) = said.take() {
            return Some(kind);
        }
        let message = match fatal {
            0 => return None,
            NO_STACK => format!(
                "a poll ran out of stack, of which it has {} MiB ({MORE_STACK} has it have more)",
                room::bytes() >> 20
            ),
            signal => format!("a poll ends the process by {}", name_of_signal(signal)),
        };
        Some(FailureKind::Abort {
            message,
            location: None,
        })
    }
}

fn name_of_signal(signal: i32) -> String {
    // As Linux counts them, where alone they are seen.
    let name = match signal {
        4 => "SIGILL, an instruction that is none",
        6 => "SIGABRT, as `abort` and a damaged heap do",
        7 => "SIGBUS, an access to memory that is invalid",
        8 => "SIGFPE, an arithmetic operation that cannot be done",
        11 => "SIGSEGV, an access to memory that is invalid",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

/// Where this thread leaves its last words.
pub(crate) fn last_words() -> LastWords {
    LAST_WORDS.with(LastWords::clone)
}

/// This thread would end the process: it leaves word and stops here instead.
pub(super) fn stop_with(kind: FailureKind) -> ! {
    assert!(!is_lone(), "{kind}");
    last_words().say(kind);
    stop()
}

/// In a panic hook, after which the standard library aborts: as [`stop_with`]. But while the hook runs nobody can set
/// another, as each test harness does at its end. So, where that is seen, the thread stops in `abort`.
pub(super) fn stop_after_hook(kind: FailureKind) {
    assert!(!is_lone(), "{kind}");
    let words = last_words();
    cct_interpose::end();
    let sees_abort = cct_interpose::on_fatal(stop_at);
    words.0.aborts.store(sees_abort, Ordering::SeqCst);
    words.say(kind);
    if !sees_abort {
        stop();
    }
}

fn stop() -> ! {
    loop {
        std::thread::park();
    }
}

const MORE_STACK: &str = "`RUST_MIN_STACK`, or `thread_stack_size` of the runtime's builder,";

/// Whether somebody makes a report of what would have ended the process, which ends it afterwards. Who only looks at a
/// [`Checker`](crate::Checker)'s failure of this kind, and goes on, has no longer.
static REPORTED: AtomicBool = AtomicBool::new(false);
/// For so long that may take.
const REPORTED_WITHIN_S: u32 = 180;

/// A report is made of last words.
pub(crate) fn report_begins() {
    REPORTED.store(true, Ordering::Relaxed);
}

/// What is said if there was none.
const NO_REPORT: &str = "\ncct: a poll ends the process by a signal, and its report does not come to an end: the heap is \
    damaged, or the poll was in the middle\n  of an allocation when it stopped. The same seed goes the same way again; \
    `valgrind` or a sanitizer may tell more\n";

/// A thread has done what ends the process. If it is that of a poll it stops here, until there is a report.
///
/// In a signal handler one should neither lock nor allocate, and the heap may be damaged, or locked by this thread, and
/// whoever writes the report waits for it then. Whoever watches has made the place for last words before.
pub(super) fn stop_at(fatal: Fatal) {
    if stack::on_worker() && is_lone() && fatal == Fatal::Stack {
        // Nobody makes a report. On a thread's own stack the standard library would say it.
        for part in [
            "\ncct: a poll ran out of stack (",
            MORE_STACK,
            " has it have more)\n",
        ] {
            let _ = std::io::stderr().write_all(part.as_bytes());
        }
    }
    if stack::on_worker() && !is_lone() {
        cct_interpose::end();
        let fatal = match fatal {
            Fatal::Stack => NO_STACK,
            Fatal::Signal(signal) => signal,
        };
        LAST_WORDS.with(|words| {
            // No heap is damaged by a panic, and what is to be said has been.
            if words.0.aborts.load(Ordering::SeqCst) {
                stop();
            }
            words.0.fatal.store(fatal, Ordering::SeqCst);
        });
        let mut seconds = 0;
        while seconds < REPORTED_WITHIN_S {
            std::thread::park_timeout(Duration::from_secs(1));
            // Whoever is to hear it may stand still himself, before he has.
            let unheard = LAST_WORDS.with(|words| words.0.fatal.load(Ordering::SeqCst) != 0);
            seconds += u32::from(unheard || REPORTED.load(Ordering::Relaxed));
        }
        let _ = std::io::stderr().write_all(NO_REPORT.as_bytes());
    }
}

/// A thread ends the process by `exit`. If it is that of a poll it stops here.
pub(crate) fn stop_at_exit(code: i32) {
    if stack::on_worker() && !is_lone() {
        cct_interpose::end();
        stop_with(FailureKind::Abort {
            message: format!("a poll ends the process by `exit({code})`"),
            location: None,
        });
    }
}
