//! Permits, one by one and many, borrowed and owned.

use super::rt::sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit};
use super::rt::task::yield_now;
use cct_tests::fuzz::{Act, Script, Stage, Turn, then};
use cct_tests::{Log, note};
use std::sync::Arc;

#[derive(Debug)]
enum Permit<'a> {
    Borrowed(SemaphorePermit<'a>),
    Owned(OwnedSemaphorePermit),
}

use Permit::{Borrowed, Owned};

type Answer<'a> = Result<Permit<'a>, String>;

pub(crate) async fn play(script: Script, log: Log) {
    let all = [
        Arc::new(Semaphore::new(usize::from(script.setting % 5))),
        Arc::new(Semaphore::new(2)),
    ];
    let mut held: Vec<Permit<'_>> = Vec::new();
    let mut stage = Stage::<Answer<'_>>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(answer) => keep(&log, &mut held, answer),
            Turn::Own(what) => operation(what, act, &all, &mut held, &mut stage),
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        for semaphore in &all {
            let permits: Vec<_> = held.iter().map(number).collect();
            note!(
                log,
                "    {} {} {permits:?}",
                semaphore.available_permits(),
                semaphore.is_closed()
            );
        }
        stage.woken();
    }
    stage.finish();
    drop(held);
    note!(
        log,
        "{} {}",
        all[0].available_permits(),
        all[1].available_permits()
    );
}

fn number(permit: &Permit<'_>) -> usize {
    match permit {
        Borrowed(permit) => permit.num_permits(),
        Owned(permit) => permit.num_permits(),
    }
}

fn keep<'a>(log: &Log, held: &mut Vec<Permit<'a>>, answer: Answer<'a>) {
    match answer {
        Ok(permit) => {
            note!(log, "    got {}", number(&permit));
            held.push(permit);
        }
        Err(error) => note!(log, "    {error}"),
    }
}

fn operation<'a>(
    what: usize,
    act: Act,
    all: &'a [Arc<Semaphore>; 2],
    held: &mut Vec<Permit<'a>>,
    stage: &mut Stage<'a, Answer<'a>>,
) {
    let log = stage.log.clone();
    // The second one is for merges that must panic, and seldom used.
    let semaphore = &all[usize::from(act.b >= 240)];
    let few = act.b(5) as u32;
    match what % 18 {
        0..=1 => stage.put(
            act,
            format_args!("acquire"),
            then(semaphore.acquire(), |got| {
                got.map(Borrowed).map_err(|error| format!("{error:?}"))
            }),
        ),
        2..=3 => stage.put(
            act,
            format_args!("acquire {few}"),
            then(semaphore.acquire_many(few), |got| {
                got.map(Borrowed).map_err(|error| format!("{error:?}"))
            }),
        ),
        4 => stage.put(
            act,
            format_args!("acquire owned"),
            then(semaphore.clone().acquire_owned(), |got| {
                got.map(Owned).map_err(|error| error.to_string())
            }),
        ),
        5..=6 => {
            let future = semaphore.clone().acquire_many_owned(few);
            stage.put(
                act,
                format_args!("acquire owned {few}"),
                then(future, |got| {
                    got.map(Owned).map_err(|error| error.to_string())
                }),
            );
        }
        7 => {
            note!(log, "  try {few}");
            let got = semaphore.try_acquire_many(few).map(Borrowed);
            keep(
                &log,
                held,
                got.map_err(|error| format!("{error:?} {error}")),
            );
        }
        8 => {
            note!(log, "  try owned {few}");
            let got = semaphore.clone().try_acquire_many_owned(few).map(Owned);
            keep(
                &log,
                held,
                got.map_err(|error| format!("{error:?} {error}")),
            );
        }
        9..=10 => {
            note!(log, "  add {few}");
            semaphore.add_permits(few as usize);
        }
        11 => note!(
            log,
            "  forget {few}: {}",
            semaphore.forget_permits(few as usize)
        ),
        12 if act.b < 20 => {
            note!(log, "  close");
            semaphore.close();
        }
        _ => with_permit(what % 5, act, held, &log),
    }
}

fn with_permit(what: usize, act: Act, held: &mut Vec<Permit<'_>>, log: &Log) {
    let Some(index) = act.pick(held) else { return };
    let few = act.b(4);
    match what {
        0..=1 => {
            note!(log, "  drop permit {index}");
            drop(held.remove(index));
        }
        2 => {
            note!(log, "  forget permit {index}");
            match held.remove(index) {
                Borrowed(permit) => permit.forget(),
                Owned(permit) => permit.forget(),
            }
        }
        3 => {
            note!(log, "  split {few} from {index}");
            let part = match &mut held[index] {
                Borrowed(permit) => permit.split(few).map(Borrowed),
                Owned(permit) => permit.split(few).map(Owned),
            };
            keep(log, held, part.ok_or_else(|| "too few".to_owned()));
        }
        _ => {
            note!(log, "  merge {index} into another");
            let one = held.remove(index);
            let Some(other) = held.first_mut() else {
                return;
            };
            let text = cct_tests::tools::panic_text(|| match (other, one) {
                (Borrowed(other), Borrowed(one)) => other.merge(one),
                (Owned(other), Owned(one)) => other.merge(one),
                (_, one) => drop(one),
            });
            note!(log, "    {text}");
        }
    }
}
