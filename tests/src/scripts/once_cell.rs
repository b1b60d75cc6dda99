//! Initialisers that succeed, fail, wait or panic.

use super::rt::sync::{OnceCell, Semaphore};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Script, Stage, Turn, Value, then};
use cct_tests::{Log, note};

pub(crate) async fn play(script: Script, log: Log) {
    let gate = Semaphore::new(0);
    let given = (script.setting % 8 == 0).then(|| Value::new(0, &log));
    let cell = OnceCell::new_with(given);
    let mut stage = Stage::<String>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) => operation(what, act, &cell, &gate, &mut stage),
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        note!(log, "    {cell:?} {} {:?}", cell.initialized(), cell.get());
        stage.woken();
    }
    stage.finish();
    drop(stage);
    let mut cell = cell;
    note!(log, "  taken {:?}, left {cell:?}", cell.take());
    note!(
        log,
        "  set again: {:?} {:?}",
        cell.set(Value::new(1000, &log)),
        cell.get_mut()
    );
    note!(log, "  {:?}", cell.into_inner());
}

fn operation<'a>(
    what: usize,
    act: Act,
    cell: &'a OnceCell<Value>,
    gate: &'a Semaphore,
    stage: &mut Stage<'a, String>,
) {
    let log = stage.log.clone();
    let number = stage.name();
    // What the initialiser does once it may.
    let end = act.b(8);
    let start = log.clone();
    let init = move || async move {
        note!(start, "    initialiser {number} begins");
        if end != 0 {
            gate.acquire().await.unwrap().forget();
        }
        assert!(end != 1, "initialiser {number} gives up");
        if end < 4 {
            Err(number)
        } else {
            Ok(Value::new(number, &start))
        }
    };
    match what % 10 {
        0..=3 => {
            let future = cell.get_or_try_init(init);
            stage.put(
                act,
                format_args!("try init {number} {end}"),
                then(future, |it| format!("{it:?}")),
            );
        }
        4..=5 => {
            let future = cell.get_or_init(move || async move {
                match init().await {
                    Ok(value) => value,
                    Err(number) => Value::new(number, &log),
                }
            });
            stage.put(
                act,
                format_args!("init {number} {end}"),
                then(future, |it| format!("{it:?}")),
            );
        }
        6 if act.b < 64 => match cell.set(Value::new(number, &log)) {
            Ok(()) => note!(log, "  set {number}"),
            Err(error) => note!(
                log,
                "  set: {error:?} {error} {}",
                error.is_initializing_err()
            ),
        },
        7 => {
            let copy = cell.clone();
            note!(log, "  clone {copy:?} {}", copy.initialized());
        }
        _ => {
            note!(log, "  open the gate");
            gate.add_permits(1);
        }
    }
}
