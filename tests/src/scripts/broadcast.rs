//! Broadcast channels: values that are cloned, receivers that lag, weak senders.

use super::rt::sync::broadcast::{self, Receiver, Sender, WeakSender};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::{Log, note};
use std::rc::Rc;

struct Ends {
    senders: Vec<Rc<Sender<Value>>>,
    weak: Vec<WeakSender<Value>>,
    receivers: Vec<Home<Receiver<Value>>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let (sender, receiver) = broadcast::channel(1 + usize::from(script.setting % 5));
    let mut ends = Ends {
        senders: vec![Rc::new(sender)],
        weak: Vec::new(),
        receivers: vec![Home::new(receiver)],
    };
    let mut stage = Stage::<String>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => match what % 17 {
                ..8 => sending(what % 8, act, &mut ends, &mut stage),
                _ => receiving(what % 9, act, &mut ends, &mut stage),
            },
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        state(&ends, &log);
        stage.woken();
    }
    stage.finish();
    drop(ends.receivers);
    note!(log, "  senders go");
    drop(ends.senders);
    stage.woken();
}

fn state(ends: &Ends, log: &Log) {
    if let Some(tx) = ends.senders.first() {
        let (strong, weak) = (tx.strong_count(), tx.weak_count());
        note!(
            log,
            "    tx {} {} {} {strong} {weak}",
            tx.len(),
            tx.is_empty(),
            tx.receiver_count()
        );
    }
    if let Some(weak) = ends.weak.first() {
        note!(
            log,
            "    weak {} {}",
            weak.strong_count(),
            weak.weak_count()
        );
    }
    for rx in ends.receivers.iter().filter_map(Home::lend) {
        let (strong, weak) = (rx.sender_strong_count(), rx.sender_weak_count());
        let (closed, empty) = (rx.is_closed(), rx.is_empty());
        note!(log, "    rx {} {empty} {closed} {strong} {weak}", rx.len());
    }
}

fn sending(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let Some(index) = act.pick(&ends.senders) else {
        if let Some(weak) = ends.weak.pop() {
            note!(log, "  upgrade: {}", weak.upgrade().is_some());
        }
        return;
    };
    let tx = ends.senders[index].clone();
    match what {
        0..=2 => {
            let number = stage.name();
            let result = tx.send(Value::new(number, &log));
            note!(log, "  send: {result:?}");
        }
        3 => {
            note!(log, "  subscribe");
            if ends.receivers.len() < 5 {
                ends.receivers.push(Home::new(tx.subscribe()));
            }
        }
        4 => stage.put(act, format_args!("closed"), async move {
            tx.closed().await;
            "closed".to_owned()
        }),
        5 if act.b < 64 => {
            note!(log, "  drop sender");
            drop(ends.senders.remove(index));
        }
        6 if act.b < 128 => {
            note!(log, "  clone sender");
            ends.senders.push(Rc::new(Sender::clone(&tx)));
        }
        6 => {
            note!(log, "  downgrade");
            ends.weak.push(tx.downgrade());
        }
        7 => {
            if let Some(weak) = ends.weak.pop() {
                note!(log, "  upgrade");
                ends.senders.extend(weak.upgrade().map(Rc::new));
            }
        }
        _ => {}
    }
}

fn receiving(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let index = act.b(5);
    let Some(mut rx) = ends.receivers.get(index).and_then(Home::lend) else {
        return;
    };
    match what {
        0..=4 => stage.put(act, format_args!("recv {index}"), async move {
            format!("{:?}", rx.recv().await)
        }),
        5..=6 => {
            let result = rx.try_recv();
            note!(log, "  try recv {index}: {result:?}");
        }
        7 => {
            note!(log, "  resubscribe {index}");
            if ends.receivers.len() < 5 {
                ends.receivers.push(Home::new(rx.resubscribe()));
            }
        }
        _ => {
            note!(log, "  drop receiver {index}");
            drop(rx);
            ends.receivers.remove(index);
        }
    }
}
