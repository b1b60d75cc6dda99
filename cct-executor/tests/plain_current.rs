//! Tests without an attribute: where there is a current runtime, and where there is none.

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::{Builder, Handle, Runtime};
use cct_executor::time::{Duration, sleep};
use cct_executor::{spawn, task};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

/// What it panics with.
fn said_by<R>(panics: impl FnOnce() -> R) -> String {
    let outcome = catch_unwind(AssertUnwindSafe(|| drop(panics())));
    let payload = outcome.expect_err("a panic");
    let text = payload.downcast_ref::<String>().cloned();
    let text = text.or_else(|| payload.downcast_ref::<&str>().map(ToString::to_string));
    text.expect("a text")
}

passes!(["once" "explore"] outside_of_all_there_is_none {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    assert!(Handle::try_current().is_err());
    runtime.block_on(async { assert!(Handle::try_current().is_ok()) });
    assert!(Handle::try_current().is_err());
    let entered = runtime.enter();
    assert!(Handle::try_current().is_ok());
    let other = Runtime::new().unwrap();
    other.block_on(async { spawn(async {}).await.unwrap() });
    drop(entered);
    assert!(Handle::try_current().is_err());
    other.handle().block_on(async { assert!(Handle::try_current().is_ok()) });
    drop((runtime, other));
    assert!(Handle::try_current().is_err());
});

passes!(["once"] what_needs_one_panics {
    let runtime = Runtime::new().unwrap();
    let texts = [
        said_by(|| spawn(async {})),
        said_by(|| task::spawn_blocking(|| ())),
        said_by(|| sleep(Duration::from_secs(1))),
    ];
    for text in texts {
        assert!(text.contains("there is no reactor running"), "{text}");
    }
    runtime.block_on(async { sleep(Duration::from_secs(1)).await });
});

// As it is called where no runtime is entered.
passes!(["once" "explore"] an_end_that_waits_needs_none {
    for (takes, limit) in [(0, 10), (5, 10), (500, 10)] {
        let runtime = Runtime::new().unwrap();
        let [takes, limit] = [takes, limit].map(Duration::from_millis);
        let handle = runtime.handle().clone();
        runtime.spawn_blocking(move || handle.block_on(sleep_in(takes)));
        runtime.block_on(sleep_in(Duration::from_millis(1)));
        runtime.shutdown_timeout(limit);
    }
});

/// Sleeps from where it is polled.
async fn sleep_in(time: Duration) {
    sleep(time).await;
}

/// Cleans up by the runtime, if there is one.
struct Temporary(Arc<AtomicBool>);

impl Drop for Temporary {
    fn drop(&mut self) {
        let gone = self.0.clone();
        match Handle::try_current() {
            Ok(handle) => drop(handle.spawn_blocking(move || gone.store(true, Relaxed))),
            Err(_) => gone.store(true, Relaxed),
        }
    }
}

passes!(["once" "explore"] destructors_know {
    let runtime = Runtime::new().unwrap();
    let gone = Arc::new(AtomicBool::new(false));
    let theirs = gone.clone();
    let temporary = runtime.block_on(async move { Temporary(theirs) });
    drop(temporary);
    assert!(gone.load(Relaxed));
});

passes!(["once" "explore"] a_set_may_be_there_before {
    let set = task::LocalSet::new();
    let (early, ended) = (set.spawn_local(async { 1 }), set.spawn_local(async {}));
    let runtime = Builder::new_current_thread().build().unwrap();
    let sum = set.block_on(&runtime, async {
        let late = task::spawn_local(async { 2 });
        while !ended.is_finished() {
            task::yield_now().await;
        }
        early.await.unwrap() + late.await.unwrap()
    });
    assert_eq!(sum, 3);
    ended.abort();
    let never = set.spawn_local(async {});
    never.abort();
    assert!(set.block_on(&runtime, never).unwrap_err().is_cancelled());
});

passes!(["once"] what_is_early_has_no_way_to_be_aborted {
    let set = task::LocalSet::new();
    let early = set.spawn_local(async {});
    for text in [said_by(|| early.abort()), said_by(|| early.abort_handle().abort())] {
        assert!(text.contains("spawn it when there is one"), "{text}");
    }
});
