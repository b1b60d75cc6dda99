//! What reports say of time: who sleeps, who is late, which limit strikes.

use crate::{checker, failed};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Clock, join, spawn};
use cct_sync::mpsc;
use std::time::Duration;

/// Work that is ready, and a time limit far away that only guards it.
async fn guarded() {
    let work = spawn(async {});
    let guarded = timeout(Duration::from_secs(60), work).await;
    guarded.expect("a minute is enough").unwrap();
}

#[test]
fn a_report_says_when_ready_work_was_kept_waiting_for_long() {
    let report = checker("guarded")
        .clock(Clock::Racing(Duration::from_millis(5)))
        .run(guarded);
    let text = report.text();
    assert!(
        failed(&report).kind.to_string().contains("a minute"),
        "{text}"
    );
    assert!(text.contains("a timer fires 60s ahead"), "{text}");
    let fires = &failed(&report).explanation.steps;
    assert!(
        fires.iter().any(|s| s.task.is_none() && s.preempts),
        "{text}"
    );
    checker("guarded").run(guarded).assert_passed();
}

#[test]
fn a_report_is_silent_of_timers_that_fire_when_nothing_is_ready() {
    let report = checker("idle").clock(Clock::Adversarial).run(|| async {
        join!(
            sleep(Duration::from_secs(60)),
            sleep(Duration::from_secs(61))
        );
        panic!("at the end");
    });
    let text = report.text();
    assert!(!text.contains("a timer fires"), "{text}");
}

#[test]
fn who_gives_up_shows_what_all_waited_for() {
    let report = checker("gives up").run(|| async {
        let (requests, mut inbox) = mpsc::channel::<u32>(1);
        let (answers, mut answer) = mpsc::channel::<u32>(1);
        spawn(async move {
            // Waits for one more than there is.
            let sum = inbox.recv().await.unwrap() + inbox.recv().await.unwrap();
            let _ = answers.send(sum).await;
        });
        requests.send(1).await.unwrap();
        let sum = timeout(Duration::from_secs(60), answer.recv()).await;
        assert_eq!(sum.ok().flatten(), Some(3));
    });
    let told = report.text();
    let standstill = "nothing could go on for 60s, until a timer woke task 0 `main`";
    let (_, then) = told
        .split_once(standstill)
        .unwrap_or_else(|| panic!("{told}"));
    let (then, _) = then.split_once("\n\n").unwrap();
    assert!(then.contains("\n    task 1 (spawned at "), "{told}");
    assert!(then.contains("\n      recv at "), "{told}");
}

#[test]
fn who_only_sleeps_is_no_standstill() {
    let report = checker("sleeps").run(|| async {
        let (_requests, mut inbox) = mpsc::channel::<u32>(1);
        spawn(async move { inbox.recv().await });
        sleep(Duration::from_secs(60)).await;
        panic!("after a minute");
    });
    let told = report.text();
    assert!(!told.contains("nothing could go on"), "{told}");
}

/// It waits by a waker that it keeps itself, and cct knows of the limit alone.
#[test]
fn who_gives_up_what_cct_does_not_know_shows_when_that_began() {
    let report = checker("unknown").run(|| async {
        let never = std::future::poll_fn(|_| std::task::Poll::<()>::Pending);
        timeout(Duration::from_secs(30), never)
            .await
            .expect("it comes");
    });
    let text = report.text();
    assert!(text.contains("nothing could go on for 30s"), "{text}");
    let report = checker("known").run(|| async {
        let slow = sleep(Duration::from_secs(40));
        timeout(Duration::from_secs(30), slow)
            .await
            .expect("it is over");
    });
    let text = report.text();
    assert!(!text.contains("nothing could go on"), "{text}");
}

#[test]
fn who_sleeps_for_too_long_is_named_where_nobody_else_is_to_blame() {
    let report = checker("sleeper").run(|| async {
        let stale = spawn(sleep(Duration::from_secs(3600)));
        let in_time = timeout(Duration::from_secs(60), stale).await;
        in_time.expect("a minute is enough").unwrap();
    });
    let text = report.text();
    let (_, told) = text.split_once("nothing could go on for 60s").expect(&text);
    for part in ["task 1 (spawned at", ": until 3600s"] {
        assert!(told.contains(part), "{part}: {text}");
    }
}

/// What waits within is the last that was seen of the task, and not what has happened.
#[test]
fn a_time_limit_that_strikes_is_told() {
    let report = checker("limit").run(|| async {
        let slow = sleep(Duration::from_millis(50));
        let done = timeout(Duration::from_millis(20), slow).await;
        assert!(done.is_ok(), "too slow");
    });
    let steps = &failed(&report).explanation.steps;
    let struck = steps.iter().find(|step| &*step.what == "time limit over");
    let struck = struck.unwrap_or_else(|| panic!("{}", report.text()));
    assert_eq!(struck.time_ns, 20_000_000);
}

#[test]
fn timers_that_follow_each_other_have_each_its_line() {
    let first = line!() + 2;
    let report = checker("one by one").run(|| async {
        sleep(Duration::from_millis(1)).await;
        let _ = timeout(Duration::from_millis(2), std::future::pending::<()>()).await;
        sleep(Duration::from_millis(3)).await;
        sleep(Duration::ZERO).await;
        panic!("at the end");
    });
    let steps = failed(&report).explanation.steps.iter();
    let sleeps = steps.filter(|step| step.what.starts_with("sleep"));
    let line = |site: &str| site.rsplit_once(':')?.1.parse::<u32>().ok();
    let mut lines: Vec<u32> = sleeps
        .filter_map(|step| line(step.site.as_deref()?))
        .collect();
    lines.dedup();
    let expected: Vec<u32> = (first..first + 4).collect();
    assert_eq!(lines, expected, "{}", report.text());
}

/// Work of 20 ms within 30 ms.
async fn limited() {
    let work = sleep(Duration::from_millis(20));
    let late = timeout(Duration::from_millis(30), work).await.is_err();
    cct_executor::sometimes!(late, "late");
}

#[test]
fn a_run_that_passes_names_the_limits_that_never_struck_and_what_lets_them() {
    let strict = checker("limits").iterations(10).run(|| async {
        cct_executor::time::pause();
        let paused = sleep(Duration::from_millis(1));
        timeout(Duration::from_millis(9), paused).await.unwrap();
        cct_executor::time::resume();
        limited().await;
        // What strikes.
        let long = sleep(Duration::from_millis(5));
        timeout(Duration::from_millis(4), long).await.unwrap_err();
        // A minute only guards the test, and there is nothing to wait for within the last.
        guarded().await;
        let _ = timeout(Duration::from_millis(3), async {}).await;
    });
    assert!(strict.passed(), "{}", strict.text());
    let never: Vec<_> = strict.never_struck().collect();
    let [(file, line, margin)] = never[..] else {
        panic!("{never:?}");
    };
    assert_eq!(margin, Duration::from_millis(10));
    let told =
        format!("limits that never struck: {file}:{line}; CCT_CLOCK='racing(10ms)' lets them\n");
    assert!(strict.text().ends_with(&told), "{}", strict.text());
    let racing = checker("limits")
        .iterations(100)
        .clock(Clock::Racing(margin))
        .run(limited);
    assert_eq!(racing.never_reached().count(), 0, "{}", racing.text());
    assert!(!racing.text().contains("never struck"), "{}", racing.text());
}
