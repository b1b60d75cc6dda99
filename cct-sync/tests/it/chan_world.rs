//! Inside a world: what exploration finds, and does not find, with channels.

use super::explore::{explore, passes};
use cct_executor::task::{JoinSet, spawn_blocking, yield_now};
use cct_executor::time::timeout;
use cct_executor::{Checker, Granularity, spawn};
use cct_sync::{broadcast, mpsc, oneshot, watch};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What a scenario produced over all iterations.
type Seen<T> = Arc<Mutex<BTreeSet<T>>>;

#[test]
fn a_bounded_channel_keeps_order_and_bound() {
    passes(|| async {
        let (tx, mut rx) = mpsc::channel(2);
        for sender in 0..3 {
            let tx = tx.clone();
            spawn(async move {
                for number in 0..3 {
                    if number == 1 {
                        tx.reserve().await.unwrap().send((sender, number));
                    } else {
                        tx.send((sender, number)).await.unwrap();
                    }
                }
            });
        }
        drop(tx);
        let mut next = [0; 3];
        while let Some((sender, number)) = rx.recv().await {
            assert!(rx.len() <= 2);
            assert_eq!(number, next[sender]);
            next[sender] += 1;
        }
        assert_eq!(next, [3; 3]);
    });
}

#[test]
fn cancelled_senders_and_receivers_lose_no_room() {
    passes(|| async {
        let (tx, mut rx) = mpsc::channel(2);
        let mut senders = JoinSet::new();
        for sender in 0..3 {
            let tx = tx.clone();
            senders.spawn(async move {
                let mut sent: i32 = 0;
                for _ in 0..3 {
                    let patience = Duration::from_millis(2);
                    let done = match sender {
                        0 => timeout(patience, tx.send(())).await.is_ok(),
                        1 => tx.send_timeout((), patience).await.is_ok(),
                        _ => match timeout(patience, tx.reserve_many(2)).await {
                            Ok(permits) => {
                                permits.unwrap().next().unwrap().send(());
                                true
                            }
                            Err(_) => false,
                        },
                    };
                    sent += i32::from(done);
                }
                sent
            });
        }
        let mut received = 0;
        for _ in 0..6 {
            if let Ok(message) = timeout(Duration::from_millis(1), rx.recv()).await {
                message.unwrap();
                received += 1;
            }
        }
        while let Some(sent) = senders.join_next().await {
            received -= sent.unwrap();
        }
        while rx.try_recv().is_ok() {
            received += 1;
        }
        assert_eq!(received, 0);
        assert_eq!(tx.capacity(), 2);
    });
}

#[test]
fn a_channel_closes_under_permits() {
    passes(|| async {
        let (tx, mut rx) = mpsc::channel(2);
        let ours = tx.clone();
        let used = spawn(async move {
            match ours.reserve_owned().await {
                Ok(permit) => {
                    yield_now().await;
                    drop(permit.send(1));
                    true
                }
                Err(_) => false,
            }
        });
        let dropped = spawn(async move {
            if let Ok(permit) = tx.reserve_owned().await {
                yield_now().await;
                // The sender stays, so that only the released permit ends the receiver's wait.
                let sender = permit.release();
                sender.closed().await;
            }
        });
        rx.close();
        let mut received = 0;
        while rx.recv().await.is_some() {
            received += 1;
        }
        assert_eq!(received, usize::from(used.await.unwrap()));
        dropped.await.unwrap();
    });
}

#[test]
fn a_full_channel_that_nobody_drains_is_a_deadlock() {
    let report = explore(Granularity::Op, || async {
        let (tx, mut rx) = mpsc::channel(1);
        let (reply, answer) = oneshot::channel::<()>();
        let other = spawn(async move {
            rx.recv().await.unwrap();
            answer.await.unwrap();
            rx.recv().await.unwrap();
        });
        for number in 0..3 {
            tx.send(number).await.unwrap();
        }
        reply.send(()).unwrap();
        other.await.unwrap();
    });
    assert_eq!(
        report.failure().expect("a deadlock").kind.class(),
        "deadlock"
    );
    let text = report.text();
    assert!(
        text.contains("mpsc") && text.contains("chan_world.rs"),
        "{text}"
    );
}

