//! The engine from outside: how worlds end, that they repeat themselves, what failures look like,
//! and what tasks, clocks and cancellation may show.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what programs must not use is tested with programs that use it"
)]

use cct_executor::{Checker, FailureReport, Granularity, Report};
use std::sync::mpsc;
use std::time::Duration;

mod it_engine {
    mod aborts;
    mod at_await;
    mod blame;
    mod cancelling;
    mod determinism;
    mod endless;
    mod events;
    mod failures;
    mod foreign;
    mod hangs;
    mod late_timers;
    mod locals;
    mod nodes;
    mod own_strategies;
    mod partial;
    mod plainer;
    mod replays;
    mod reports;
    mod rests;
    mod search;
    mod shrink;
    mod spans;
    mod spinning;
    mod std_locks;
    mod std_threads;
    mod std_time;
    mod stuck;
    mod suspended;
    mod system;
    mod tasks;
    mod teardown;
    mod teardown_drops;
    mod time;
    mod times_told;
    mod variables;
    mod waits;
}

type Boxed = std::pin::Pin<Box<dyn Future<Output = ()>>>;

const GRANULARITIES: [Granularity; 3] = [Granularity::Await, Granularity::Op, Granularity::Sync];

/// Without environment, time budget, second runs and runs for priming, so that counts are exact.
fn checker(name: &str) -> Checker {
    Checker::new()
        .name(name)
        .strategy_text("random")
        .use_environment(false)
        .time_budget(None)
        .determinism_check(false)
        .workers(1)
        .poll_limit(Duration::from_secs(20))
}

/// Fails, instead of hanging, when `f` takes too long.
#[track_caller]
fn within<R: Send + 'static>(seconds: u64, f: impl FnOnce() -> R + Send + 'static) -> R {
    let (sender, receiver) = mpsc::channel();
    let thread = std::thread::spawn(move || {
        let _ = sender.send(std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)));
    });
    match receiver.recv_timeout(Duration::from_secs(seconds)) {
        Ok(Ok(result)) => {
            thread.join().unwrap();
            result
        }
        Ok(Err(payload)) => std::panic::resume_unwind(payload),
        Err(error) => panic!("nothing within {seconds} s: {error}"),
    }
}

/// The failure of a run that must fail.
#[track_caller]
fn failed(report: &Report) -> &FailureReport {
    assert_eq!(report.error(), None);
    report
        .failure()
        .unwrap_or_else(|| panic!("nothing failed: {}", report.text()))
}

/// What a panicking closure said.
fn panic_text<R>(f: impl FnOnce() -> R) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err();
    let payload = payload.expect("a panic");
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().expect("a text").clone(),
    }
}
