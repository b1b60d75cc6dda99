//! `tracing` in worlds: muted while exploring, collected while a failing trace is replayed.
//!
//! In a process of its own, where nobody reads what is printed, a test is heard by the subscriber that it has: it may
//! look at what it has traced, as with `#[traced_test]`. So it is in the replay of a token.
//!
//! Each line is stamped with the step, so that the report can place it among the steps; virtual
//! time, node and task follow from there.

use crate::execution::run;
use crate::execution::world::WORLD;
use crate::words::explanation::LogLine;
use std::fmt::{self, Write as _};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{LazyLock, Mutex};
use tracing::dispatcher::DefaultGuard;
use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::subscriber::{Interest, NoSubscriber};
use tracing::{Dispatch, Event, Metadata, Span, Subscriber};

/// Runs `f` with user spans and events going into the recorder of the world.
///
/// Not in an instrumented build: a span that somebody listens to is counted where the program makes and drops it, and
/// the fields of events are asked for there, all in atomic operations, which would be points that only this run has.
pub(super) fn with_log<R>(f: impl FnOnce() -> R) -> R {
    if cct_interpose::ATOMICS {
        return f();
    }
    heard_by(&Dispatch::new(Log::default()), f)
}

/// Runs `f`, which nobody hears.
pub(super) fn muted<R>(f: impl FnOnce() -> R) -> R {
    static MUTED: LazyLock<Dispatch> = LazyLock::new(|| Dispatch::new(Muted));
    heard_by(&MUTED, f)
}

/// Hears nothing. tracing-core before 0.1.24 takes its own `NoSubscriber` for leave to ask the global subscriber.
struct Muted;

impl Subscriber for Muted {
    fn register_callsite(&self, _: &'static Metadata<'static>) -> Interest {
        Interest::never()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(LevelFilter::OFF)
    }

    fn enabled(&self, _: &Metadata<'_>) -> bool {
        false
    }

    fn new_span(&self, _: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _: &Id, _: &Record<'_>) {}
    fn record_follows_from(&self, _: &Id, _: &Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &Id) {}
    fn exit(&self, _: &Id) {}
}

/// Runs `f`, of whose spans and events this subscriber is told.
fn heard_by<R>(subscriber: &Dispatch, f: impl FnOnce() -> R) -> R {
    struct Hearing(Option<DefaultGuard>);
    impl Drop for Hearing {
        fn drop(&mut self) {
            // A poll that was left where it stood may have been telling of an event: then nobody can take the
            // subscriber's place on this thread, which runs no other world.
            if run::has_abandoned() {
                std::mem::forget(self.0.take());
            }
        }
    }
    let _hearing = Hearing(Some(tracing::dispatcher::set_default(subscriber)));
    f()
}

/// Who listened, and the span that was entered, where a test called its scenario. On tokio that runs there, on the
/// thread of the test.
pub(super) struct Surroundings {
    subscriber: Dispatch,
    span: Span,
    /// The test itself makes a subscriber for all threads, once in a process, which is not to be hidden.
    makes_one: bool,
}

impl Surroundings {
    pub(super) fn of_this_thread() -> Surroundings {
        Surroundings {
            subscriber: tracing::dispatcher::get_default(Dispatch::clone),
            span: Span::current(),
            makes_one: false,
        }
    }

    /// It is known to come to that, or not.
    pub(super) fn where_one_is_made(self, makes_one: bool) -> Surroundings {
        Surroundings { makes_one, ..self }
    }

    /// Whether somebody listens here by now, where nobody did.
    pub(super) fn have_changed(&self) -> bool {
        !self.are_heard() && Surroundings::of_this_thread().are_heard()
    }

    /// Whether anybody listened, or will.
    pub(super) fn hear(&self) -> bool {
        self.are_heard() || self.makes_one
    }

    fn are_heard(&self) -> bool {
        !self.subscriber.is::<NoSubscriber>() && !self.subscriber.is::<Muted>()
    }

