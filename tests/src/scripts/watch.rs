//! Watch channels: changes that are seen, marked, waited for, and made in every way.

use super::rt::sync::watch::{self, Receiver, Sender};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::tools::panic_text;
use cct_tests::{Log, note};
use std::rc::Rc;

struct Ends {
    senders: Vec<Rc<Sender<Value>>>,
    receivers: Vec<Home<Receiver<Value>>>,
}

pub(crate) async fn play(script: Script, log: Log) {
    let (sender, receiver) = watch::channel(Value::new(0, &log));
    let mut ends = Ends {
        senders: vec![Rc::new(sender)],
        receivers: vec![Home::new(receiver)],
    };
    // Receivers are woken in an order that is drawn.
    let mut stage = Stage::<String>::new(&log).in_no_order();
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => match what % 20 {
                ..10 => sending(what % 10, act, &mut ends, &mut stage),
                _ => receiving(what % 10, act, &mut ends, &mut stage),
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
        let (to, from) = (tx.receiver_count(), tx.sender_count());
        note!(
            log,
            "    tx {:?} {} {from} {to}",
            *tx.borrow(),
            tx.is_closed()
        );
    }
    for rx in ends.receivers.iter().filter_map(Home::lend) {
        let seen = rx.borrow();
        let changed = seen.has_changed();
        note!(log, "    rx {:?} {changed} {:?}", *seen, rx.has_changed());
    }
}

fn sending(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let Some(index) = act.pick(&ends.senders) else {
        return;
    };
    let tx = ends.senders[index].clone();
    let number = stage.name();
    match what {
        0..=1 => note!(log, "  send: {:?}", tx.send(Value::new(number, &log))),
        2 => note!(
            log,
            "  replace: {:?}",
            tx.send_replace(Value::new(number, &log))
        ),
        3 => {
            let modify = |value: &mut Value| {
                value.number = number;
                assert!(act.b > 32, "no");
            };
            note!(log, "  modify: {}", panic_text(|| tx.send_modify(modify)));
        }
        4 => {
            let modify = |value: &mut Value| {
                value.number = number;
                assert!(act.b > 32, "no");
                act.b % 2 == 0
            };
            let text = panic_text(|| note!(log, "    {}", tx.send_if_modified(modify)));
            note!(log, "  modify if: {text}");
        }
        5 => {
            note!(log, "  subscribe");
            if ends.receivers.len() < 5 {
                ends.receivers.push(Home::new(tx.subscribe()));
            }
        }
        6..=7 => stage.put(act, format_args!("closed"), async move {
            tx.closed().await;
            "closed".to_owned()
        }),
        8 => {
            note!(log, "  clone sender");
            ends.senders.push(Rc::new(Sender::clone(&tx)));
        }
        _ => {
            note!(log, "  drop sender");
            if act.b < 64 {
                drop(ends.senders.remove(index));
            }
        }
    }
}

fn receiving(what: usize, act: Act, ends: &mut Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let index = act.b(5);
    let Some(mut rx) = ends.receivers.get(index).and_then(Home::lend) else {
        return;
    };
    match what {
        0..=2 => stage.put(act, format_args!("changed {index}"), async move {
            format!("{:?}", rx.changed().await)
        }),
        3..=4 => {
            let look = log.clone();
            let future = async move {
                let found = rx
                    .wait_for(|value| {
                        note!(look, "    is it {value:?}?");
                        assert!(value.number % 7 != 6, "not this one");
                        value.number % 3 == 0
                    })
                    .await;
                format!("{:?}", found.map(|value| value.number))
            };
            stage.put(act, format_args!("wait for {index}"), future);
        }
        5 => note!(log, "  update {index}: {:?}", *rx.borrow_and_update()),
        6 => {
            note!(log, "  mark {index}");
            if act.b < 128 {
                rx.mark_changed();
            } else {
                rx.mark_unchanged();
            }
        }
        7 => {
            note!(log, "  clone {index}");
            if ends.receivers.len() < 5 {
                ends.receivers.push(Home::new(rx.clone()));
            }
        }
        8 => {
            note!(log, "  drop receiver {index}");
            drop(rx);
            ends.receivers.remove(index);
        }
        _ => {}
    }
}
