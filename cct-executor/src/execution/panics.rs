//! Panics inside worlds: kept silent while exploring, remembered with their place.
//!
//! The hook is process-wide because Rust has no other, but it only writes to a thread-local of a
//! thread that runs a world, and passes everything else on to whatever hook was there before.
//!
//! A panic in a destructor that runs because of another panic aborts the process, and with it goes
//! the schedule. The hook is called once more before that, and leaves word for the thread that watches; this
//! one stops in `abort`, where that is seen (`last_words`). So does, at once, a destructor that waits, while a panic
//! unwinds, for a lock of a suspended poll: that poll would find the thread panicking, and poison the lock.

use super::last_words::{stop_after_hook, stop_at, stop_with};
use super::paths::short;
#[cfg(unix)]
use super::run::MAIN;
use super::world::{Phase, WORLD};
use crate::words::FailureKind;
use std::any::Any;
use std::cell::{Cell, RefCell};
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

/// The panics of a world, where another thread runs it for a while.
#[derive(Default)]
pub(super) struct Panics(Vec<Seen>);

impl Panics {
    /// This thread has seen these, and these what the thread had.
    pub(super) fn exchange(&mut self) {
        let _ = SEEN.try_with(|seen| std::mem::swap(&mut *seen.borrow_mut(), &mut self.0));
    }
}

struct Seen {
    message: String,
    location: Option<String>,
    /// Of the code around which there is a world, and not of one of its tasks.
    #[cfg(unix)]
    of_the_code: bool,
}

/// Panics remembered. A payload may be raised again long after its panic.
const SEEN_MAX: usize = 16;

/// What the standard library says in the panic after which it aborts.
const BEFORE_ABORT: [&str; 2] = [
    "panic in a destructor during cleanup",
    "panic in a function that cannot unwind",
];

thread_local! {
    /// The last panics of this iteration, caught ones included, oldest first.
    static SEEN: RefCell<Vec<Seen>> = const { RefCell::new(Vec::new()) };
    /// How many panics were remembered when one that nobody has seen began to unwind what waits.
    static FORCED: Cell<Option<usize>> = const { Cell::new(None) };
    /// What is done at the next panic on this thread outside of worlds.
    static THEN: Cell<Option<fn()>> = const { Cell::new(None) };
}

/// The text of a panic's payload.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is not text".to_owned())
}

/// What waits is about to be unwound by no panic.
pub(super) fn unwinds_by_force() {
    FORCED.set(Some(SEEN.with(|seen| seen.borrow().len())));
}

/// The process is about to be aborted: this thread stops instead.
#[cold]
fn stop_before_abort() {
    let kind = SEEN.with(|seen| {
        let seen = seen.borrow();
        let mut last = seen.iter().rev();
        let (second, first) = (last.next(), last.next());
        let mut message = second.map_or(String::new(), |second| second.message.clone());
        if FORCED.get() == Some(seen.len().saturating_sub(1)) {
            message.push_str(
                "\n  in a destructor of what waits where its node crashes, or the test ends, as a blocking closure: it is \
                 unwound, its\n  locks of `std` are poisoned, and a panic meanwhile aborts the process; \
                 `lock().unwrap_or_else(PoisonError::into_inner)`\n  there, or an end of the closure before, avoids that",
            );
        } else if let Some(first) = first {
            let at = first.location.as_deref().unwrap_or("an unknown place");
            message = format!(
                "{message}\n  in a destructor, while this panic unwound, which aborts the process: \
                 panic at {at}: {}",
                first.message
            );
        }
        FailureKind::Abort {
            message,
            location: second.and_then(|second| second.location.clone()),
        }
    });
    stop_after_hook(kind);
}

/// The panic that unwinds cannot go on, nor can anybody else: this thread stops here. What is said is the
/// panic, which is the reason for all of it.
#[cold]
pub(super) fn stop_unwinding() -> ! {
    let mut kind = failure_of(None);
    if let FailureKind::Panic { message, .. } = &mut kind {
        message.push_str(
            "\n  while it unwinds, a destructor waits for a lock whose holder was suspended in the middle of a \
             poll, and does not\n  go on meanwhile: the run ends here, even if somebody would have asked for \
             the panic; at granularity `await`\n  polls are not suspended",
        );
    }
    stop_with(kind)
}

