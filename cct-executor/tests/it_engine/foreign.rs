//! What reports say of tasks that wait for primitives of other crates, and where operations are.

use crate::{checker, failed};
use cct_executor::runtime::Handle;
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::words::explanation::Step;
use cct_executor::{Clock, Granularity, Report, cancellable, join, select, spawn, try_join};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};
use std::time::Duration;
use tokio::sync::mpsc;

/// What one task did, in order, with the marks of its steps.
fn steps(report: &Report, task: &str) -> Vec<(String, bool)> {
    let of_task = |step: &&Step| step.task.as_deref() == Some(task);
    let steps = failed(report).explanation.steps.iter();
    steps
        .filter(of_task)
        .map(|step| (step.what.to_string(), step.preempts))
        .collect()
}

fn whats(report: &Report, task: &str) -> Vec<String> {
    steps(report, task)
        .into_iter()
        .map(|(what, _)| what)
        .collect()
}

#[test]
fn a_task_woken_by_another_crate_before_its_deadline_does_not_seem_to_have_slept() {
    let report = checker("before")
        .strategy_text("round-robin")
        .run(|| async {
            let (sender, mut receiver) = mpsc::channel::<u32>(1);
            spawn(async move {
                let mut time_is_up = pin!(sleep(Duration::from_millis(9)));
                loop {
                    select! {
                        biased;
                        Some(_) = receiver.recv() => {}
                        () = &mut time_is_up => break,
                    }
                }
                pending::<()>().await;
            });
            yield_now().await;
            sender.send(1).await.unwrap();
            sleep(Duration::from_millis(20)).await;
            pending::<()>().await;
        });
    assert_eq!(
        whats(&report, "1"),
        ["start", "sleep: waits", "poll again", "sleep"],
        "{}",
        report.text()
    );
}

#[test]
fn a_task_woken_by_another_crate_is_polled_again_and_does_not_start_anew() {
    let receives = format!("{}:{}", file!(), line!() + 4);
    let report = checker("again").strategy_text("round-robin").run(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        spawn(async move {
            while receiver.recv().await.is_some() {}
            yield_now().await;
            pending::<()>().await;
        });
        for n in 0..2 {
            sender.send(n).await.unwrap();
            yield_now().await;
        }
        drop(sender);
        pending::<()>().await;
    });
    assert_eq!(
        whats(&report, "1"),
        ["start", "poll again", "poll again", "yield"],
        "{}",
        report.text()
    );
    let again = failed(&report).explanation.steps.iter();
    let again = again.filter(|step| &*step.what == "poll again");
    let sites: Vec<Option<&str>> = again.map(|step| step.site.as_deref()).collect();
    assert_eq!(sites, [Some(&*receives); 2], "where it waited before");
}

#[test]
fn a_task_out_of_budget_goes_on_with_its_operation() {
    let report = checker("budget")
        .strategy_text("round-robin")
        .run(|| async {
            let (sender, mut receiver) = cct_sync::mpsc::channel(200);
            for n in 0..150 {
                sender.send(n).await.unwrap();
            }
            drop(sender);
            spawn(async move { while receiver.recv().await.is_some() {} });
            pending::<()>().await;
        });
    for task in ["0 `main`", "1"] {
        let again = whats(&report, task).iter().any(|what| what == "poll again");
        assert!(!again, "{}", report.text());
    }
}

#[test]
fn a_task_that_waits_for_another_crate_is_not_preempted() {
    let report = checker("no preemption")
        .strategy_text("round-robin")
        .run(|| async {
            let (sender, mut receiver) = mpsc::channel::<u8>(1);
            spawn(async move { receiver.recv().await });
            let other = spawn(yield_now());
            other.await.unwrap();
            pending::<()>().await;
            drop(sender);
        });
    let text = report.text();
    assert_eq!(steps(&report, "1"), [("start".to_owned(), false)], "{text}");
    assert_eq!(
        steps(&report, "2")[0],
        ("start".to_owned(), false),
        "{text}"
    );
}

