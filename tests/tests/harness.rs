//! The suite itself: what is true for some schedules only must not pass.

use cct_tests::tools::panic_text;
use cct_tests::{Log, cct_side, note};

async fn who_comes_first(log: Log) {
    let joins = ["a", "b"].map(|name| {
        let log = log.clone();
        cct_executor::spawn(async move { note!(log, "{name}") })
    });
    for join in joins {
        join.await.expect("a task that only notes its name");
    }
}

fn both() -> Vec<String> {
    vec!["a".to_owned(), "b".to_owned()]
}

#[test]
fn a_lucky_order_is_not_true_for_every_schedule() {
    let text = panic_text(|| cct_side::any("who_comes_first", who_comes_first, both()));
    assert!(text.contains("ours noted what tokio does not"), "{text}");
}

#[test]
fn it_is_true_in_the_order_of_wakes() {
    cct_side::fifo("who_comes_first", who_comes_first, both());
}

#[test]
fn a_missing_observation_is_noticed() {
    let text = panic_text(|| cct_side::clock("nothing", |_| async {}, both()));
    assert!(text.contains("ours noted what tokio does not"), "{text}");
}
