//! Tests without an attribute that call functions with `#[cct_executor::main]`: those are no tests of their own, and
//! run as often as they are called.
#![cfg(unix)]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::spawn;
use cct_executor::time::{Duration, sleep};
use cct_sync::{Mutex, SetOnce, SetOnceError};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

static ONCE: SetOnce<u32> = SetOnce::const_new();
static CALLS: AtomicU32 = AtomicU32::new(0);

#[cct_executor::main]
async fn sets_once() -> Result<(), SetOnceError<u32>> {
    ONCE.set(2)
}

#[cct_executor::main(flavor = "current_thread")]
async fn counts() {
    sleep(Duration::from_secs(3600)).await;
    spawn(async { CALLS.fetch_add(1, SeqCst) }).await.unwrap();
}

passes!(["once" "explore"] what_a_main_sets_stays {
    assert_eq!(ONCE.get(), None);
    sets_once().unwrap();
    assert_eq!(ONCE.get(), Some(&2));
    assert!(sets_once().is_err());
});

passes!(["once" "explore"] it_runs_once_for_each_call {
    for calls in 1..4 {
        counts();
        assert_eq!(CALLS.load(SeqCst), calls);
    }
});

#[cct_executor::main]
async fn loses_an_update() {
    let count = Arc::new(Mutex::new(0));
    let both = [count.clone(), count.clone()].map(|count| {
        spawn(async move {
            let before = *count.lock().await;
            *count.lock().await = before + 1;
        })
    });
    for one in both {
        one.await.unwrap();
    }
    assert_eq!(*count.lock().await, 2, "an update is lost");
}

#[test]
fn its_orders_are_explored_as_the_tests_are() {
    let test = "its_orders_are_explored_as_the_tests_are";
    if is_again() {
        return loses_an_update();
    }
    let once = again(test, "once", &[]);
    assert!(once.status.success(), "{}", said(&once));
    let output = again(test, "explore", &[("CCT_REGRESSIONS", "off")]);
    let report = said(&output);
    assert_eq!(output.status.code(), Some(101), "{report}");
    for part in [
        "cct: FAILED its_orders_are_explored_as_the_tests_are: panic",
        "an update is lost",
        "lock mutex",
    ] {
        assert!(report.contains(part), "{part}: {report}");
    }
}
