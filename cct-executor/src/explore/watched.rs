//! Work on a thread of its own, watched: a poll may not return, or be about to abort the process.

use super::patience::{Patience, Seen};
use super::processor::Processor;
use super::thread_of_test;
use super::worker::THREAD_STACK_BYTES;
use crate::execution::last_words::LastWords;
use crate::execution::run::{self, Entangled, Visitors};

use crate::words::FailureKind;
use std::backtrace::Backtrace;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long a thread has to come to its end once it has told what it was for.
const CLOSING: Duration = Duration::from_secs(1);

/// A thread that is lost.
pub(super) struct Lost {
    /// In which step.
    pub(super) step: u64,
    /// To a panic that would abort the process; or else to a poll that does not return.
    pub(super) kind: Option<FailureKind>,
    /// And what other threads have to do with that.
    pub(super) threads: Entangled,
    /// Where it is, if it could tell.
    pub(super) stack: Option<Backtrace>,
}

/// What a thread tells that is not lost before.
pub(super) struct Told<T> {
    pub(super) told: T,
    /// That the process would be aborted after that, by what is dropped.
    pub(super) said: Option<FailureKind>,
}

/// What the thread says.
enum Note<T> {
    Begun(Arc<AtomicU64>, LastWords, Visitors, Processor),
    Over(T),
}

/// Does this on a fresh thread, and returns what it tells. It may tell it before it comes to its end.
///
/// # Errors
/// When a poll takes longer than it may, or would abort the process. The thread is lost then.
///
/// # Panics
/// With what `body` panics with.
pub(super) fn on_fresh_thread<T: Send + 'static>(
    patience: Patience,
    body: impl FnOnce(&dyn Fn(T)) + Send + 'static,
) -> Result<Told<T>, Lost> {
    let (sender, receiver) = mpsc::channel();
    let body = move || {
        run::explores_here();
        let (heartbeat, words) = (run::heartbeat(), run::last_words());
        let _ = sender.send(Note::Begun(
            heartbeat,
            words,
            run::visitors(),
            Processor::of_this_thread(),
        ));
        body(&|told| {
            let _ = sender.send(Note::Over(told));
        });
    };
    let thread = thread_of_test("replay").stack_size(THREAD_STACK_BYTES);
    let thread = cct_interpose::uncounted(|| thread.spawn(body))
        .expect("cannot start a thread for a replay");
    let look = patience.look();
    let (mut heartbeat, mut last_words) = (Arc::default(), LastWords::default());
    let (mut visitors, mut processor) = (None, Processor::default());
    let (mut last, mut seen) = (0, Seen::default());
    loop {
        match receiver.recv_timeout(look) {
            Ok(Note::Begun(beat, words, who, thread)) => {
                (heartbeat, last_words) = (beat, words);
                (visitors, processor) = (Some(who), thread);
            }
            Ok(Note::Over(told)) => {
                // What is dropped may abort the process, as it has where this was found.
                let (mut waited, mut said) = (Duration::ZERO, None);
                while waited < CLOSING.min(patience.limit()) && said.is_none() {
                    match receiver.recv_timeout(look) {
                        Err(RecvTimeoutError::Timeout) => waited += look,
                        _ => break,
                    }
                    said = last_words.take();
                }
                if said.is_some() {
                    visitors.inspect(|visitors| visitors.give_up());
                }
                return Ok(Told { told, said });
            }
            Err(RecvTimeoutError::Disconnected) => match thread.join() {
                Err(payload) => std::panic::resume_unwind(payload),
                Ok(()) => panic!("cct bug: a replay without a result"),
            },
            Err(RecvTimeoutError::Timeout) => {
                let beat = AtomicU64::load(&heartbeat, Ordering::Relaxed);
                match beat == last {
                    true => seen.again(look, &processor),
                    false => seen = Seen::default(),
                }
                last = beat;
                let kind = last_words.take();
                let threads = visitors.map(Visitors::now).unwrap_or_default();
                if kind.is_some() || patience.is_over(&seen, threads) {
                    let asked = visitors.filter(|_| kind.is_none());
                    let stack = asked.and_then(Visitors::stack);
                    visitors.inspect(|visitors| visitors.give_up());
                    return Err(Lost {
                        step: last,
                        threads,
                        kind,
                        stack,
                    });
                }
            }
        }
    }
}
