//! Yields on one thread: who yields goes on when the others have got as far as they can.

use super::Log;
use super::rt;
use rt::sync::mpsc;
use rt::task::yield_now;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Tasks that are started one by the other, while the test yields once.
pub(crate) async fn of_the_test(log: Log) {
    let count = Arc::new(AtomicU32::new(0));
    let (first, second, third) = (count.clone(), count.clone(), count.clone());
    rt::spawn(async move {
        first.fetch_add(1, SeqCst);
        rt::spawn(async move {
            second.fetch_add(1, SeqCst);
            rt::spawn(async move { third.fetch_add(1, SeqCst) });
        });
    });
    yield_now().await;
    log.note(count.load(SeqCst));
}

/// What a task commands is answered while it yields, by way of the test.
pub(crate) async fn of_another_task(log: Log) {
    let (commands, mut inbox) = mpsc::unbounded_channel();
    let (echo, mut echoes) = mpsc::unbounded_channel();
    let seen = Arc::new(AtomicU32::new(0));
    let (theirs, notes) = (seen.clone(), log.clone());
    let commander = rt::spawn(async move {
        for round in 1..=3 {
            commands.send(round).unwrap();
            yield_now().await;
            notes.note(theirs.load(SeqCst));
        }
    });
    rt::spawn(async move {
        while let Some(round) = inbox.recv().await {
            echo.send(round).unwrap();
        }
    });
    while let Some(round) = echoes.recv().await {
        seen.store(round, SeqCst);
    }
    commander.await.unwrap();
}

/// All yield again and again: the test goes first in every round.
pub(crate) async fn of_all(log: Log) {
    let count = Arc::new(AtomicU32::new(0));
    for _ in 0..2 {
        let count = count.clone();
        rt::spawn(async move {
            loop {
                count.fetch_add(1, SeqCst);
                yield_now().await;
            }
        });
    }
    for _ in 0..5 {
        yield_now().await;
        log.note(count.load(SeqCst));
    }
}
