//! Channels for one value; receivers are polled themselves, also when they have been.

use super::rt::sync::oneshot::{self, Receiver, Sender};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::tools::panic_text;
use cct_tests::{Log, note};
use std::future::poll_fn;
use std::pin::Pin;
use std::task::Context;

struct Ends {
    sender: Home<Sender<Value>>,
    receiver: Home<Receiver<Value>>,
}

impl Ends {
    fn new() -> Self {
        let (sender, receiver) = oneshot::channel();
        Ends {
            sender: Home::new(sender),
            receiver: Home::new(receiver),
        }
    }
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut ends = Ends::new();
    let mut stage = Stage::<String>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => match what % 18 {
                ..9 => sending(what % 9, act, &ends, &mut stage),
                9..17 => receiving(what % 9, act, &ends, &mut stage),
                _ => ends = Ends::new(),
            },
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        state(&ends, &log);
        stage.woken();
    }
    stage.finish();
    drop(ends.sender);
    drop(ends.receiver);
    stage.woken();
}

fn state(ends: &Ends, log: &Log) {
    if let Some(tx) = ends.sender.lend() {
        note!(log, "    tx {}", tx.is_closed());
    }
    if let Some(rx) = ends.receiver.lend() {
        note!(log, "    rx {} {}", rx.is_empty(), rx.is_terminated());
    }
}

fn sending(what: usize, act: Act, ends: &Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let Some(mut tx) = ends.sender.lend() else {
        return;
    };
    match what {
        0 => {
            let number = stage.name();
            note!(log, "  send {number}");
            let result = tx.keep().send(Value::new(number, &log));
            note!(log, "    {result:?}");
        }
        1 if act.b < 128 => {
            note!(log, "  drop sender");
            drop(tx.keep());
        }
        2..=5 => stage.put(act, format_args!("closed"), async move {
            tx.closed().await;
            "closed".to_owned()
        }),
        _ => {
            let waker = stage.waker();
            let poll = tx.poll_closed(&mut Context::from_waker(&waker));
            note!(log, "  poll closed: {poll:?}");
        }
    }
}

fn receiving(what: usize, act: Act, ends: &Ends, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let Some(mut rx) = ends.receiver.lend() else {
        return;
    };
    match what {
        0..=3 => {
            let future = poll_fn(move |cx| {
                let poll = Pin::new(&mut *rx).poll(cx);
                poll.map(|result| format!("{result:?}"))
            });
            stage.put(act, format_args!("recv"), future);
        }
        4 => {
            let text = panic_text(|| note!(log, "  try recv: {:?}", rx.try_recv()));
            note!(log, "    {text}");
        }
        5 if act.b < 128 => {
            note!(log, "  close");
            rx.close();
        }
        6 if act.b < 128 => {
            note!(log, "  drop receiver");
            drop(rx.keep());
        }
        _ => {}
    }
}