#[test]
fn granularity_decides_what_can_come_between() {
    let orders = |granularity| {
        let seen = Seen::default();
        let theirs = seen.clone();
        explore(granularity, move || {
            let seen = theirs.clone();
            async move {
                let (tx, mut rx) = mpsc::unbounded_channel();
                for task in ['a', 'b'] {
                    let tx = tx.clone();
                    spawn(async move {
                        tx.send(task).unwrap();
                        tx.send(task).unwrap();
                    });
                }
                drop(tx);
                let mut order = String::new();
                while let Some(task) = rx.recv().await {
                    order.push(task);
                }
                seen.lock().unwrap().insert(order);
            }
        })
        .assert_passed();
        let orders = seen.lock().unwrap().iter().cloned().collect::<Vec<_>>();
        orders.join(" ")
    };
    assert_eq!(orders(Granularity::Await), "aabb bbaa");
    assert_eq!(orders(Granularity::Op), "aabb bbaa");
    assert_eq!(orders(Granularity::Sync), "aabb abab abba baab baba bbaa");
}

#[test]
fn a_sender_may_find_the_receiver_gone() {
    let seen = Seen::default();
    let theirs = seen.clone();
    explore(Granularity::Op, move || {
        let seen = theirs.clone();
        async move {
            let (tx, rx) = mpsc::channel(1);
            let other = spawn(async move { drop(rx) });
            let sent = (tx.send(1).await.is_ok(), tx.send(2).await.is_ok());
            seen.lock().unwrap().insert(sent);
            other.await.unwrap();
        }
    })
    .assert_passed();
    let expected = BTreeSet::from([(false, false), (true, false)]);
    assert_eq!(*seen.lock().unwrap(), expected);
}

/// An actor that ends while it is asked something: is the question dropped while a sender is left?
fn leaves_a_question_open(
    granularity: Granularity,
    ask: impl Fn(&Asking, oneshot::Sender<()>) + Send + Sync + Copy + 'static,
) -> bool {
    let report = explore(granularity, move || async move {
        let (bounded, mut inbox) = mpsc::channel(1);
        let (unbounded, inbox_too) = mpsc::unbounded_channel();
        let actor = spawn(async move {
            inbox.close();
            drop((inbox, inbox_too));
        });
        let asking = Asking { bounded, unbounded };
        let (reply, answer) = oneshot::channel();
        let asking = spawn_blocking(move || {
            ask(&asking, reply);
            asking
        });
        let _asking = asking.await.unwrap();
        actor.await.unwrap();
        assert!(answer.await.is_err());
    });
    let told = report.text().contains(", but nobody receives");
    assert_eq!(report.failure().is_some(), told, "{}", report.text());
    told
}

struct Asking {
    bounded: mpsc::Sender<oneshot::Sender<()>>,
    unbounded: mpsc::UnboundedSender<oneshot::Sender<()>>,
}

#[test]
fn a_message_may_miss_the_drop_of_the_receiver_as_on_threads() {
    let ways: [fn(&Asking, oneshot::Sender<()>); 3] = [
        |asking, reply| drop(asking.bounded.blocking_send(reply)),
        |asking, reply| drop(asking.bounded.try_send(reply)),
        |asking, reply| drop(asking.unbounded.send(reply)),
    ];
    for ask in ways {
        assert!(!leaves_a_question_open(Granularity::Op, ask));
        let spawn = leaves_a_question_open(Granularity::Spawn, ask);
        assert_eq!(spawn, cfg!(target_os = "linux"));
        assert!(leaves_a_question_open(Granularity::Sync, ask));
    }
}

/// Who waits for an answer that lies in a channel without receiver is told so; a message goes with the last
/// sender, and then a report has nothing to say of it.
#[test]
fn a_report_tells_of_messages_that_nobody_will_receive() {
    let told = |keeps_asking: bool| {
        let report = explore(Granularity::Sync, move || async move {
            let (asking, inbox) = mpsc::channel::<oneshot::Sender<()>>(1);
            spawn(async move { drop(inbox) });
            let (reply, answer) = oneshot::channel();
            drop(asking.send(reply).await);
            if keeps_asking {
                assert!(answer.await.is_err());
            } else {
                drop(asking);
                assert!(answer.await.is_err());
                std::future::pending::<()>().await;
            }
        });
        assert!(report.failure().is_some());
        report.text().matches("1 message(s) in mpsc").count()
    };
    assert_eq!(told(true), 1);
    assert_eq!(told(false), 0);
}

