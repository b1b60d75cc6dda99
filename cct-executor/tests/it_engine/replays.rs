//! What becomes of a program that does not fail where the trace ends.

use crate::{checker, failed};
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::{nondet, spawn};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

/// What it would remove at its end is in nobody's way then.
#[test]
fn a_program_that_does_not_fail_where_the_trace_ends_goes_on_to_its_own_end() {
    let (fails, ends) = (Arc::new(AtomicU32::new(1)), Arc::new(AtomicU32::new(0)));
    let scenario = {
        let (fails, ends) = (fails.clone(), ends.clone());
        move || {
            let (fails, ends) = (fails.clone(), ends.clone());
            async move {
                let others = [(); 2].map(|()| spawn(yield_now()));
                for other in others {
                    other.await.unwrap();
                }
                assert_eq!(fails.load(SeqCst), 0, "it fails");
                let others = [(); 2].map(|()| {
                    spawn(async {
                        sleep(Duration::from_secs(nondet::choose(3).into())).await;
                        yield_now().await;
                    })
                });
                for other in others {
                    other.await.unwrap();
                }
                ends.fetch_add(1, SeqCst);
            }
        }
    };
    let report = checker("repaired").run(scenario.clone());
    let token = failed(&report).token.clone();
    fails.store(0, SeqCst);
    let replayed = checker("repaired").replay(token.clone()).run(scenario);
    assert_eq!(ends.load(SeqCst), 1, "{}", replayed.text());
    assert!(replayed.passed(), "{}", replayed.text());
    // Steps and states are counted where the trace ends.
    let note = format!(
        "nothing failed: all {} decisions fit",
        token.trace.decisions().len()
    );
    let text = replayed.text();
    assert!(
        text.contains(&note) && !text.contains("no longer goes"),
        "{text}"
    );
    assert_eq!(replayed.coverage.steps, failed(&report).step, "{text}");
}

/// One that goes on for ever is left.
#[test]
fn a_program_that_never_ends_is_left_some_time_after_the_trace() {
    let fails = Arc::new(AtomicU32::new(1));
    let scenario = {
        let fails = fails.clone();
        move || {
            let fails = fails.clone();
            async move {
                let others = [(); 2].map(|()| spawn(yield_now()));
                for other in others {
                    other.await.unwrap();
                }
                assert_eq!(fails.load(SeqCst), 0, "it fails");
                let _other = spawn(async {
                    loop {
                        yield_now().await;
                    }
                });
                loop {
                    yield_now().await;
                }
            }
        }
    };
    let report = checker("goes round").run(scenario.clone());
    let token = failed(&report).token.clone();
    fails.store(0, SeqCst);
    let replayed = checker("goes round").replay(token).run(scenario);
    assert!(replayed.passed(), "{}", replayed.text());
    assert_eq!(replayed.coverage.steps, failed(&report).step);
}