#[test]
fn an_aborted_task_is_dropped_and_performs_nothing() {
    let report = checker("aborted")
        .strategy_text("round-robin")
        .run(|| async {
            let task = spawn(pending::<()>());
            yield_now().await;
            task.abort();
            assert!(task.await.unwrap_err().is_cancelled());
            pending::<()>().await;
        });
    assert_eq!(
        whats(&report, "1"),
        ["start", "drop (aborted)"],
        "{}",
        report.text()
    );
}

#[test]
fn a_timer_and_a_cancellation_say_for_whom() {
    let second = Duration::from_secs(1);
    let report = checker("for whom")
        .clock(Clock::Racing(second))
        .iterations(100)
        .run(move || async move {
            let limited = spawn(timeout(second, pending::<()>()));
            let given_up = spawn(cancellable(pending::<()>()));
            let both = (limited.await.unwrap(), given_up.await.unwrap());
            assert!(both.0.is_ok(), "always fails");
        });
    let steps = &failed(&report).explanation.steps;
    let told = |what: &str| steps.iter().any(|step| &*step.what == what);
    assert!(told("fire for task 1"), "{}", report.text());
    assert!(told("cancel for task 2"), "{}", report.text());
}

#[test]
fn a_join_is_where_the_program_waits_and_not_in_a_macro() {
    let hour = Duration::from_secs(3600);
    let report = checker("places").run(move || async move {
        let forever = || spawn(pending::<()>());
        let failing = || spawn(pending::<Result<(), ()>>());
        spawn(async move { join!(forever(), forever()) });
        spawn(async move { timeout(hour, forever()).await });
        spawn(async move { cancellable(forever()).await });
        spawn(async move {
            select! { ended = forever() => ended }
        });
        spawn(async move { try_join!(failing(), failing()) });
        pending::<()>().await;
    });
    let steps = &failed(&report).explanation.steps;
    let joins = steps.iter().filter(|step| step.what.starts_with("join"));
    let elsewhere: Vec<_> = joins
        .clone()
        .filter_map(|join| join.site.as_deref())
        .filter(|site| !site.starts_with(file!()))
        .collect();
    assert_eq!(elsewhere, [""; 0], "{}", report.text());
    assert!(joins.count() >= 7, "{}", report.text());
}

#[test]
fn a_crate_that_wants_the_runtime_of_tokio_is_told_apart() {
    let report = checker("runtime").run(|| async { drop(tokio::spawn(pending::<()>())) });
    let text = report.text();
    assert!(text.contains("a world is no tokio runtime"), "{text}");
    let report = checker("no runtime").run(|| async { panic!("a panic of its own") });
    assert!(!report.text().contains("a world is no tokio runtime"));
}

/// Keeps the waker of whoever polled last.
#[derive(Clone, Default)]
struct OneSeat(Arc<Mutex<Option<Waker>>>);

impl OneSeat {
    async fn wait(self) {
        poll_fn(|cx| {
            let waker = Some(cx.waker().clone());
            let _before = std::mem::replace(&mut *self.0.lock().unwrap(), waker);
            Poll::<()>::Pending
        })
        .await;
    }
}

#[test]
fn a_report_says_that_a_waker_was_lost() {
    let report = checker("lost").strategy_text("round-robin").run(|| async {
        let seat = OneSeat::default();
        spawn(seat.clone().wait());
        spawn(seat.clone().wait());
        seat.wait().await;
    });
    let failure = failed(&report);
    let lost: Vec<bool> = failure
        .explanation
        .tasks
        .iter()
        .map(|t| t.unwakeable)
        .collect();
    assert_eq!(lost, [true, true, false], "{}", report.text());
    let text = report.text();
    assert_eq!(
        text.matches("every waker of it is gone").count(),
        2,
        "{text}"
    );
    assert_eq!(
        text.matches("(a waker of another crate)").count(),
        1,
        "{text}"
    );
    // Maybe so, maybe not: the channel of another crate looks the same.
    assert!(
        text.contains("should the waker of another crate be that of a timer or socket"),
        "{text}"
    );
    let order = "so tokio should hang as well. Should tokio pass, this may differ";
    let unless = "timers and sockets of other runtimes (async-io, futures-timer, smol...) are not waited for,";
    assert!(text.contains(order) && text.contains(unless), "{text}");
}

