//! What a report says of what tasks wait for.

use crate::{checker, failed};
use cct_executor::node::node;
use cct_executor::task::{LocalSet, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::words::FailureKind;
use cct_executor::words::explanation::TaskState;
use cct_executor::{Granularity, Report, select, spawn};
use cct_sync::{Barrier, Mutex, Notify, RwLock, Semaphore, mpsc, oneshot, watch};
use std::collections::VecDeque;
use std::future::{Future, pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::task::{Poll, Waker};
use std::time::Duration;

/// Two actors fill each other's inboxes before they look into their own.
async fn full_inboxes() {
    let (to_left, mut from_right) = mpsc::channel(1);
    let (to_right, mut from_left) = mpsc::channel(1);
    let left = spawn(async move {
        for n in 0..3 {
            to_right.send(n).await.unwrap();
        }
        while from_right.recv().await.is_some() {}
    });
    let right = spawn(async move {
        from_left.recv().await.unwrap();
        for n in 0..2 {
            to_left.send(n).await.unwrap();
        }
        while from_left.recv().await.is_some() {}
    });
    left.await.unwrap();
    right.await.unwrap();
}

#[test]
fn who_waits_for_room_learns_who_used_the_other_end_last() {
    let report = checker("inboxes").run(full_inboxes);
    let failure = failed(&report);
    let text = report.text();
    assert!(
        matches!(failure.kind, FailureKind::Deadlock { .. }),
        "{text}"
    );
    let wait = |task: usize| failure.explanation.tasks[task].waits[0].clone();
    let full = "1 message(s), 0 of 1 places free, 1 sender(s)";
    assert_eq!(wait(1).state.as_deref(), Some(full), "{text}");
    assert_eq!(wait(2).state.as_deref(), Some(full), "{text}");
    let uses = wait(1).uses.expect("a channel has ends");
    let uses: Vec<_> = uses.iter().map(|u| (&*u.task, &*u.op, u.ended)).collect();
    assert_eq!(uses, [("2", "recv", false)], "{text}");
    assert_eq!(wait(2).uses, Some(Vec::new()), "{text}");
    assert!(
        text.contains("no other task has used its other end"),
        "{text}"
    );
    // The end of a task is no channel.
    assert_eq!((wait(0).state, wait(0).uses), (None, None), "{text}");
}

/// The scenario keeps a sender, so that the channel never ends.
#[test]
fn who_waits_for_a_message_learns_how_many_could_send_one() {
    let report = checker("kept sender").run(|| async {
        let (sender, mut receiver) = mpsc::unbounded_channel();
        let other = sender.clone();
        let task = spawn(async move { other.send(1) });
        while receiver.recv().await.is_some() {}
        task.await.unwrap().unwrap();
        drop(sender);
    });
    let text = report.text();
    assert!(text.contains(": 0 message(s), 1 sender(s)\n"), "{text}");
    assert!(
        text.contains("last used by task 1, which has ended: drop in step"),
        "{text}"
    );
}

/// A message wakes who polled last, which has given up meanwhile.
#[test]
fn who_is_not_woken_learns_of_the_message_that_is_there() {
    let report = checker("left behind").run(|| async {
        let (sender, receiver) = mpsc::channel(4);
        let receiver = Arc::new(std::sync::Mutex::new(receiver));
        let receive = || {
            let receiver = receiver.clone();
            poll_fn(move |cx| receiver.lock().unwrap().poll_recv(cx))
        };
        let stays = spawn(receive());
        yield_now().await;
        let leaves = spawn(timeout(Duration::from_millis(10), receive()));
        assert!(leaves.await.unwrap().is_err(), "it was the first");
        sender.send(1).await.unwrap();
        stays.await.unwrap();
    });
    let text = report.text();
    assert!(
        text.contains(": 1 message(s), 3 of 4 places free, 1 sender(s)\n"),
        "{text}"
    );
}

#[test]
fn who_waits_for_permits_learns_what_is_in_the_way() {
    let report = checker("permits").run(|| async {
        let semaphore = Semaphore::new(1);
        let one = semaphore.acquire().await.unwrap();
        let two = semaphore.acquire_many(2).await.unwrap();
        drop((one, two));
    });
    let text = report.text();
    assert!(
        text.contains("1 in the queue, the first lacks 2 permit(s)"),
        "{text}"
    );
    let report = checker("barrier").run(|| async {
        Barrier::new(2).wait().await;
    });
    let text = report.text();
    assert!(text.contains(": 1 of 2 have come"), "{text}");
}

/// `select!` keeps a future that queues for a lock, and stops polling it while a branch wants the same lock.
/// The lock goes to the one that nobody polls.
#[test]
fn who_waits_for_a_lock_learns_that_it_was_given_to_a_future_that_is_not_polled() {
    let report = checker("futurelock").run(|| async {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.clone().lock_owned().await;
        let background = spawn(async move {
            sleep(Duration::from_millis(5)).await;
            drop(held);
        });
        let mut kept = std::pin::pin!(lock.lock());
        select! {
            _ = &mut kept => {}
            () = sleep(Duration::from_millis(1)) => drop(lock.lock().await),
        }
        background.await.unwrap();
    });
    let text = report.text();
    assert!(matches!(failed(&report).kind, FailureKind::Deadlock { .. }));
    let told = "1 in the queue, where nobody overtakes; given to what waits at";
    assert!(text.contains(told), "{text}");
    assert!(text.contains(", which was not polled since"), "{text}");
}

#[test]
fn a_lock_that_was_taken_is_not_said_to_be_given() {
    let report = checker("taken").strategy_text("round-robin").run(|| async {
        let lock = Arc::new(Mutex::new(()));
        let held = lock.lock().await;
        let tasks: Vec<_> = (0..2)
            .map(|_| {
                let lock = lock.clone();
                spawn(async move {
                    let _held = lock.lock().await;
                    std::future::pending::<()>().await;
                })
            })
            .collect();
        yield_now().await;
        drop(held);
        for task in tasks {
            task.await.unwrap();
        }
    });
    let text = report.text();
    assert!(
        text.contains("1 in the queue, where nobody overtakes\n"),
        "{text}"
    );
    assert!(!text.contains("given to"), "{text}");
}

/// A future that is polled by two tasks keeps the waker of one.
#[test]
fn who_waits_for_a_timer_of_another_task_is_told_who_has_it() {
    let report = checker("shared timer").run(|| async {
        let sleep = Box::pin(sleep(Duration::from_millis(5)));
        let sleep = Arc::new(std::sync::Mutex::new(sleep));
        let first = spawn(poll_fn({
            let sleep = sleep.clone();
            move |cx| sleep.lock().unwrap().as_mut().poll(cx)
        }));
        yield_now().await;
        let second = spawn(poll_fn(move |cx| sleep.lock().unwrap().as_mut().poll(cx)));
        let _ = (first.await, second.await);
    });
    let text = report.text();
    assert!(text.contains("the same was done later by task"), "{text}");
    assert!(text.contains("only the last is woken"), "{text}");
}

/// Somebody looks whether a task has ended for which another one waits.
#[test]
fn who_waits_for_a_task_that_another_has_looked_at_since_is_told_who() {
    let report = checker("one waker")
        .strategy_text("round-robin")
        .run(|| async {
            let joined = spawn(async {
                for _ in 0..3 {
                    yield_now().await;
                }
            });
            let joined = Arc::new(std::sync::Mutex::new(joined));
            let theirs = joined.clone();
            let first = spawn(poll_fn(move |cx| {
                pin!(&mut *theirs.lock().unwrap()).poll(cx)
            }));
            let second = spawn(async move {
                let mut joined = joined.lock().unwrap();
                let mut cx = std::task::Context::from_waker(Waker::noop());
                assert!(pin!(&mut *joined).poll(&mut cx).is_pending());
            });
            second.await.unwrap();
            first.await.unwrap().unwrap();
        });
    let text = report.text();
    for part in [
        " for task 1: it has ended",
        "the same was done later by task 3, which has ended: join at",
    ] {
        assert!(text.contains(part), "no `{part}` in: {text}");
    }
}

/// What is lost without a panic or a wait shows in the steps before the failure.
#[test]
fn who_waits_at_a_receiver_that_another_task_has_polled_since_is_told_who() {
    let report = checker("one waker")
        .strategy_text("round-robin")
        .run(|| async {
            let (sender, receiver) = mpsc::channel::<u32>(1);
            let receiver = Arc::new(std::sync::Mutex::new(receiver));
            let polled = |receiver: Arc<std::sync::Mutex<mpsc::Receiver<u32>>>| {
                spawn(poll_fn(move |cx| receiver.lock().unwrap().poll_recv(cx)))
            };
            let (first, second) = (polled(receiver.clone()), polled(receiver));
            yield_now().await;
            sender.send(1).await.unwrap();
            assert_eq!(second.await.unwrap(), Some(1));
            sender.send(2).await.unwrap();
            first.await.unwrap();
        });
    let text = report.text();
    let told = "the same was done later by task 2, which has ended: recv at";
    assert!(text.contains(told), "{text}");
}

#[test]
fn who_sends_to_nobody_and_what_nobody_reads_are_told() {
    let report = checker("lost letters").run(|| async {
        let (sender, receiver) = mpsc::channel(4);
        sender.send(1).await.unwrap();
        sender.send(2).await.unwrap();
        drop(receiver);
        let late = sender.send(3).await.is_err();
        let (answer, nobody) = oneshot::channel();
        drop(nobody);
        assert!(!late || answer.send(4).is_ok(), "the letters are lost");
    });
    let text = report.text();
    for part in [
        "drop mpsc 1: 2 message(s) unread ",
        "send mpsc 1: closed ",
        "send oneshot 2: nobody receives ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

#[test]
fn what_becomes_of_a_notification_is_told() {
    let report = checker("unheard of").run(|| async {
        let notify = Notify::new();
        notify.notify_waiters();
        notify.notify_one();
        notify.notify_one();
        notify.notified().await;
        notify.notified().await;
    });
    let text = report.text();
    for part in [
        "notify_waiters notify 1: wakes nobody ",
        "notify_one notify 1: nobody waits, so its permit stays ",
        "notify_one notify 1: nobody waits, and its permit was there already ",
    ] {
        assert!(text.contains(part), "{part}: {text}");
    }
}

/// Whom a queue wakes is gone before it looks, and takes the news away with it.
#[test]
fn a_wake_up_that_an_aborted_task_took_away_is_told() {
    /// A queue of wakers as other crates have them, which wakes the first and forgets it.
    type Queue = Arc<std::sync::Mutex<VecDeque<Waker>>>;
    let report = checker("swallowed").run(|| async {
        let (queue, free) = (Queue::default(), Arc::new(AtomicBool::new(false)));
        let wait = || {
            let (queue, free, mut queued) = (queue.clone(), free.clone(), false);
            spawn(poll_fn(move |cx| {
                if free.load(SeqCst) {
                    return Poll::Ready(());
                }
                if !std::mem::replace(&mut queued, true) {
                    queue.lock().unwrap().push_back(cx.waker().clone());
                }
                Poll::Pending
            }))
        };
        let (first, second) = (wait(), wait());
        while queue.lock().unwrap().len() < 2 {
            yield_now().await;
        }
        free.store(true, SeqCst);
        let woken = queue.lock().unwrap().pop_front();
        woken.unwrap().wake();
        first.abort();
        let gone = first.await.is_err();
        if !gone {
            second.abort();
        }
        let _ = second.await;
    });
    let text = report.text();
    let told = "was woken in step";
    let lost = ", and dropped before it went on (aborted): that wake-up is lost";
    assert!(text.contains(told) && text.contains(lost), "{text}");
}

/// What the scenario's own task is said to wait for when it receives in vain, after it has given up another wait.
async fn gives_up_and_receives<R>(waits: impl Future<Output = R>) {
    let (_sender, mut receiver) = mpsc::channel::<u32>(1);
    assert!(timeout(Duration::from_millis(5), waits).await.is_err());
    receiver.recv().await;
}

#[track_caller]
fn assert_receives_alone(report: &Report) {
    let waits = &failed(report).explanation.tasks[0].waits;
    let ops: Vec<&str> = waits.iter().map(|wait| &*wait.op).collect();
    assert_eq!(ops, ["recv"], "{}", report.text());
}

#[test]
fn who_has_given_up_a_wait_is_not_said_to_wait() {
    let once = |name| checker(name).iterations(1);
    let locks = once("given up: lock").run(|| async {
        let mutex = Arc::new(Mutex::new(()));
        let held = mutex.clone();
        spawn(async move {
            let _guard = held.lock().await;
            pending::<()>().await;
        });
        sleep(Duration::from_millis(1)).await;
        gives_up_and_receives(mutex.lock()).await;
    });
    assert_receives_alone(&locks);
    let reserves = once("given up: send").run(|| async {
        let (sender, _receiver) = mpsc::channel(1);
        sender.send(1).await.unwrap();
        gives_up_and_receives(sender.send(2)).await;
    });
    assert_receives_alone(&reserves);
    let receives = once("given up: recv").run(|| async {
        let (_sender, mut receiver) = mpsc::channel::<u32>(1);
        gives_up_and_receives(receiver.recv()).await;
    });
    assert_receives_alone(&receives);
    let notified = once("given up: notified").run(|| async {
        gives_up_and_receives(Notify::new().notified()).await;
    });
    assert_receives_alone(&notified);
    let changed = once("given up: changed").run(|| async {
        let (_sender, mut receiver) = watch::channel(1);
        gives_up_and_receives(receiver.changed()).await;
    });
    assert_receives_alone(&changed);
    let closed = once("given up: closed").run(|| async {
        let (mut sender, _receiver) = oneshot::channel::<u32>();
        gives_up_and_receives(sender.closed()).await;
    });
    assert_receives_alone(&closed);
    let joins = once("given up: join").run(|| async {
        gives_up_and_receives(spawn(pending::<()>())).await;
    });
    assert_receives_alone(&joins);
}

#[test]
fn what_a_poll_looks_at_twice_is_told_once() {
    let report = checker("twice").iterations(1).run(|| async {
        let (_sender, mut receiver) = mpsc::channel::<u32>(1);
        let mut received = pin!(receiver.recv());
        poll_fn(|cx| {
            assert!(received.as_mut().poll(cx).is_pending());
            received.as_mut().poll(cx)
        })
        .await;
    });
    assert_receives_alone(&report);
}

/// Who notified is told of, and not that it went on, or stopped to wait itself.
#[test]
fn who_notified_last_is_told() {
    let report = checker("notified too early")
        .granularity(Granularity::Spawn)
        .run(|| async {
            let notify = Arc::new(Notify::new());
            let theirs = notify.clone();
            let first = spawn(async move { theirs.notified().await });
            let theirs = notify.clone();
            spawn(async move {
                yield_now().await;
                let _dropped = theirs.notified();
                theirs.notify_waiters();
            });
            first.await.unwrap();
            notify.notified().await;
        });
    let text = report.text();
    assert!(text.contains(": notify_waiters at "), "{text}");
    for other in [": drop in step", ": resume at"] {
        assert!(!text.contains(other), "{other}: {text}");
    }
}

/// What a panic drops aborts a task, and wakes it with a waker in the hands of others: that comes of the failure.
#[test]
fn what_unwinding_wakes_is_no_cause() {
    struct Wakes(Arc<std::sync::Mutex<Option<Waker>>>);
    impl Drop for Wakes {
        fn drop(&mut self) {
            let waker = self.0.lock().unwrap().take();
            waker.unwrap().wake();
        }
    }
    let report = checker("unwound").run(|| async {
        let waker = Arc::default();
        let _wakes = Wakes(Arc::clone(&waker));
        let mut tasks = cct_executor::task::JoinSet::new(); // dropped first
        let theirs = waker.clone();
        tasks.spawn(poll_fn(move |cx| {
            *theirs.lock().unwrap() = Some(cx.waker().clone());
            Poll::<()>::Pending
        }));
        while waker.lock().unwrap().is_none() {
            yield_now().await;
        }
        panic!("the cause");
    });
    let text = report.text();
    assert!(text.contains("the cause"), "{text}");
    assert!(!text.contains("is lost"), "{text}");
}

/// The lines of a report that begin so.
fn lines(report: &Report, begin: &str) -> Vec<String> {
    let text = report.text();
    let lines = text.lines().map(str::trim);
    let found = lines.filter(|line| line.starts_with(begin));
    found.map(str::to_owned).collect()
}

#[test]
fn who_waits_for_itself_is_told_why() {
    let twice = checker("read twice").run(|| async {
        let lock = Arc::new(RwLock::new(0));
        let theirs = lock.clone();
        let reader = spawn(async move {
            let first = theirs.read().await;
            yield_now().await;
            *first + *theirs.read().await
        });
        *lock.write().await += 1;
        reader.await.unwrap();
    });
    assert_eq!(
        lines(&twice, "CYCLE"),
        [
            "CYCLE: task 1 waits for what it holds itself: to read once more it queues behind task 0 `main`, which \
             waits to write"
        ]
    );
    let locked = checker("lock twice").run(|| async {
        let lock = Mutex::new(0);
        let first = lock.lock().await;
        *lock.lock().await += *first;
    });
    assert_eq!(
        lines(&locked, "CYCLE"),
        ["CYCLE: task 0 `main` waits for what it holds itself"]
    );
}

#[test]
fn a_circle_is_told_once() {
    let report = checker("two permits").run(|| async {
        let permits = Arc::new(Semaphore::new(2));
        let both = [0, 1].map(|_| {
            let permits = permits.clone();
            spawn(async move {
                let _first = permits.acquire().await.unwrap();
                let _second = permits.acquire().await.unwrap();
            })
        });
        for one in both {
            one.await.unwrap();
        }
    });
    assert_eq!(
        lines(&report, "CYCLE"),
        ["CYCLE: task 1 waits for task 2 waits for task 1"]
    );
}

/// What could run, but for those who would have to let it.
#[test]
fn who_is_held_back_is_not_said_to_wait() {
    let report = checker("a set").run(|| async {
        let set = LocalSet::new();
        let (sender, receiver) = oneshot::channel();
        set.spawn_local(async move { sender.send(()) });
        receiver.await.unwrap();
    });
    let failure = failed(&report);
    let state = |number: usize| failure.explanation.tasks[number].state;
    assert_eq!(state(1), TaskState::Undriven, "{}", report.text());
    assert!(report.text().contains("nobody drives"), "{}", report.text());
    let report = checker("a node").run(|| async {
        let (sender, receiver) = oneshot::channel();
        let sender = std::sync::Mutex::new(Some(sender));
        let other = node("other").start(move || {
            let sender = sender.lock().unwrap().take();
            async move {
                let _ = sender.map(|sender| sender.send(()));
            }
        });
        other.pause();
        receiver.await.unwrap();
    });
    let text = report.text();
    assert!(text.contains("its node is paused"), "{text}");
}