#[test]
fn watchers_are_woken_in_any_order() {
    passes(|| async {
        let (tx, rx) = watch::channel(0);
        let mut tasks = JoinSet::new();
        for _ in 0..3 {
            let mut rx = rx.clone();
            tasks.spawn(async move {
                let mut last = 0;
                while rx.changed().await.is_ok() {
                    let value = *rx.borrow_and_update();
                    assert!(value > last);
                    last = value;
                }
                assert_eq!(last, 3);
            });
            let mut rx = tx.subscribe();
            tasks.spawn(async move {
                assert!(*rx.wait_for(|value| *value >= 2).await.unwrap() >= 2);
            });
        }
        drop(rx);
        for value in 1..=3 {
            tx.send_replace(value);
            yield_now().await;
        }
        let closer = tx.clone();
        drop(tx);
        spawn(async move { drop(closer) });
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
    });
}

#[test]
fn a_reference_to_a_watched_value_suspends_senders() {
    passes(|| async {
        let (tx, mut rx) = watch::channel(0);
        let (notes, mut log) = mpsc::unbounded_channel();
        let reader = spawn({
            let (rx, notes) = (rx.clone(), notes.clone());
            async move {
                let value = rx.borrow();
                // At granularity `sync` the task can be suspended here.
                notes.send(*value).unwrap();
                notes.send(*value).unwrap();
            }
        });
        let writer = spawn(async move {
            tx.send_modify(|value| {
                *value += 1;
                notes.send(9).unwrap();
            });
            tx.send(2).unwrap();
        });
        assert_eq!(*rx.wait_for(|value| *value == 2).await.unwrap(), 2);
        reader.await.unwrap();
        writer.await.unwrap();
        let mut order = Vec::new();
        while let Some(note) = log.recv().await {
            order.push(note);
        }
        assert!([[0, 0, 9], [9, 1, 1], [9, 2, 2]].contains(&order[..].try_into().unwrap()));
    });
}

#[test]
fn a_reference_that_is_kept_can_be_a_deadlock() {
    let report = explore(Granularity::Op, || async {
        let (tx, rx) = watch::channel(0);
        let value = rx.borrow();
        let other = spawn(async move { tx.send_replace(1) });
        other.await.unwrap();
        drop(value);
    });
    assert_eq!(
        report.failure().expect("a deadlock").kind.class(),
        "deadlock"
    );
    assert!(report.text().contains("watch"), "{}", report.text());
}

#[test]
fn broadcasts_reach_everybody_or_say_what_was_missed() {
    passes(|| async {
        let (tx, rx) = broadcast::channel(2);
        let mut tasks = JoinSet::new();
        for mut rx in [tx.subscribe(), rx] {
            tasks.spawn(async move {
                let mut next = 0;
                loop {
                    match rx.recv().await {
                        Ok(number) => {
                            assert_eq!(number, next);
                            next += 1;
                        }
                        Err(broadcast::error::RecvError::Lagged(missed)) => next += missed,
                        Err(broadcast::error::RecvError::Closed) => break,
                    }
                }
                assert_eq!(next, 5);
            });
        }
        for number in 0..5 {
            tx.send(number).unwrap();
            yield_now().await;
        }
        drop(tx);
        while let Some(result) = tasks.join_next().await {
            result.unwrap();
        }
    });
}

#[test]
fn a_oneshot_is_sent_or_refused() {
    passes(|| async {
        let (mut tx, mut rx) = oneshot::channel();
        let sender = spawn(async move {
            if timeout(Duration::from_millis(1), tx.closed()).await.is_ok() {
                assert!(tx.is_closed());
            }
            tx.send(1).is_ok()
        });
        let early = timeout(Duration::from_millis(1), &mut rx).await;
        rx.close();
        let sent = sender.await.unwrap();
        let received = match early {
            Ok(result) => result.is_ok(),
            Err(_) => rx.try_recv().is_ok(),
        };
        assert_eq!(sent, received);
    });
}