#[test]
fn a_report_says_where_a_waker_was_taken() {
    let report = checker("taken").strategy_text("round-robin").run(|| async {
        spawn(OneSeat::default().wait()).await.unwrap();
    });
    let failure = failed(&report);
    let taken_at = failure.explanation.tasks[1].waker_taken_at.as_deref();
    let [innermost, .., outermost] = taken_at.expect("it was taken") else {
        panic!("in the seat, and in what waits for it: {taken_at:?}");
    };
    let line = |text: &str| {
        let lines: Vec<&str> = include_str!("foreign.rs").lines().collect();
        1 + lines.iter().position(|line| line.contains(text)).unwrap()
    };
    let here = |place: &str, line: usize| place.ends_with(&format!("foreign.rs:{line}"));
    let taken = line("let waker = Some(cx.waker().clone());");
    assert!(here(innermost, taken), "{innermost}, {taken}");
    assert!(outermost.contains("foreign.rs:"), "{outermost}");
    let text = report.text();
    let told = format!("its waker was last taken at {innermost}\n          called at ");
    assert!(text.contains(&told), "{text}");
}

#[test]
fn a_report_says_that_nobody_has_taken_a_waker() {
    let report = checker("never").strategy_text("round-robin").run(|| async {
        let forgets = spawn(poll_fn(|_| Poll::<()>::Pending));
        // Who counts wakers of this one? Nobody, so it may be otherwise.
        spawn_blocking(|| Handle::current().block_on(poll_fn(|_| Poll::<()>::Pending)));
        forgets.await.unwrap();
    });
    let failure = failed(&report);
    let tasks = &failure.explanation.tasks;
    assert_eq!(tasks[1].waker_taken_at, None, "{}", report.text());
    let lost: Vec<bool> = tasks.iter().map(|task| task.unwakeable).collect();
    assert_eq!(lost, [false, true, false], "{}", report.text());
    assert_eq!(
        report.text().matches("left its waker with nobody").count(),
        1,
        "{}",
        report.text()
    );
}

#[test]
fn a_waker_that_is_used_up_is_gone() {
    let report = checker("used").strategy_text("round-robin").run(|| async {
        let seat = OneSeat::default();
        let task = spawn({
            let seat = seat.clone();
            async move {
                let mut asked = pin!(seat.wait());
                let mut polls = 0;
                poll_fn(|cx| {
                    polls += 1;
                    match polls {
                        1 => asked.as_mut().poll(cx),
                        _ => Poll::Pending, // and forgets to ask again
                    }
                })
                .await;
            }
        });
        yield_now().await;
        let waker = seat.0.lock().unwrap().take();
        waker.expect("the task has asked").wake();
        task.await.unwrap();
    });
    let text = report.text();
    assert!(text.contains("every waker of it is gone"), "{text}");
}

#[test]
fn threads_that_the_test_has_started_are_told_of_where_tasks_wait_for_them() {
    let report = checker("threads")
        .strategy_text("round-robin")
        .run(|| async {
            let told = OneSeat::default();
            let waits = spawn(told.clone().wait());
            let handle = Handle::current();
            let thread =
                std::thread::spawn(move || handle.spawn(std::future::ready(())).is_finished());
            assert!(thread.join().is_err(), "the handle is of no use there");
            waits.await.unwrap();
        });
    assert_eq!(failed(&report).explanation.threads, 1, "{}", report.text());
    assert!(
        report.text().contains("has started threads (1)"),
        "{}",
        report.text()
    );
    assert!(
        !report.text().contains("should the waker"),
        "{}",
        report.text()
    );
}

#[test]
fn threads_that_a_panic_may_be_due_to_are_counted() {
    let report = checker("no answer").run(|| async {
        let (answer, asked) = std::sync::mpsc::channel();
        let handle = Handle::current();
        let thread = std::thread::spawn(move || {
            handle.spawn(async {});
            answer.send(true)
        });
        drop(thread.join());
        assert!(asked.recv().is_ok(), "the thread has panicked");
    });
    let text = report.text();
    assert!(text.contains("std's threads (1 started), files"), "{text}");
}

