//! Bounded channels: senders, permits, weak senders, and a receiver that futures borrow.

use super::rt::sync::mpsc::{self, OwnedPermit, Receiver, Sender, WeakSender};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::{Log, note};
use std::rc::Rc;
use std::task::Context;

enum Answer {
    Text(String),
    Permit(OwnedPermit<Value>),
}

struct Ends {
    senders: Vec<Rc<Sender<Value>>>,
    weak: Vec<WeakSender<Value>>,
    permits: Vec<OwnedPermit<Value>>,
    receiver: Option<Home<Receiver<Value>>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let (sender, receiver) = mpsc::channel(1 + usize::from(script.setting % 4));
    let mut ends = Ends {
        senders: vec![Rc::new(sender)],
        weak: Vec::new(),
        permits: Vec::new(),
        receiver: Some(Home::new(receiver)),
    };
    let mut stage = Stage::<Answer>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(Answer::Text(text)) => note!(log, "    {text}"),
            Turn::Ready(Answer::Permit(permit)) => ends.permits.push(permit),
            Turn::Own(what) => match what % 30 {
                ..10 => sending(what % 10, act, &mut ends, &mut stage),
                10..16 => waiting(what % 6, act, &ends, &mut stage),
                16..22 => receiving(what % 6, act, &mut ends, &mut stage),
                _ => handles(what % 8, act, &mut ends, &mut stage),
            },
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        state(&ends, &log);
        stage.woken();
    }
    stage.finish();
    drop(ends.permits);
    drop(ends.senders);
    note!(log, "  the receiver goes");
    drop(ends.receiver);
    stage.woken();
}

fn state(ends: &Ends, log: &Log) {
    if let Some(tx) = ends.senders.first() {
        let (free, of) = (tx.capacity(), tx.max_capacity());
        let (strong, weak) = (tx.strong_count(), tx.weak_count());
        note!(log, "    tx {free}/{of} {strong} {weak} {}", tx.is_closed());
    }
    if let Some(weak) = ends.weak.first() {
        note!(
            log,
            "    weak {} {}",
            weak.strong_count(),
            weak.weak_count()
        );
    }
    if let Some(rx) = ends.receiver.as_ref().and_then(Home::lend) {
        let (free, of) = (rx.capacity(), rx.max_capacity());
        let (strong, weak) = (rx.sender_strong_count(), rx.sender_weak_count());
        note!(
            log,
            "    rx {free}/{of} {strong} {weak} {} {} {}",
            rx.is_closed(),
            rx.is_empty(),
            rx.len()
        );
    }
}

fn sending(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, Answer>) {
    let log = stage.log.clone();
    let few = act.b(6);
    let Some(index) = act.pick(&ends.senders) else {
        return;
    };
    let tx = ends.senders[index].clone();
    match what {
        0..=1 => {
            let number = stage.name();
            let result = tx.try_send(Value::new(number, &log));
            note!(log, "  try send: {result:?}");
        }
        2 => match tx.try_reserve() {
            Ok(permit) if act.b % 2 == 0 => permit.send(Value::new(stage.name(), &log)),
            result => note!(log, "  try reserve: {:?}", result.map(drop)),
        },
        3 => {
            note!(log, "  try reserve {few}");
            match tx.try_reserve_many(few) {
                Ok(mut permits) => {
                    let one = permits.next();
                    note!(log, "    {:?} {}", permits.size_hint(), permits.len());
                    if let Some(permit) = one {
                        permit.send(Value::new(stage.name(), &log));
                        note!(log, "    {}", tx.capacity());
                    }
                }
                Err(error) => note!(log, "    {error:?} {error}"),
            }
        }
        4 => match Sender::clone(&tx).try_reserve_owned() {
            Ok(permit) => ends.permits.push(permit),
            Err(error) => note!(log, "  try reserve owned: {error:?} {error}"),
        },
        _ => {
            let Some(index) = act.pick(&ends.permits) else {
                return;
            };
            let permit = ends.permits.remove(index);
            note!(
                log,
                "  permit {index} {}",
                permit.same_channel_as_sender(&tx)
            );
            match what {
                5..=6 => ends
                    .senders
                    .push(Rc::new(permit.send(Value::new(stage.name(), &log)))),
                7..=8 => ends.senders.push(Rc::new(permit.release())),
                _ => drop(permit),
            }
        }
    }
}

