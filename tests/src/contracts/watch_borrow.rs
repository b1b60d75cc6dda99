//! A borrowed watch value stands still, and so does one that is being changed.

use super::rt::{spawn, sync, task as tasks};
use cct_tests::Log;
use std::sync::Arc;

pub(crate) async fn a_borrowed_value_does_not_change(_: Log) {
    let (tx, rx) = sync::watch::channel(0);
    let gate = Arc::new(sync::Semaphore::new(10));
    let readers: Vec<_> = (0..2)
        .map(|_| {
            let (rx, gate) = (rx.clone(), gate.clone());
            spawn(async move {
                for _ in 0..3 {
                    {
                        let value = rx.borrow();
                        let before = *value;
                        drop(gate.try_acquire());
                        assert_eq!(before, *value);
                    }
                    tasks::yield_now().await;
                }
            })
        })
        .collect();
    for value in 1..4 {
        tx.send(value).unwrap();
        tasks::yield_now().await;
    }
    for reader in readers {
        reader.await.unwrap();
    }
}

pub(crate) async fn a_change_is_seen_whole(_: Log) {
    let (tx, rx) = sync::watch::channel((0, 0));
    let tx = Arc::new(tx);
    let gate = Arc::new(sync::Semaphore::new(10));
    let writers: Vec<_> = (0..2)
        .map(|_| {
            let (tx, gate) = (tx.clone(), gate.clone());
            spawn(async move {
                for _ in 0..2 {
                    tx.send_modify(|pair| {
                        pair.0 += 1;
                        drop(gate.try_acquire());
                        pair.1 += 1;
                    });
                    tasks::yield_now().await;
                }
            })
        })
        .collect();
    for _ in 0..4 {
        let pair = *rx.borrow();
        assert_eq!(pair.0, pair.1);
        tasks::yield_now().await;
    }
    for writer in writers {
        writer.await.unwrap();
    }
    assert_eq!(*rx.borrow(), (4, 4));
}

pub(crate) async fn no_change_is_missed(_: Log) {
    let (tx, mut rx) = sync::watch::channel(0);
    let reader = spawn(async move {
        while rx.changed().await.is_ok() {
            if *rx.borrow_and_update() == 3 {
                return;
            }
        }
        panic!("the last value was not seen");
    });
    for value in 1..4 {
        tx.send(value).unwrap();
    }
    reader.await.unwrap();
}

pub(crate) async fn two_writers_and_a_waiting_reader(_: Log) {
    let tx = sync::watch::Sender::new(0);
    let mut rx = tx.subscribe();
    for _ in 0..2 {
        let tx = tx.clone();
        spawn(async move {
            for _ in 0..3 {
                tx.send_modify(|value| *value += 1);
                tasks::yield_now().await;
            }
        });
    }
    drop(tx);
    assert_eq!(*rx.wait_for(|value| *value == 6).await.unwrap(), 6);
    assert!(rx.changed().await.is_err());
}
