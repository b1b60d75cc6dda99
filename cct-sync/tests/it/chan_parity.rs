//! Random scripts, run on tokio and on this crate: what can be seen after each step is the same,
//! down to who is woken and when messages are cloned and dropped.

use crate::chan_script::{Message, Stage, parity};
use std::cell::Cell;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

const SEEDS: u64 = 1000;
const STEPS: usize = 60;

/// The name under which a receiver that is polled by hand is woken.
const RECEIVER: u32 = 0;

/// Waits until somebody opens the gate.
async fn pass(gate: Rc<Cell<bool>>) {
    poll_fn(|_| {
        if gate.get() {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}

parity! {
    fn bounded(sync, seed) -> String {
        let mut stage = Stage::new(seed);
        let (tx, rx) = sync::mpsc::channel::<Message>(1 + stage.dice.roll(4));
        let mut rx = Some(rx);
        let mut senders = vec![Rc::new(tx)];
        let (mut weak, mut permits) = (Vec::new(), Vec::new());
        let gate = Rc::new(Cell::new(false));
        for _ in 0..STEPS {
            let message = stage.message();
            let tx = stage.dice.pick(&senders).map(|index| senders[index].clone());
            match (stage.dice.roll(26), tx, &mut rx) {
                (0..=2, Some(tx), _) => stage.spawn(async move {
                    tx.send(message).await.map(|()| None).map_err(|e| format!("{e:?} {e} {:?}", e.0))
                }),
                (3..=4, Some(tx), _) => {
                    let count = stage.dice.roll(6);
                    let gate = gate.clone();
                    stage.spawn(async move {
                        let mut many = tx.reserve_many(count).await.map_err(|e| e.to_string())?;
                        let one = many.next();
                        pass(gate).await;
                        if let Some(permit) = one {
                            permit.send(message);
                        }
                        Err(format!("{} left", many.len()))
                    });
                }
                (5, Some(tx), _) => {
                    let tx = sync::mpsc::Sender::clone(&tx);
                    stage.spawn(async move {
                        tx.reserve_owned().await.map(Some).map_err(|e| e.to_string())
                    });
                }
                (6..=11, _, _) => match stage.poll_one() {
                    Some(Ok(Some(permit))) => permits.push(permit),
                    Some(Ok(None)) => stage.note(format_args!("sent")),
                    Some(Err(text)) => stage.note(format_args!("{text}")),
                    None => {}
                },
                (12, _, _) => stage.drop_one(),
                (13..=14, _, Some(rx)) => {
                    let poll = stage.once(RECEIVER, rx.recv());
                    stage.note(format_args!("{poll:?}"));
                }
                (15, _, Some(rx)) => {
                    let (mut buffer, limit) = (Vec::new(), stage.dice.roll(5));
                    let poll = stage.once(RECEIVER, rx.recv_many(&mut buffer, limit));
                    stage.note(format_args!("{poll:?} {buffer:?}"));
                }
                (16, _, Some(rx)) => stage.note(format_args!("{:?}", rx.try_recv())),
                (17, Some(tx), _) => {
                    let result = tx.try_send(message);
                    stage.note(format_args!("{result:?}"));
                }
                (18, Some(tx), _) => match sync::mpsc::Sender::clone(&tx).try_reserve_owned() {
                    Ok(permit) => permits.push(permit),
                    Err(error) => stage.note(format_args!("{error:?} {error}")),
                },
                (19, Some(tx), _) => {
                    let count = stage.dice.roll(6);
                    let many = tx.try_reserve_many(count).map(|many| many.len());
                    stage.note(format_args!("{many:?} {:?}", tx.try_reserve().map(drop)));
                }
                (20, _, _) => {
                    if let Some(index) = stage.dice.pick(&permits) {
                        let permit = permits.remove(index);
                        match stage.dice.roll(3) {
                            0 => senders.push(Rc::new(permit.send(message))),
                            1 => senders.push(Rc::new(permit.release())),
                            _ => drop(permit),
                        }
                    }
                }
                (21, _, _) => gate.set(!gate.get()),
                (22, Some(tx), _) => {
                    if stage.dice.roll(2) == 0 {
                        stage.spawn(async move {
                            tx.closed().await;
                            Err("closed".into())
                        });
                    } else {
                        weak.push(tx.downgrade());
                    }
                }
                (23, _, _) => {
                    if let Some(index) = stage.dice.pick(&weak) {
                        senders.extend(weak.remove(index).upgrade().map(Rc::new));
                    }
                }
                (24, _, _) => {
                    if let Some(index) = stage.dice.pick(&senders) {
                        drop(senders.remove(index));
                    }
                }
                (25, _, Some(receiver)) => match stage.dice.roll(4) {
                    0 => rx = None,
                    1 => receiver.close(),
                    _ => {}
                },
                _ => {}
            }
            if let Some(tx) = senders.first() {
                stage.note(format_args!(
                    "tx {} {} {} {}",
                    tx.is_closed(), tx.capacity(), tx.strong_count(), tx.weak_count()
                ));
            }
            if let Some(rx) = &rx {
                stage.note(format_args!(
                    "rx {} {} {} {} {} {}",
                    rx.is_closed(), rx.is_empty(), rx.len(), rx.capacity(),
                    rx.sender_strong_count(), rx.sender_weak_count()
                ));
            }
            stage.woken(true);
        }
        drop(rx);
        stage.woken(true);
        drop((permits, senders, weak));
        stage.finish()
    }
}

parity! {
    fn unbounded(sync, seed) -> String {
        let mut stage = Stage::new(seed);
        let (tx, rx) = sync::mpsc::unbounded_channel::<Message>();
        let mut rx = Some(rx);
        let mut senders = vec![Rc::new(tx)];
        let mut weak = Vec::new();
        for _ in 0..STEPS {
            let message = stage.message();
            let tx = stage.dice.pick(&senders).map(|index| senders[index].clone());
            match (stage.dice.roll(16), tx, &mut rx) {
                (0..=3, Some(tx), _) => {
                    let result = tx.send(message);
                    stage.note(format_args!("{result:?}"));
                }
                (4..=6, _, Some(rx)) => {
                    let poll = stage.once(RECEIVER, rx.recv());
                    stage.note(format_args!("{poll:?}"));
                }
                (7, _, Some(rx)) => {
                    let (mut buffer, limit) = (Vec::new(), stage.dice.roll(4));
                    let poll = stage.once(RECEIVER, poll_fn(|cx| {
                        rx.poll_recv_many(cx, &mut buffer, limit)
                    }));
                    stage.note(format_args!("{poll:?} {buffer:?}"));
                }
                (8, _, Some(rx)) => stage.note(format_args!("{:?}", rx.try_recv())),
                (9, Some(tx), _) => stage.spawn(async move { tx.closed().await }),
                (10, _, _) => drop(stage.poll_one()),
                (11, Some(tx), _) => weak.push(tx.downgrade()),
                (12, _, _) => {
                    if let Some(index) = stage.dice.pick(&weak) {
                        senders.extend(weak.remove(index).upgrade().map(Rc::new));
                    }
                }
                (13, Some(tx), _) => senders.push(Rc::new(sync::mpsc::UnboundedSender::clone(&tx))),
                (14, _, _) => {
                    if let Some(index) = stage.dice.pick(&senders) {
                        drop(senders.remove(index));
                    }
                }
                (15, _, Some(receiver)) => match stage.dice.roll(4) {
                    0 => rx = None,
                    1 => receiver.close(),
                    _ => stage.drop_one(),
                },
                _ => {}
            }
            if let Some(tx) = senders.first() {
                let counts = (tx.strong_count(), tx.weak_count());
                stage.note(format_args!("tx {} {counts:?}", tx.is_closed()));
            }
            if let Some(rx) = &rx {
                let counts = (rx.sender_strong_count(), rx.sender_weak_count());
                stage.note(format_args!("rx {} {} {counts:?}", rx.is_closed(), rx.len()));
            }
            stage.woken(true);
        }
        stage.finish()
    }
}

parity! {
    fn oneshot(sync, seed) -> String {
        const SENDER: u32 = 1000;
        let mut stage = Stage::<()>::new(seed);
        let (tx, rx) = sync::oneshot::channel::<Message>();
        let (mut tx, mut rx) = (Some(tx), Some(rx));
        for _ in 0..12 {
            let message = stage.message();
            match (stage.dice.roll(10), &mut tx, &mut rx) {
                (0, Some(_), _) => {
                    let result = tx.take().unwrap().send(message);
                    stage.note(format_args!("{result:?}"));
                }
                (1, _, _) => drop(tx.take()),
                (2, Some(tx), _) => {
                    let poll = stage.once(SENDER, tx.closed());
                    stage.note(format_args!("{poll:?}"));
                }
                (3, Some(tx), _) => {
                    let poll = stage.once(SENDER, poll_fn(|cx| tx.poll_closed(cx)));
                    stage.note(format_args!("{poll:?}"));
                }
                (4..=5, _, Some(rx)) if !rx.is_terminated() => {
                    let poll = stage.once(RECEIVER, rx);
                    stage.note(format_args!("{poll:?}"));
                }
                (6, _, Some(rx)) => stage.note(format_args!("{:?}", rx.try_recv())),
                (7, _, Some(rx)) => rx.close(),
                (8, _, _) if stage.dice.roll(3) == 0 => drop(rx.take()),
                _ => {}
            }
            if let Some(tx) = &tx {
                stage.note(format_args!("tx {}", tx.is_closed()));
            }
            if let Some(rx) = &rx {
                stage.note(format_args!("rx {} {}", rx.is_terminated(), rx.is_empty()));
            }
            stage.woken(true);
        }
        drop((tx, rx));
        stage.finish()
    }
}

parity! {
    fn watch(sync, seed) -> String {
        let mut stage = Stage::new(seed);
        let (tx, rx) = sync::watch::channel(0);
        let mut senders = vec![Rc::new(tx)];
        let mut receivers = vec![rx];
        for _ in 0..STEPS {
            let value = stage.name();
            let tx = stage.dice.pick(&senders).map(|index| senders[index].clone());
            let rx = stage.dice.pick(&receivers);
            match (stage.dice.roll(22), tx, rx) {
                (0..=1, Some(tx), _) => stage.note(format_args!("{:?}", tx.send(value))),
                (2, Some(tx), _) => tx.send_modify(|current| *current += value),
                (3, Some(tx), _) => {
                    let result = tx.send_if_modified(|current| {
                        *current += 1;
                        value % 2 == 0
                    });
                    stage.note(format_args!("{result}"));
                }
                (4, Some(tx), _) => stage.note(format_args!("{}", tx.send_replace(value))),
                (5, Some(tx), _) => receivers.push(tx.subscribe()),
                (6, Some(tx), _) => senders.push(Rc::new(sync::watch::Sender::clone(&tx))),
                (7, _, _) => {
                    if let Some(index) = stage.dice.pick(&senders) {
                        drop(senders.remove(index));
                    }
                }
                (8, Some(tx), _) => stage.spawn(async move {
                    tx.closed().await;
                    None
                }),
                (9, _, Some(index)) => receivers.push(receivers[index].clone()),
                (10, _, Some(index)) => drop(receivers.remove(index)),
                (11..=12, _, Some(index)) => {
                    let mut rx = receivers.remove(index);
                    stage.spawn(async move {
                        let result = rx.changed().await.map_err(|e| e.to_string());
                        Some((rx, format!("{result:?}")))
                    });
                }
                (13, _, Some(index)) => {
                    let mut rx = receivers.remove(index);
                    stage.spawn(async move {
                        let result = rx
                            .wait_for(|value| value % 3 == 0)
                            .await
                            .map(|value| (*value, value.has_changed()))
                            .map_err(|e| e.to_string());
                        Some((rx, format!("{result:?}")))
                    });
                }
                (14, _, Some(index)) => {
                    let poll = stage.once(RECEIVER, receivers[index].changed());
                    stage.note(format_args!("{:?}", poll.map_err(|e| e.to_string())));
                }
                (15, _, Some(index)) => match stage.dice.roll(3) {
                    0 => receivers[index].mark_changed(),
                    1 => receivers[index].mark_unchanged(),
                    _ => {
                        let value = receivers[index].borrow_and_update();
                        stage.note(format_args!("{} {}", *value, value.has_changed()));
                    }
                },
                (16..=20, _, _) => {
                    if let Some(Some((rx, text))) = stage.poll_one() {
                        stage.note(format_args!("{text}"));
                        receivers.push(rx);
                    }
                }
                (21, _, _) => stage.drop_one(),
                _ => {}
            }
            if let Some(tx) = senders.last() {
                stage.note(format_args!(
                    "tx {} {} {} {}",
                    *tx.borrow(), tx.is_closed(), tx.receiver_count(), tx.sender_count()
                ));
            }
            if let Some(rx) = receivers.last() {
                let changed = rx.has_changed().map_err(|e| e.to_string());
                let value = rx.borrow();
                stage.note(format_args!("rx {changed:?} {} {}", *value, value.has_changed()));
            }
            stage.woken(false);
        }
        stage.finish()
    }
}

parity! {
    fn broadcast(sync, seed) -> String {
        let mut stage = Stage::new(seed);
        let (tx, rx) = sync::broadcast::channel::<Message>(1 + stage.dice.roll(6));
        let mut senders = vec![Rc::new(tx)];
        let mut receivers = vec![rx];
        let mut weak = Vec::new();
        for _ in 0..STEPS {
            let message = stage.message();
            let tx = stage.dice.pick(&senders).map(|index| senders[index].clone());
            let rx = stage.dice.pick(&receivers);
            match (stage.dice.roll(23), tx, rx) {
                (0..=5, Some(tx), _) => stage.note(format_args!("{:?}", tx.send(message))),
                (6, Some(tx), _) => receivers.push(tx.subscribe()),
                (7, Some(tx), _) => weak.push(tx.downgrade()),
                (8, _, _) => {
                    if let Some(index) = stage.dice.pick(&weak) {
                        senders.extend(weak.remove(index).upgrade().map(Rc::new));
                    }
                }
                (9, _, _) => {
                    if let Some(index) = stage.dice.pick(&senders) {
                        drop(senders.remove(index));
                    }
                }
                (10, Some(tx), _) => stage.spawn(async move {
                    tx.closed().await;
                    None
                }),
                (11, _, Some(index)) => receivers.push(receivers[index].resubscribe()),
                (12, _, Some(index)) => drop(receivers.remove(index)),
                (13..=14, _, Some(index)) => {
                    let mut rx = receivers.remove(index);
                    stage.spawn(async move {
                        let result = rx.recv().await;
                        Some((rx, result))
                    });
                }
                (15, _, Some(index)) => {
                    let poll = stage.once(RECEIVER, receivers[index].recv());
                    stage.note(format_args!("{poll:?}"));
                }
                (16..=17, _, Some(index)) => {
                    stage.note(format_args!("{:?}", receivers[index].try_recv()));
                }
                (18..=21, _, _) => {
                    if let Some(Some((rx, result))) = stage.poll_one() {
                        stage.note(format_args!("{result:?}"));
                        receivers.push(rx);
                    }
                }
                (22, _, _) => stage.drop_one(),
                _ => {}
            }
            if let Some(tx) = senders.last() {
                stage.note(format_args!(
                    "tx {} {} {} {} {}",
                    tx.len(), tx.is_empty(), tx.receiver_count(), tx.strong_count(), tx.weak_count()
                ));
            }
            for rx in &receivers {
                stage.note(format_args!("rx {} {} {}", rx.len(), rx.is_empty(), rx.is_closed()));
            }
            stage.woken(true);
        }
        stage.finish()
    }
}
