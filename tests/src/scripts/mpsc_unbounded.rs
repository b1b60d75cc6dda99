//! Unbounded channels: senders, weak senders, and a receiver that futures borrow.

use super::rt::sync::mpsc::{self, UnboundedReceiver, UnboundedSender, WeakUnboundedSender};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::{Log, note};
use std::rc::Rc;

struct Ends {
    senders: Vec<Rc<UnboundedSender<Value>>>,
    weak: Vec<WeakUnboundedSender<Value>>,
    receiver: Option<Home<UnboundedReceiver<Value>>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let (sender, receiver) = mpsc::unbounded_channel();
    let mut ends = Ends {
        senders: vec![Rc::new(sender)],
        weak: Vec::new(),
        receiver: Some(Home::new(receiver)),
    };
    let mut stage = Stage::<String>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => match what % 16 {
                ..8 => handles(what % 8, act, &mut ends, &mut stage),
                _ => receiving(what % 8, act, &mut ends, &mut stage),
            },
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        state(&ends, &log);
        stage.woken();
    }
    stage.finish();
    drop(ends.senders);
    note!(log, "  the receiver goes");
    drop(ends.receiver);
    stage.woken();
}

fn state(ends: &Ends, log: &Log) {
    if let Some(tx) = ends.senders.first() {
        let (strong, weak) = (tx.strong_count(), tx.weak_count());
        note!(log, "    tx {strong} {weak} {}", tx.is_closed());
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
        let (strong, weak) = (rx.sender_strong_count(), rx.sender_weak_count());
        let (closed, empty) = (rx.is_closed(), rx.is_empty());
        note!(log, "    rx {strong} {weak} {closed} {empty} {}", rx.len());
    }
}

fn receiving(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let few = act.b(5);
    let Some(mut rx) = ends.receiver.as_ref().and_then(Home::lend) else {
        return;
    };
    match what {
        0..=2 => stage.put(act, format_args!("recv"), async move {
            format!("{:?}", rx.recv().await)
        }),
        3..=4 => stage.put(act, format_args!("recv {few}"), async move {
            let mut out = Vec::new();
            let count = rx.recv_many(&mut out, few).await;
            format!("{count} {out:?}")
        }),
        5 => {
            let result = rx.try_recv();
            note!(log, "  try recv: {result:?}");
        }
        6 if act.b < 40 => {
            note!(log, "  close");
            rx.close();
        }
        7 if act.b < 16 => {
            note!(log, "  drop receiver");
            drop(rx);
            ends.receiver = None;
        }
        _ => {}
    }
}

fn handles(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    match (what, act.pick(&ends.senders)) {
        (0..=2, Some(index)) => {
            let number = stage.name();
            let result = ends.senders[index].send(Value::new(number, &log));
            note!(log, "  send: {result:?}");
        }
        (3, Some(index)) => {
            let tx = ends.senders[index].clone();
            stage.put(act, format_args!("closed"), async move {
                tx.closed().await;
                "closed".to_owned()
            });
        }
        (4, Some(index)) => {
            note!(log, "  clone sender");
            let sender = UnboundedSender::clone(&ends.senders[index]);
            ends.senders.push(Rc::new(sender));
        }
        (5, Some(index)) => {
            note!(log, "  drop sender");
            drop(ends.senders.remove(index));
        }
        (6, Some(index)) => {
            note!(log, "  downgrade");
            ends.weak.push(ends.senders[index].downgrade());
        }
        (7, _) => {
            if let Some(weak) = ends.weak.pop() {
                let strong = weak.upgrade();
                note!(log, "  upgrade: {}", strong.is_some());
                ends.senders.extend(strong.map(Rc::new));
            }
        }
        _ => {}
    }
}