#[test]
fn blocking_calls_block_their_own_task_only() {
    passes(|| async {
        let (tx, mut rx) = mpsc::channel(1);
        let (done, finished) = oneshot::channel();
        let sender = spawn_blocking(move || {
            (0..4).for_each(|number| tx.blocking_send(number).unwrap());
            drop(tx);
            finished.blocking_recv().unwrap()
        });
        for number in 0..4 {
            assert_eq!(rx.recv().await, Some(number));
        }
        assert_eq!(rx.recv().await, None);
        done.send("done").unwrap();
        assert_eq!(sender.await.unwrap(), "done");
    });
}

#[test]
fn blocking_calls_panic_in_asynchronous_tasks() {
    let report = Checker::new().iterations(1).run(|| async {
        let (_tx, mut rx) = mpsc::channel::<u8>(1);
        rx.blocking_recv();
    });
    assert_eq!(report.failure().expect("a panic").kind.class(), "panic");
    let text = report.text();
    assert!(
        text.contains("Cannot block the current thread from within a runtime"),
        "{text}"
    );
}

/// How often `$operation` completes within one poll, where budget allows.
macro_rules! budgets {
    ($sync:path, $yield_now:path) => {
        async {
            use $sync as sync;
            let mut counts = Vec::new();
            macro_rules! count {
                ($operation:expr) => {{
                    $yield_now().await;
                    let count = std::cell::Cell::new(0);
                    let mut endless = Box::pin(async {
                        while count.get() < 1000 {
                            let _ = $operation;
                            count.set(count.get() + 1);
                        }
                    });
                    std::future::poll_fn(|cx| {
                        let _ = endless.as_mut().poll(cx);
                        std::task::Poll::Ready(())
                    })
                    .await;
                    drop(endless);
                    counts.push(count.get());
                }};
            }
            let (tx, mut rx) = sync::mpsc::channel(2000);
            count!(tx.send(1).await);
            count!(tx.reserve().await.map(drop));
            count!(tx.reserve_many(2).await.map(drop));
            count!(rx.recv().await);
            count!({
                tx.send(1).await.unwrap();
                rx.recv().await
            });
            let mut buffer = Vec::new();
            count!(rx.recv_many(&mut buffer, 0).await);
            drop(rx);
            count!(tx.send(1).await);
            count!(tx.closed().await);
            let (tx, mut rx) = sync::mpsc::unbounded_channel();
            (0..2000).for_each(|number| tx.send(number).unwrap());
            count!(rx.recv().await);
            let (mut tx, rx) = sync::oneshot::channel::<u8>();
            drop(rx);
            count!(tx.closed().await);
            count!({
                let (tx, rx) = sync::oneshot::channel();
                tx.send(1).unwrap();
                rx.await
            });
            let (tx, mut rx) = sync::watch::channel(1);
            count!({
                rx.mark_changed();
                rx.changed().await
            });
            count!(rx.wait_for(|_| true).await.map(|value| *value));
            drop(rx);
            count!(tx.closed().await);
            let (tx, mut rx) = sync::broadcast::channel(2048);
            (0..2000).for_each(|number| assert!(tx.send(number).is_ok()));
            count!(rx.recv().await);
            drop(rx);
            count!(tx.closed().await);
            counts
        }
    };
}

#[test]
fn budget_is_spent_where_tokio_spends_it() {
    let theirs = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap()
        .block_on(budgets!(tokio::sync, tokio::task::yield_now));
    let ours: Arc<Mutex<Vec<usize>>> = Arc::default();
    let result = ours.clone();
    Checker::new()
        .iterations(1)
        .run(move || {
            let result = result.clone();
            async move {
                let counts = budgets!(cct_sync, yield_now).await;
                *result.lock().unwrap() = counts;
            }
        })
        .assert_passed();
    assert_eq!(theirs, *ours.lock().unwrap());
}