/// Whether nobody watches this thread, which has a world around code that is no scenario's.
pub(super) fn is_lone() -> bool {
    WORLD.with(|world| world.lone.get())
}

/// Whether the code runs around which there is a world.
#[cfg(unix)]
fn is_the_code() -> bool {
    WORLD.with(|world| world.lone.get() && world.running.key.get() == MAIN)
}

fn hook(info: &PanicHookInfo<'_>) {
    let message = message_of(info.payload());
    if BEFORE_ABORT.contains(&message.as_str()) && !is_lone() {
        return stop_before_abort();
    }
    let location = info.location().map(|at| {
        let (line, column) = (at.line(), at.column());
        format!("{}:{line}:{column}", short(at.file()))
    });
    // At a thread's end it may be gone.
    let _ = SEEN.try_with(|seen| {
        let mut seen = seen.borrow_mut();
        if seen.len() == SEEN_MAX {
            seen.remove(0);
        }
        seen.push(Seen {
            message,
            location,
            #[cfg(unix)]
            of_the_code: is_the_code(),
        });
    });
}

/// Makes panics inside worlds silent. Idempotent.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        cct_interpose::on_fatal(stop_at);
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let inside = WORLD.with(|world| world.phase.get() != Phase::Idle);
            let then = THEN.get().filter(|_| !inside);
            if inside || then.is_some() {
                hook(info);
            }
            if let Some(then) = then {
                then();
            }
            if !inside || is_lone() {
                previous(info);
            }
        }));
    });
}

/// Does this at the panics of this thread outside of worlds, which are remembered then.
#[cfg(unix)]
pub(crate) fn then(f: fn()) {
    install();
    THEN.set(Some(f));
}

/// The panic that unwinds on this thread.
#[cfg(unix)]
pub(crate) fn unwinding() -> Option<FailureKind> {
    std::thread::panicking().then(|| failure_of(None))
}

/// The last panic of the code around which there is a world.
#[cfg(unix)]
pub(crate) fn last_of_the_code() -> Option<FailureKind> {
    let message = SEEN.with_borrow(|seen| {
        let last = seen.iter().rev().find(|seen| seen.of_the_code);
        last.map(|last| last.message.clone())
    })?;
    Some(failure_of(Some(&message)))
}

/// Forgets the panics that were seen.
pub(crate) fn forget() {
    let _ = SEEN.try_with(|seen| seen.borrow_mut().clear());
    FORCED.set(None);
}

/// Panics that a panic tells of, the nearest first: an `unwrap` of what a join handle returned shows
/// the message of the task's panic, but not where it was.
fn told_of<'a>(message: &str, seen: &'a [Seen]) -> Vec<&'a Seen> {
    let mut told: Vec<&Seen> = Vec::new();
    let mut message = message.to_owned();
    let mut before = seen;
    while let Some(at) = before.iter().rposition(|earlier| {
        let quoted = format!("{:?}", earlier.message);
        message.contains(&quoted) && message != earlier.message
    }) {
        told.push(&before[at]);
        message.clone_from(&before[at].message);
        before = &before[..at];
    }
    told
}

/// A panic as a failure: that of the payload, or else the last one.
pub(crate) fn failure_of(payload: Option<&(dyn Any + Send)>) -> FailureKind {
    let message = payload.map(message_of);
    SEEN.with(|seen| {
        let seen = seen.borrow();
        // Others may have been caught before it, and in its destructors.
        let this = |seen: &Seen| {
            message
                .as_ref()
                .is_none_or(|message| seen.message == *message)
        };
        let found = seen.iter().rposition(this);
        let location = found.and_then(|at| seen[at].location.clone());
        let hooked = found.map(|at| seen[at].message.clone());
        let mut message = message
            .clone()
            .or(hooked)
            .unwrap_or_else(|| "a destructor panicked".to_owned());
        for earlier in told_of(&message.clone(), &seen[..found.unwrap_or_default()]) {
            let at = earlier.location.as_deref().unwrap_or("an unknown place");
            message.push_str(&format!(
                "\n  which was a panic at {at}: {}",
                earlier.message
            ));
        }
        FailureKind::Panic { message, location }
    })
}
