//! Tasks: handles that are polled, kept and dropped, aborts, sets of tasks.
//!
//! Which task runs first is open, so tasks meet nobody: each waits for its own turn to end, and all of
//! them come to rest after each act that may have changed something.

use super::rt::task::{AbortHandle, JoinError, JoinHandle, JoinSet, spawn, yield_now};
use cct_tests::fuzz::{Act, Home, Script, Stage, Turn, Value};
use cct_tests::{Log, note};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Poll, Waker};

/// Polls after which tasks have come to rest.
const REST: u32 = 8;

struct Tasks {
    handles: Vec<Home<JoinHandle<Value>>>,
    aborts: Vec<AbortHandle>,
    set: Option<Home<JoinSet<Value>>>,
    gate: Gate,
    spawned: u32,
}

pub(crate) async fn play(script: Script, log: Log) {
    let mut tasks = Tasks {
        handles: Vec::new(),
        aborts: Vec::new(),
        set: Some(Home::new(JoinSet::new())),
        gate: Gate::default(),
        spawned: 0,
    };
    // Tasks that end in the same rest wake their waiters in an order that is open.
    let mut stage = Stage::<String>::new(&log).in_no_order();
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => {
                match what % 20 {
                    ..4 => begin(what % 4, &mut tasks, &stage.log),
                    4..6 => {
                        note!(log, "  one more may end");
                        open(&tasks.gate);
                    }
                    6..13 => with_handle(what % 7, act, &mut tasks, &mut stage),
                    _ => with_set(what % 7, act, &mut tasks, &mut stage),
                }
                rest().await;
            }
            Turn::Yield => rest().await,
            Turn::Over => {}
        }
        state(&tasks, &log);
        stage.woken();
    }
    stage.finish();
    tasks.aborts.iter().for_each(AbortHandle::abort);
    rest().await;
}

async fn rest() {
    for _ in 0..REST {
        yield_now().await;
    }
}

/// How many tasks may end, and who waits for that.
type Gate = Arc<Mutex<(u32, Vec<Waker>)>>;

async fn body(value: Value, gate: Gate) -> Value {
    poll_fn(|cx| {
        let mut gate = gate.lock().unwrap();
        if gate.0 > value.number {
            return Poll::Ready(());
        }
        gate.1.push(cx.waker().clone());
        Poll::Pending
    })
    .await;
    value
}

/// Wakes all who wait, in the order in which they came.
fn open(gate: &Gate) {
    let mut gate = gate.lock().unwrap();
    gate.0 += 1;
    let waiting = std::mem::take(&mut gate.1);
    drop(gate);
    waiting.into_iter().for_each(Waker::wake);
}

fn state(tasks: &Tasks, log: &Log) {
    for handle in tasks.handles.iter().filter_map(Home::lend) {
        note!(log, "    handle: finished {}", handle.is_finished());
    }
    let aborts: Vec<_> = tasks.aborts.iter().map(AbortHandle::is_finished).collect();
    note!(log, "    aborts {aborts:?}");
    if let Some(set) = tasks.set.as_ref().and_then(Home::lend) {
        note!(log, "    set {} {}", set.len(), set.is_empty());
    }
}

fn shown(result: Result<Value, JoinError>) -> String {
    match result {
        Ok(value) => format!("{value:?}"),
        Err(error) => format!(
            "cancelled {} panic {}",
            error.is_cancelled(),
            error.is_panic()
        ),
    }
}

fn begin(what: usize, tasks: &mut Tasks, log: &Log) {
    let number = tasks.spawned;
    tasks.spawned += 1;
    let future = body(Value::new(number, log), tasks.gate.clone());
    match what {
        0..=1 => {
            note!(log, "  spawn {number}");
            let handle = spawn(future);
            tasks.aborts.push(handle.abort_handle());
            tasks.handles.push(Home::new(handle));
        }
        _ => {
            if let Some(mut set) = tasks.set.as_ref().and_then(Home::lend) {
                note!(log, "  spawn {number} in the set");
                tasks.aborts.push(set.spawn(future));
            }
        }
    }
}

fn with_handle(what: usize, act: Act, tasks: &mut Tasks, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    if what == 6 {
        if let Some(index) = act.pick(&tasks.aborts) {
            note!(log, "  abort {index} from afar");
            tasks.aborts[index].abort();
        }
        return;
    }
    let Some(index) = act.pick(&tasks.handles) else {
        return;
    };
    let Some(mut handle) = tasks.handles[index].lend() else {
        return;
    };
    match what {
        0..=3 => {
            let future = poll_fn(move |cx| Pin::new(&mut *handle).poll(cx).map(shown));
            stage.put(act, format_args!("join {index}"), future);
        }
        4 => {
            note!(log, "  abort {index}");
            handle.abort();
        }
        _ => {
            note!(log, "  drop handle {index}");
            drop(handle.keep());
            tasks.handles.remove(index);
        }
    }
}

fn with_set(what: usize, act: Act, tasks: &mut Tasks, stage: &mut Stage<'_, String>) {
    let log = stage.log.clone();
    let Some(mut set) = tasks.set.as_ref().and_then(Home::lend) else {
        return;
    };
    match what {
        0..=2 => stage.put(act, format_args!("join next"), async move {
            format!("{:?}", set.join_next().await.map(shown))
        }),
        3 => {
            let next = set.try_join_next();
            note!(log, "  try join next: {:?}", next.map(shown));
        }
        4 if act.b < 32 => {
            note!(log, "  abort all");
            set.abort_all();
        }
        5 if act.b < 32 => {
            note!(log, "  detach all");
            set.detach_all();
        }
        6 if act.b < 32 => stage.put(act, format_args!("shut down"), async move {
            set.shutdown().await;
            "down".to_owned()
        }),
        _ => {}
    }
}
