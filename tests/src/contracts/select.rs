//! select!

use super::rt::{pin, select, spawn, sync, task as tasks, time};
use cct_tests::tools::{Tombstone, payload_text};
use cct_tests::{Log, note};
use futures::future::poll_fn;
use std::cell::Cell;
use std::future::{pending, ready};
use std::task::Poll;
use std::time::Duration;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

pub(crate) async fn biased_asks_in_order(log: Log) {
    let asked = Cell::new(0);
    let ask = |bit: u32, answer: Poll<u32>| {
        let asked = &asked;
        poll_fn(move |_| {
            asked.set(asked.get() * 10 + bit);
            answer
        })
    };
    let value = select! {
        biased;
        value = ask(1, Poll::Pending) => value,
        value = ask(2, Poll::Ready(20)) => value,
        value = ask(3, Poll::Ready(30)) => value,
    };
    note!(log, "{value} asked {}", asked.get());
}

pub(crate) async fn preconditions_switch_branches_off(log: Log) {
    let off = false;
    let value = select! {
        value = ready(1), if off => value,
        value = ready(2), if !off => value,
    };
    note!(log, "{value}");
    let value = select! {
        _ = ready(1), if off => 1,
        else => 9,
    };
    note!(log, "{value}");
}

pub(crate) async fn patterns_that_do_not_match_disable(log: Log) {
    let value = select! {
        Some(value) = async { None::<u8> } => value,
        Ok(value) = async { Err::<u8, u8>(3) } => value,
        else => 0,
    };
    note!(log, "{value}");
    let value = select! {
        Some(value) = async { None::<u8> } => value,
        value = async { tasks::yield_now().await; 5 } => value,
    };
    note!(log, "{value}");
}

pub(crate) async fn nothing_left_panics(log: Log) {
    let join = spawn(async {
        select! {
            Some(value) = async { None::<u8> } => value,
        }
    });
    let payload = join.await.unwrap_err().into_panic();
    note!(log, "{}", payload_text(payload.as_ref()));
}

pub(crate) async fn one_of_the_ready_ones_wins(_: Log) {
    for _ in 0..20 {
        let value = select! {
            value = ready(1) => value,
            value = ready(2) => value,
            value = pending() => value,
        };
        assert!(value == 1 || value == 2);
    }
}

pub(crate) async fn losers_are_dropped_before_the_handler(log: Log) {
    let value = Tombstone::new(&log, "loser");
    select! {
        biased;
        () = async move { let _value = value; pending().await } => {}
        () = ready(()) => note!(log, "handler"),
    }
    note!(log, "after");
}

mod without_imports {
    use super::{Log, note, ready, select};

    /// tokio's macro imports `Pin`, and what stands in the macro sees it.
    pub(crate) async fn expressions_see_the_name_pin(log: Log) {
        let mut one = ready(1);
        let number = select! {
            number = std::future::poll_fn(|cx| Future::poll(Pin::new(&mut one), cx)) => {
                let pinned: Pin<Box<i32>> = Box::pin(number);
                *pinned
            }
        };
        note!(log, "{number}");
    }
}

pub(crate) use without_imports::expressions_see_the_name_pin;

pub(crate) async fn the_earlier_timer_wins(log: Log) {
    let start = time::Instant::now();
    for (one, two) in [(5, 9), (9, 5)] {
        select! {
            () = time::sleep(millis(one)) => note!(log, "first {:?}", start.elapsed()),
            () = time::sleep(millis(two)) => note!(log, "second {:?}", start.elapsed()),
        }
    }
}

pub(crate) async fn a_loop_over_a_pinned_sleep(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(1);
    spawn(async move {
        for value in 0..3 {
            time::sleep(millis(4)).await;
            tx.send(value).await.unwrap();
        }
        time::sleep(millis(100)).await;
    });
    let start = time::Instant::now();
    let deadline = time::sleep(millis(10));
    pin!(deadline);
    loop {
        select! {
            () = &mut deadline => break note!(log, "deadline {:?}", start.elapsed()),
            value = rx.recv() => note!(log, "{value:?} {:?}", start.elapsed()),
        }
    }
}

pub(crate) async fn a_cancelled_recv_loses_no_message(_: Log) {
    let (tx, mut rx) = sync::mpsc::channel(2);
    let producer = spawn(async move {
        for value in 0..8 {
            tx.send(value).await.unwrap();
        }
    });
    let mut received = Vec::new();
    loop {
        select! {
            value = rx.recv() => match value {
                Some(value) => received.push(value),
                None => break,
            },
            () = tasks::yield_now() => {}
        }
    }
    producer.await.unwrap();
    assert_eq!(received, (0..8).collect::<Vec<_>>());
}

pub(crate) async fn closed_channels_end_a_merge(_: Log) {
    let (tx_one, mut one) = sync::mpsc::channel(1);
    let (tx_two, mut two) = sync::mpsc::channel(1);
    for (tx, base) in [(tx_one, 0), (tx_two, 100)] {
        spawn(async move {
            for value in base..base + 4 {
                tx.send(value).await.unwrap();
            }
        });
    }
    let mut seen = Vec::new();
    loop {
        select! {
            Some(value) = one.recv() => seen.push(value),
            Some(value) = two.recv() => seen.push(value),
            else => break,
        }
    }
    for base in [0, 100] {
        let part: Vec<_> = seen
            .iter()
            .filter(|value| **value / 100 == base / 100)
            .collect();
        assert!(part.iter().map(|value| **value).eq(base..base + 4));
    }
}

pub(crate) async fn branches_may_borrow_and_return(log: Log) {
    let mut count = 1;
    let text = String::from("text");
    let value = select! {
        biased;
        length = async { text.len() } => {
            count += length;
            if count > 3 { count * 2 } else { 0 }
        }
        () = async { drop(text.clone()); pending().await } => 0,
    };
    note!(log, "{value} {count}");
}

pub(crate) async fn a_wake_meant_for_a_loser_is_passed_on(log: Log) {
    let notify = sync::Notify::new();
    let mut other = tokio_test::task::spawn(notify.notified());
    let first = async {
        select! {
            biased;
            () = notify.notified() => "notified",
            () = poll_fn(|_| {
                assert!(other.poll().is_pending());
                notify.notify_one();
                Poll::Ready(())
            }) => "other branch",
        }
    };
    note!(log, "{}", first.await);
    note!(log, "woken {} {:?}", other.is_woken(), other.poll());
}