fn waiting(what: usize, act: Act, ends: &Ends, stage: &mut Stage<'_, Answer>) {
    let log = stage.log.clone();
    let few = act.b(6);
    let Some(tx) = ends.senders.last().cloned() else {
        return;
    };
    let name = stage.name();
    match what {
        0..=1 => stage.put(act, format_args!("send {name}"), async move {
            Answer::Text(format!("{:?}", tx.send(Value::new(name, &log)).await))
        }),
        2 => stage.put(act, format_args!("reserve"), async move {
            match tx.reserve().await {
                Ok(permit) => {
                    yield_now().await;
                    permit.send(Value::new(name, &log));
                    Answer::Text(format!("sent {name}"))
                }
                Err(error) => Answer::Text(format!("{error:?} {error}")),
            }
        }),
        3 => stage.put(act, format_args!("reserve {few}"), async move {
            match tx.reserve_many(few).await {
                Ok(mut permits) => {
                    yield_now().await;
                    if let Some(permit) = permits.next() {
                        permit.send(Value::new(name, &log));
                    }
                    yield_now().await;
                    Answer::Text(format!(
                        "{} left of {:?}",
                        permits.len(),
                        permits.size_hint()
                    ))
                }
                Err(error) => Answer::Text(format!("{error:?} {error}")),
            }
        }),
        4 => {
            let tx = Sender::clone(&tx);
            stage.put(act, format_args!("reserve owned"), async move {
                match tx.reserve_owned().await {
                    Ok(permit) => Answer::Permit(permit),
                    Err(error) => Answer::Text(format!("{error:?} {error}")),
                }
            });
        }
        _ => stage.put(act, format_args!("closed"), async move {
            tx.closed().await;
            Answer::Text("closed".to_owned())
        }),
    }
}

fn receiving(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, Answer>) {
    let log = stage.log.clone();
    let few = act.b(5);
    let Some(mut rx) = ends.receiver.as_ref().and_then(Home::lend) else {
        return;
    };
    match what {
        0..=1 => stage.put(act, format_args!("recv"), async move {
            Answer::Text(format!("{:?}", rx.recv().await))
        }),
        2 => stage.put(act, format_args!("recv {few}"), async move {
            let mut out = Vec::new();
            let count = rx.recv_many(&mut out, few).await;
            Answer::Text(format!("{count} {out:?}"))
        }),
        3 => {
            let result = rx.try_recv();
            note!(log, "  try recv: {result:?}");
        }
        4 => {
            let waker = stage.waker();
            let mut cx = Context::from_waker(&waker);
            let mut out = Vec::new();
            let poll = match few {
                0..2 => format!("{:?}", rx.poll_recv(&mut cx)),
                _ => format!("{:?} {out:?}", rx.poll_recv_many(&mut cx, &mut out, few)),
            };
            note!(log, "  poll recv {few}: {poll} {out:?}");
        }
        _ if act.b < 40 => {
            note!(log, "  close");
            rx.close();
        }
        _ => {}
    }
}

fn handles(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, Answer>) {
    let log = stage.log.clone();
    match (what, act.pick(&ends.senders)) {
        (0, Some(index)) => {
            note!(log, "  clone sender");
            let sender = Sender::clone(&ends.senders[index]);
            ends.senders.push(Rc::new(sender));
        }
        (1, Some(index)) => {
            note!(log, "  drop sender");
            drop(ends.senders.remove(index));
        }
        (2, Some(index)) => {
            note!(log, "  downgrade");
            ends.weak.push(ends.senders[index].downgrade());
        }
        (3 | 4, _) => {
            if let Some(weak) = ends.weak.pop() {
                let strong = weak.upgrade();
                note!(log, "  upgrade: {}", strong.is_some());
                ends.senders.extend(strong.map(Rc::new));
            }
        }
        (6, _) if act.b < 8 => {
            note!(log, "  drop receiver");
            ends.receiver = None;
        }
        _ => {}
    }
}