#[test]
fn a_task_does_not_wait_for_a_timer_that_another_has_dropped() {
    let report = checker("gone").strategy_text("round-robin").run(|| async {
        let timer = Arc::new(Mutex::new(Some(Box::pin(sleep(Duration::from_secs(1))))));
        let queue = timer.clone();
        let waits = spawn(poll_fn(move |cx| match &mut *queue.lock().unwrap() {
            Some(timer) => timer.as_mut().poll(cx),
            None => Poll::Ready(()),
        }));
        yield_now().await;
        timer.lock().unwrap().take();
        waits.await.unwrap();
    });
    let text = report.text();
    assert_eq!(failed(&report).explanation.tasks[1].waits, [], "{text}");
    assert!(text.contains("left its waker with nobody"), "{text}");
}

/// As `BiLock` of futures, and every cell with a flag of its own: what is locked in the middle of a poll, others find
/// locked, and wait for a wake-up that has been already.
#[test]
fn a_poll_in_vain_names_who_stood_in_the_middle() {
    let report = checker("in vain")
        .granularity(Granularity::Spawn)
        .run(|| async {
            let (locked, waker) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new(None)));
            let polls = Arc::new(AtomicU32::new(0));
            let waits = {
                let (locked, waker, polls) = (locked.clone(), waker.clone(), polls.clone());
                spawn(poll_fn(move |cx| {
                    *waker.lock().unwrap() = Some(cx.waker().clone());
                    match polls.fetch_add(1, SeqCst) > 0 && locked.try_lock().is_ok() {
                        true => Poll::Ready(()),
                        false => Poll::Pending,
                    }
                }))
            };
            let (sender, mut receiver) = cct_sync::mpsc::unbounded_channel();
            while polls.load(SeqCst) == 0 {
                yield_now().await;
            }
            spawn(async move {
                let _locked = locked.lock().unwrap();
                sender.send(()).unwrap();
            });
            receiver.recv().await.unwrap();
            let taken: Option<Waker> = waker.lock().unwrap().take();
            taken.unwrap().wake();
            while polls.load(SeqCst) == 1 {
                yield_now().await;
            }
            assert!(waits.is_finished(), "nobody wakes it again");
        });
    let text = report.text();
    let steps = &failed(&report).explanation.steps;
    let in_vain = "poll again: in vain, in the middle stood task 2 (";
    assert!(
        steps.iter().any(|step| step.what.starts_with(in_vain)),
        "{text}"
    );
    assert!(text.contains(in_vain), "{text}");
}

#[test]
fn a_wait_for_a_lock_of_std_is_told_where_it_is() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let line = Arc::new(AtomicU32::new(0));
    let told = line.clone();
    let report = checker("lock")
        .granularity(Granularity::Spawn)
        .run(move || {
            let line = line.clone();
            async move {
                let (lock, is_over) = (Arc::new(Mutex::new(())), Arc::new(AtomicU32::new(0)));
                let (sender, mut receiver) = cct_sync::mpsc::unbounded_channel();
                let (theirs, over) = (lock.clone(), is_over.clone());
                spawn(async move {
                    let _locked = theirs.lock().unwrap();
                    sender.send(()).unwrap();
                    over.store(1, SeqCst);
                });
                receiver.recv().await.unwrap();
                let waits = is_over.load(SeqCst) == 0;
                line.store(line!() + 1, SeqCst);
                drop(lock.lock());
                assert!(!waits, "it had to wait");
            }
        });
    let text = report.text();
    let mut steps = failed(&report).explanation.steps.iter();
    let waited = steps.find(|step| &*step.what == "block");
    let place = format!("{}:{}", file!(), told.load(SeqCst));
    let site = waited.and_then(|step| step.site.as_deref());
    assert_eq!(site, Some(&*place), "{text}");
}
