//! Locks, borrowed and owned, and guards of parts.

use super::rt::sync::{
    MappedMutexGuard, Mutex, MutexGuard, OwnedMappedMutexGuard, OwnedMutexGuard,
};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Script, Stage, Turn, then};
use cct_tests::{Log, note};
use std::sync::Arc;

type Pair = (u32, u32);

#[derive(Debug)]
enum Guard<'a> {
    Borrowed(MutexGuard<'a, Pair>),
    Owned(OwnedMutexGuard<Pair>),
    Part(MappedMutexGuard<'a, u32>),
    OwnedPart(OwnedMappedMutexGuard<Pair, u32>),
}

use Guard::{Borrowed, Owned, OwnedPart, Part};

pub(crate) async fn play(script: Script, log: Log) {
    let lock = Arc::new(Mutex::new((1, 2)));
    let mut held: Vec<Guard<'_>> = Vec::new();
    let mut stage = Stage::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(guard) => held.push(guard),
            Turn::Own(what) => operation(what, act, &lock, &mut held, &mut stage),
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        note!(log, "    {lock:?} {held:?} {}", Arc::strong_count(&lock));
        stage.woken();
    }
    stage.finish();
    drop(held);
    note!(log, "{lock:?}");
}

fn operation<'a>(
    what: usize,
    act: Act,
    lock: &'a Arc<Mutex<Pair>>,
    held: &mut Vec<Guard<'a>>,
    stage: &mut Stage<'a, Guard<'a>>,
) {
    let log = stage.log.clone();
    match what % 14 {
        0..=2 => stage.put(act, format_args!("lock"), then(lock.lock(), Borrowed)),
        3..=5 => {
            let future = lock.clone().lock_owned();
            stage.put(act, format_args!("lock owned"), then(future, Owned));
        }
        6 => match lock.try_lock() {
            Ok(guard) => held.push(Borrowed(guard)),
            Err(error) => note!(log, "  try: {error:?} {error}"),
        },
        7 => match lock.clone().try_lock_owned() {
            Ok(guard) => held.push(Owned(guard)),
            Err(error) => note!(log, "  try owned: {error:?} {error}"),
        },
        8..=9 => {
            if let Some(guard) = held.pop() {
                note!(log, "  map {guard:?}");
                held.push(mapped(guard, act.b % 2 == 0, &log));
            }
        }
        _ => {
            note!(log, "  unlock");
            held.pop();
        }
    }
}

/// A guard of a part; where `also` is false the map refuses.
fn mapped<'a>(guard: Guard<'a>, also: bool, log: &Log) -> Guard<'a> {
    let refused = |guard| {
        note!(log, "    refused");
        guard
    };
    match guard {
        Borrowed(guard) => MutexGuard::try_map(guard, |pair| also.then_some(&mut pair.0))
            .map_or_else(|guard| refused(Borrowed(guard)), Part),
        Owned(guard) => OwnedMutexGuard::try_map(guard, |pair| also.then_some(&mut pair.1))
            .map_or_else(|guard| refused(Owned(guard)), OwnedPart),
        Part(guard) => Part(MappedMutexGuard::map(guard, |part| {
            *part += 1;
            part
        })),
        OwnedPart(guard) => OwnedMappedMutexGuard::try_map(guard, |part| also.then_some(part))
            .map_or_else(|guard| refused(OwnedPart(guard)), OwnedPart),
    }
}