    /// Runs `f` as if it were called there. Where nobody listened yet, a subscriber for all threads may be made in it.
    pub(super) fn around<R>(&self, f: impl FnOnce() -> R) -> R {
        if !self.are_heard() {
            return f();
        }
        heard_by(&self.subscriber, || self.span.in_scope(f))
    }
}

#[derive(Default)]
struct Log {
    ids: AtomicU64,
    /// Name and fields of every span, by id - 1.
    spans: Mutex<Vec<String>>,
    /// The spans entered at the moment, innermost last, with the task that entered them.
    entered: Mutex<Vec<(Option<u32>, u64)>>,
}

/// Writes fields as `name=value`, the message bare.
struct Fields<'a>(&'a mut String);

impl Visit for Fields<'_> {
    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        if !self.0.is_empty() {
            self.0.push(' ');
        }
        let _ = match field.name() {
            "message" => write!(self.0, "{value:?}"),
            name => write!(self.0, "{name}={value:?}"),
        };
    }
}

fn current() -> Option<u32> {
    WORLD.with(|world| world.current())
}

fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

impl Subscriber for Log {
    fn enabled(&self, _: &Metadata<'_>) -> bool {
        true
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let mut fields = String::new();
        attributes.record(&mut Fields(&mut fields));
        let name = attributes.metadata().name();
        let text = if fields.is_empty() {
            name.to_owned()
        } else {
            format!("{name}{{{fields}}}")
        };
        lock(&self.spans).push(text);
        Id::from_u64(self.ids.fetch_add(1, Ordering::Relaxed) + 1)
    }

    fn record(&self, span: &Id, values: &Record<'_>) {
        let mut fields = String::new();
        values.record(&mut Fields(&mut fields));
        if let Some(text) = lock(&self.spans).get_mut(span.into_u64() as usize - 1) {
            let _ = write!(text, "{{{fields}}}");
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        let mut fields = String::new();
        event.record(&mut Fields(&mut fields));
        let task = current();
        let mut line = format!("{} {}", event.metadata().level(), event.metadata().target());
        for (owner, span) in lock(&self.entered).iter() {
            // A poll may be suspended inside a span: other tasks are not in it.
            let spans = lock(&self.spans);
            if let Some(text) = spans.get(*span as usize - 1).filter(|_| *owner == task) {
                let _ = write!(line, " {text}:");
            }
        }
        let _ = write!(line, " {fields}");
        WORLD.with(|world| {
            if world.is_running() {
                world.with(|core, _| {
                    let (step, task) = (core.point.step, task.map(|key| core.task_name(key)));
                    let task = task.map_or(String::new(), |task| format!("task {task} "));
                    if let Some(recorder) = &mut core.recorder {
                        recorder.log(LogLine {
                            step,
                            level: *event.metadata().level(),
                            text: format!("{task}{line}"),
                        });
                    }
                });
            }
        });
    }

    fn enter(&self, span: &Id) {
        lock(&self.entered).push((current(), span.into_u64()));
    }

    fn exit(&self, span: &Id) {
        let mut entered = lock(&self.entered);
        let task = current();
        let mine = |entry: &(Option<u32>, u64)| *entry == (task, span.into_u64());
        if let Some(at) = entered.iter().rposition(mine) {
            entered.remove(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_muted_nobody_hears_whatever_the_version_of_tracing_core() {
        let log = Dispatch::new(Log::default());
        heard_by(&log, || {
            muted(|| {
                tracing::error!("unheard");
                let asks_for_the_global =
                    tracing::dispatcher::get_default(Dispatch::is::<NoSubscriber>);
                assert!(!asks_for_the_global);
                assert!(!Surroundings::of_this_thread().hear());
                let span = tracing::info_span!("unheard too");
                assert!(span.is_none() || span.is_disabled());
            });
            assert!(Surroundings::of_this_thread().hear());
        });
    }
}
