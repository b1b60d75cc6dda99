//! Notifications, borrowed and owned, enabled early or not.

use super::rt::sync::Notify;
use super::rt::sync::futures::{Notified, OwnedNotified};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Script, Stage, Turn};
use cct_tests::{Log, note};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::Arc;

pub(crate) async fn play(script: Script, log: Log) {
    let notify = Arc::new(Notify::new());
    let mut loose: Vec<Loose<'_>> = Vec::new();
    let mut stage = Stage::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Own(what) => operation(what, act, &notify, &mut loose, &mut stage),
            Turn::Yield => yield_now().await,
            Turn::Ready(()) | Turn::Over => {}
        }
        note!(log, "    {} {}", loose.len(), Arc::strong_count(&notify));
        stage.woken();
    }
    stage.finish();
    drop(loose);
    stage.woken();
}

/// Made, and perhaps enabled, but not yet polled.
enum Loose<'a> {
    Borrowed(Pin<Box<Notified<'a>>>),
    Owned(Pin<Box<OwnedNotified>>),
}

use Loose::{Borrowed, Owned};

fn operation<'a>(
    what: usize,
    act: Act,
    notify: &'a Arc<Notify>,
    loose: &mut Vec<Loose<'a>>,
    stage: &mut Stage<'a, ()>,
) {
    let log = stage.log.clone();
    match what % 16 {
        0..=1 => {
            note!(log, "  notified");
            loose.push(Borrowed(Box::pin(notify.notified())));
        }
        2..=3 => {
            note!(log, "  notified owned");
            loose.push(Owned(Box::pin(notify.clone().notified_owned())));
        }
        4..=5 => {
            if let Some(index) = act.pick(loose) {
                let enabled = match &mut loose[index] {
                    Borrowed(future) => future.as_mut().enable(),
                    Owned(future) => future.as_mut().enable(),
                };
                note!(log, "  enable {index}: {enabled}");
            }
        }
        6..=8 => {
            if let Some(index) = act.pick(loose) {
                match loose.remove(index) {
                    Borrowed(mut future) => {
                        let poll = poll_fn(move |cx| future.as_mut().poll(cx));
                        stage.put(act, format_args!("borrowed {index}"), poll);
                    }
                    Owned(mut future) => {
                        let poll = poll_fn(move |cx| future.as_mut().poll(cx));
                        stage.put(act, format_args!("owned {index}"), poll);
                    }
                }
            }
        }
        9 => {
            if let Some(index) = act.pick(loose) {
                note!(log, "  drop loose {index}");
                drop(loose.remove(index));
            }
        }
        10..=12 => {
            note!(log, "  notify one");
            notify.notify_one();
        }
        13 => {
            note!(log, "  notify last");
            notify.notify_last();
        }
        _ => {
            note!(log, "  notify waiters");
            notify.notify_waiters();
        }
    }
}
