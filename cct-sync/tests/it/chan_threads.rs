//! Channels outside a world: real threads, a real runtime, blocking callers.
#![expect(clippy::disallowed_methods, reason = "the tests are about threads")]

use crate::support::both;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

const MESSAGES: usize = 2000;
const SENDERS: usize = 4;

fn on_threads<R>(test: impl Future<Output = R>) -> R {
    tokio::runtime::Builder::new_multi_thread()
        .worker_threads(3)
        .build()
        .unwrap()
        .block_on(test)
}

both! {
    fn every_message_arrives_in_its_senders_order(sync) {
        on_threads(async {
            let (tx, mut rx) = sync::mpsc::channel(3);
            for sender in 0..SENDERS {
                let tx = tx.clone();
                tokio::spawn(async move {
                    for number in 0..MESSAGES {
                        match number % 3 {
                            0 => tx.send((sender, number)).await.unwrap(),
                            1 => tx.reserve().await.unwrap().send((sender, number)),
                            _ => {
                                let mut permits = tx.reserve_many(2).await.unwrap();
                                permits.next().unwrap().send((sender, number));
                            }
                        }
                    }
                });
            }
            drop(tx);
            let mut next = [0; SENDERS];
            let mut buffer = Vec::new();
            while rx.recv_many(&mut buffer, 2).await > 0 {
                for (sender, number) in buffer.drain(..) {
                    assert_eq!(number, next[sender]);
                    next[sender] += 1;
                }
            }
            assert_eq!(next, [MESSAGES; SENDERS]);
        });
    }
}

both! {
    fn threads_may_block(sync) {
        let (tx, mut rx) = sync::mpsc::channel(1);
        let (done, wait) = sync::oneshot::channel();
        let sender = thread::spawn(move || {
            (0..MESSAGES).for_each(|number| tx.blocking_send(number).unwrap());
            done.send("done").unwrap();
        });
        let received: Vec<_> = std::iter::from_fn(|| rx.blocking_recv()).collect();
        assert_eq!(received, (0..MESSAGES).collect::<Vec<_>>());
        assert_eq!(wait.blocking_recv(), Ok("done"));
        sender.join().unwrap();
        let mut buffer = Vec::new();
        assert_eq!(rx.blocking_recv_many(&mut buffer, 5), 0);

        let (tx, mut rx) = sync::mpsc::unbounded_channel();
        let sender = thread::spawn(move || (0..MESSAGES).for_each(|n| tx.send(n).unwrap()));
        while rx.blocking_recv_many(&mut buffer, 7) > 0 {}
        assert_eq!(buffer, received);
        sender.join().unwrap();
    }
}

/// Slow to clone, so that receivers meet at one message.
#[derive(Debug, PartialEq)]
struct Slow(usize);

impl Clone for Slow {
    fn clone(&self) -> Self {
        thread::yield_now();
        Slow(self.0)
    }
}

both! {
    fn every_receiver_gets_every_message(sync) {
        let (tx, _) = sync::broadcast::channel(MESSAGES);
        let receivers: Vec<_> = (0..SENDERS)
            .map(|_| {
                let mut rx = tx.subscribe();
                thread::spawn(move || {
                    for number in 0..MESSAGES {
                        assert_eq!(rx.blocking_recv(), Ok(Slow(number)));
                    }
                    assert!(rx.blocking_recv().is_err());
                })
            })
            .collect();
        for number in 0..MESSAGES {
            tx.send(Slow(number)).unwrap();
        }
        drop(tx);
        receivers.into_iter().for_each(|receiver| receiver.join().unwrap());
    }
}

both! {
    fn a_lagging_receiver_is_told_how_much_it_missed(sync) {
        let (tx, _) = sync::broadcast::channel(4);
        let receivers: Vec<_> = (0..SENDERS)
            .map(|_| {
                let mut rx = tx.subscribe();
                thread::spawn(move || {
                    let mut next = 0;
                    loop {
                        match rx.blocking_recv() {
                            Ok(Slow(number)) => {
                                assert_eq!(number, next);
                                next += 1;
                            }
                            Err(sync::broadcast::error::RecvError::Lagged(n)) => next += n as usize,
                            Err(sync::broadcast::error::RecvError::Closed) => return next,
                        }
                    }
                })
            })
            .collect();
        for number in 0..MESSAGES {
            tx.send(Slow(number)).unwrap();
        }
        drop(tx);
        for receiver in receivers {
            assert_eq!(receiver.join().unwrap(), MESSAGES);
        }
    }
}

both! {
    fn watchers_see_the_last_value(sync) {
        on_threads(async {
            let (tx, rx) = sync::watch::channel(0);
            let watchers: Vec<_> = (0..SENDERS)
                .map(|_| {
                    let mut rx = rx.clone();
                    tokio::spawn(async move {
                        let mut last = 0;
                        while rx.changed().await.is_ok() {
                            let value = *rx.borrow_and_update();
                            assert!(value >= last);
                            last = value;
                        }
                        last
                    })
                })
                .collect();
            drop(rx);
            for value in 1..=MESSAGES {
                tx.send(value).unwrap();
            }
            drop(tx);
            for watcher in watchers {
                assert_eq!(watcher.await.unwrap(), MESSAGES);
            }
        });
    }
}

both! {
    fn a_race_between_send_and_close_has_one_winner(sync) {
        for round in 0..300 {
            let (tx, mut rx) = sync::oneshot::channel();
            let go = Arc::new(AtomicBool::new(false));
            let start = go.clone();
            let sender = thread::spawn(move || {
                while !start.load(Ordering::Acquire) {}
                tx.send(round).is_ok()
            });
            go.store(true, Ordering::Release);
            rx.close();
            let received = rx.try_recv();
            let sent = sender.join().unwrap();
            assert_eq!(received.is_ok(), sent);
        }
    }
}
