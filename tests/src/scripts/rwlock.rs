//! Readers and writers, borrowed and owned, guards of parts, writers that become readers.

use super::rt::sync::{
    OwnedRwLockMappedWriteGuard, OwnedRwLockReadGuard, OwnedRwLockWriteGuard, RwLock,
    RwLockMappedWriteGuard, RwLockReadGuard, RwLockWriteGuard,
};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Script, Stage, Turn, then};
use cct_tests::{Log, note};
use std::sync::Arc;

type Pair = (u32, u32);

#[derive(Debug)]
enum Guard<'a> {
    Read(RwLockReadGuard<'a, Pair>),
    ReadPart(RwLockReadGuard<'a, u32>),
    Write(RwLockWriteGuard<'a, Pair>),
    WritePart(RwLockMappedWriteGuard<'a, u32>),
    OwnedRead(OwnedRwLockReadGuard<Pair>),
    OwnedReadPart(OwnedRwLockReadGuard<Pair, u32>),
    OwnedWrite(OwnedRwLockWriteGuard<Pair>),
    OwnedWritePart(OwnedRwLockMappedWriteGuard<Pair, u32>),
}

use Guard::*;

pub(crate) async fn play(script: Script, log: Log) {
    let lock = Arc::new(match script.setting % 3 {
        0 => RwLock::with_max_readers((1, 2), 2),
        1 => RwLock::with_max_readers((1, 2), 1),
        _ => RwLock::new((1, 2)),
    });
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
    lock: &'a Arc<RwLock<Pair>>,
    held: &mut Vec<Guard<'a>>,
    stage: &mut Stage<'a, Guard<'a>>,
) {
    let log = stage.log.clone();
    let own = lock.clone();
    match what % 19 {
        0..=2 => stage.put(act, format_args!("read"), then(lock.read(), Read)),
        3..=4 => stage.put(
            act,
            format_args!("read owned"),
            then(own.read_owned(), OwnedRead),
        ),
        5..=6 => stage.put(act, format_args!("write"), then(lock.write(), Write)),
        7..=8 => stage.put(
            act,
            format_args!("write owned"),
            then(own.write_owned(), OwnedWrite),
        ),
        9..=10 => {
            let guard = match act.b % 4 {
                0 => lock.try_read().map(Read),
                1 => own.try_read_owned().map(OwnedRead),
                2 => lock.try_write().map(Write),
                _ => own.try_write_owned().map(OwnedWrite),
            };
            match guard {
                Ok(guard) => held.push(guard),
                Err(error) => note!(log, "  try: {error:?} {error}"),
            }
        }
        11..=13 => {
            if let Some(index) = act.pick(held) {
                let guard = held.remove(index);
                note!(log, "  change {guard:?}");
                held.push(changed(guard, act.b(6), &log));
            }
        }
        _ => {
            if let Some(index) = act.pick(held) {
                let guard = held.remove(index);
                note!(log, "  unlock {guard:?}");
            }
        }
    }
}

fn changed<'a>(guard: Guard<'a>, how: usize, log: &Log) -> Guard<'a> {
    let yes = how % 2 == 0;
    let refused = |guard| {
        note!(log, "    refused");
        guard
    };
    match guard {
        Read(guard) => RwLockReadGuard::try_map(guard, |pair| yes.then_some(&pair.0))
            .map_or_else(|guard| refused(Read(guard)), ReadPart),
        ReadPart(guard) => ReadPart(RwLockReadGuard::map(guard, |part| part)),
        OwnedRead(guard) => OwnedRwLockReadGuard::try_map(guard, |pair| yes.then_some(&pair.1))
            .map_or_else(|guard| refused(OwnedRead(guard)), OwnedReadPart),
        OwnedReadPart(guard) => OwnedReadPart(OwnedRwLockReadGuard::map(guard, |part| part)),
        Write(guard) => match how {
            0 => Read(guard.downgrade()),
            1 => ReadPart(RwLockWriteGuard::downgrade_map(guard, |pair| &pair.1)),
            2..=3 => RwLockWriteGuard::try_downgrade_map(guard, |pair| yes.then_some(&pair.0))
                .map_or_else(|guard| refused(Write(guard)), ReadPart),
            _ => RwLockWriteGuard::try_map(guard, |pair| yes.then_some(&mut pair.0))
                .map_or_else(|guard| refused(Write(guard)), WritePart),
        },
        OwnedWrite(guard) => match how {
            0 => OwnedRead(guard.downgrade()),
            1 => OwnedReadPart(OwnedRwLockWriteGuard::downgrade_map(guard, |pair| &pair.1)),
            2..=3 => OwnedRwLockWriteGuard::try_downgrade_map(guard, |pair| yes.then_some(&pair.0))
                .map_or_else(|guard| refused(OwnedWrite(guard)), OwnedReadPart),
            _ => OwnedRwLockWriteGuard::try_map(guard, |pair| yes.then_some(&mut pair.0))
                .map_or_else(|guard| refused(OwnedWrite(guard)), OwnedWritePart),
        },
        WritePart(guard) => WritePart(RwLockMappedWriteGuard::map(guard, |part| {
            *part += 1;
            part
        })),
        OwnedWritePart(guard) => {
            OwnedRwLockMappedWriteGuard::try_map(guard, |part| yes.then_some(part))
                .map_or_else(|guard| refused(OwnedWritePart(guard)), OwnedWritePart)
        }
    }
}
