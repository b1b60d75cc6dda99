//! Random scripts, run on tokio and on this crate: what can be seen after each step is the same.

use crate::support::Dice;
use std::cell::Cell;
use std::fmt::Write;
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::rc::Rc;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

const SEEDS: u64 = 1500;
const STEPS: usize = 60;

/// Writes down when a task is woken.
struct Bell {
    name: usize,
    rung: Arc<Mutex<Vec<usize>>>,
}

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.rung.lock().unwrap().push(self.name);
    }
}

struct Task<F: ?Sized> {
    name: usize,
    future: Pin<Box<F>>,
    waker: Waker,
}

/// Futures under way.
struct Waiting<F: ?Sized> {
    tasks: Vec<Task<F>>,
    rung: Arc<Mutex<Vec<usize>>>,
}

impl<F: Future + ?Sized> Waiting<F> {
    fn new() -> Self {
        Waiting {
            tasks: Vec::new(),
            rung: Arc::default(),
        }
    }

    fn add(&mut self, name: usize, future: Pin<Box<F>>) {
        let waker = Waker::from(Arc::new(Bell {
            name,
            rung: self.rung.clone(),
        }));
        self.tasks.push(Task {
            name,
            future,
            waker,
        });
    }

    /// Polls one of them, at random; one that is ready is dropped. Once in a while the waker is a
    /// new one.
    fn poll_one(&mut self, dice: &mut Dice, log: &mut String) -> Option<F::Output> {
        let index = dice.pick(&self.tasks)?;
        let task = &mut self.tasks[index];
        if dice.roll(4) == 0 {
            task.waker = Waker::from(Arc::new(Bell {
                name: task.name,
                rung: self.rung.clone(),
            }));
        }
        let poll = task
            .future
            .as_mut()
            .poll(&mut Context::from_waker(&task.waker));
        write!(log, "poll {} {} ", task.name, poll.is_ready()).unwrap();
        match poll {
            Poll::Ready(output) => {
                drop(self.tasks.remove(index));
                Some(output)
            }
            Poll::Pending => None,
        }
    }

    fn drop_one(&mut self, dice: &mut Dice, log: &mut String) {
        if let Some(index) = dice.pick(&self.tasks) {
            write!(log, "drop {} ", self.tasks.remove(index).name).unwrap();
        }
    }

    /// Which tasks were woken since the last call, in order.
    fn woken(&self) -> Vec<usize> {
        std::mem::take(&mut *self.rung.lock().unwrap())
    }
}

macro_rules! sides {
    ($script:ident) => {
        for seed in 0..SEEDS {
            let theirs = tokio_side::$script(seed);
            let ours = cct_side::$script(seed);
            assert_eq!(theirs, ours, "seed {seed}");
        }
    };
}

#[test]
fn semaphore() {
    sides!(semaphore);
}

#[test]
fn rwlock() {
    sides!(rwlock);
}

#[test]
fn mutex() {
    sides!(mutex);
}

#[test]
fn notify() {
    sides!(notify);
}

#[test]
fn barrier() {
    sides!(barrier);
}

#[test]
fn once_cell() {
    sides!(once_cell);
}

#[test]
fn set_once() {
    sides!(set_once);
}

macro_rules! side {
    ($side:ident, $($sync:ident)::+) => {
        mod $side {
            use super::*;
            use ::$($sync)::+ as sync;

            pub(super) fn semaphore(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let semaphore = Arc::new(sync::Semaphore::new(dice.roll(4)));
                let mut waiting = Waiting::<dyn Future<Output = _>>::new();
                let mut permits: Vec<sync::OwnedSemaphorePermit> = Vec::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(40) {
                        0..8 => {
                            let n = dice.roll(4) as u32;
                            waiting.add(step, Box::pin(semaphore.clone().acquire_many_owned(n)));
                        }
                        8..20 => match waiting.poll_one(&mut dice, &mut log) {
                            Some(Ok(permit)) => permits.push(permit),
                            Some(Err(error)) => log += &error.to_string(),
                            None => {}
                        },
                        20..24 => waiting.drop_one(&mut dice, &mut log),
                        24..30 => {
                            if let Some(index) = dice.pick(&permits) {
                                drop(permits.remove(index));
                            }
                        }
                        30 => {
                            if let Some(index) = dice.pick(&permits) {
                                permits.remove(index).forget();
                            }
                        }
                        31 => {
                            if let Some(index) = dice.pick(&permits) {
                                let n = dice.roll(3);
                                let part = permits[index].split(n);
                                permits.extend(part);
                            }
                        }
                        32 if permits.len() > 1 => {
                            let other = permits.pop().unwrap();
                            permits[0].merge(other);
                        }
                        33..36 => {
                            match semaphore.clone().try_acquire_many_owned(dice.roll(3) as u32) {
                                Ok(permit) => permits.push(permit),
                                Err(error) => log += &format!("{error:?}"),
                            }
                        }
                        36 | 37 => semaphore.add_permits(dice.roll(4)),
                        38 => write!(log, "{}", semaphore.forget_permits(dice.roll(3))).unwrap(),
                        39 if dice.roll(3) == 0 => semaphore.close(),
                        _ => {}
                    }
                    let held: Vec<_> = permits.iter().map(|permit| permit.num_permits()).collect();
                    let (free, closed) = (semaphore.available_permits(), semaphore.is_closed());
                    let woken = waiting.woken();
                    logs.push(format!("{log} free {free} {closed} held {held:?} woken {woken:?}"));
                }
                logs
            }

            pub(super) fn mutex(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let mutex = Arc::new(sync::Mutex::new(0));
                let mut waiting = Waiting::<dyn Future<Output = _>>::new();
                let mut guards: Vec<sync::OwnedMutexGuard<usize>> = Vec::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(10) {
                        0..3 => waiting.add(step, Box::pin(mutex.clone().lock_owned())),
                        3..6 => guards.extend(waiting.poll_one(&mut dice, &mut log)),
                        6 => waiting.drop_one(&mut dice, &mut log),
                        7 | 8 => drop(guards.pop()),
                        _ => guards.extend(mutex.clone().try_lock_owned()),
                    }
                    for guard in &mut guards {
                        **guard += step;
                    }
                    let woken = waiting.woken();
                    logs.push(format!("{log} {mutex:?} {} woken {woken:?}", guards.len()));
                }
                logs
            }

            pub(super) fn rwlock(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let lock = Arc::new(match dice.roll(3) {
                    0 => sync::RwLock::with_max_readers(0, 2),
                    _ => sync::RwLock::new(0),
                });
                let mut readers = Waiting::<dyn Future<Output = _>>::new();
                let mut writers = Waiting::<dyn Future<Output = _>>::new();
                let mut reads: Vec<sync::OwnedRwLockReadGuard<usize>> = Vec::new();
                let mut writes: Vec<sync::OwnedRwLockWriteGuard<usize>> = Vec::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(24) {
                        0..3 => readers.add(step, Box::pin(lock.clone().read_owned())),
                        3..6 => writers.add(step, Box::pin(lock.clone().write_owned())),
                        6..10 => reads.extend(readers.poll_one(&mut dice, &mut log)),
                        10..14 => writes.extend(writers.poll_one(&mut dice, &mut log)),
                        14 => readers.drop_one(&mut dice, &mut log),
                        15 => writers.drop_one(&mut dice, &mut log),
                        16 | 17 => {
                            if let Some(index) = dice.pick(&reads) {
                                drop(reads.remove(index));
                            }
                        }
                        18 | 19 => drop(writes.pop()),
                        20 => reads.extend(writes.pop().map(|guard| guard.downgrade())),
                        21 => reads.extend(lock.clone().try_read_owned()),
                        22 => writes.extend(lock.clone().try_write_owned()),
                        _ => {}
                    }
                    for guard in &mut writes {
                        **guard += step;
                    }
                    let counts = (reads.len(), writes.len());
                    let (woken, also) = (readers.woken(), writers.woken());
                    logs.push(format!("{log} {lock:?} {counts:?} woken {woken:?} {also:?}"));
                }
                logs
            }

            pub(super) fn notify(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let notify = Arc::new(sync::Notify::new());
                let mut waiting = Waiting::<sync::futures::OwnedNotified>::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(20) {
                        0..4 => waiting.add(step, Box::pin(notify.clone().notified_owned())),
                        4..9 => {
                            waiting.poll_one(&mut dice, &mut log);
                        }
                        9 | 10 => {
                            if let Some(index) = dice.pick(&waiting.tasks) {
                                let task = &mut waiting.tasks[index];
                                let ready = task.future.as_mut().enable();
                                write!(log, "enable {} {ready}", task.name).unwrap();
                            }
                        }
                        11..14 => waiting.drop_one(&mut dice, &mut log),
                        14..17 => notify.notify_one(),
                        17 => notify.notify_last(),
                        18 => notify.notify_waiters(),
                        _ => {
                            // Whether there is a permit, and back with it.
                            let future = notify.notified();
                            let ready = pin!(future).enable();
                            write!(log, "permit {ready}").unwrap();
                        }
                    }
                    logs.push(format!("{log} woken {:?}", waiting.woken()));
                }
                logs
            }

            pub(super) fn barrier(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let barrier = Arc::new(sync::Barrier::new(dice.roll(4)));
                let mut waiting = Waiting::<dyn Future<Output = _>>::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(10) {
                        0..4 => {
                            let barrier = barrier.clone();
                            waiting.add(step, Box::pin(async move { barrier.wait().await }));
                        }
                        4..9 => {
                            if let Some(result) = waiting.poll_one(&mut dice, &mut log) {
                                write!(log, "leader {}", result.is_leader()).unwrap();
                            }
                        }
                        _ => waiting.drop_one(&mut dice, &mut log),
                    }
                    // tokio leaves the order open.
                    let mut woken = waiting.woken();
                    woken.sort_unstable();
                    logs.push(format!("{log} woken {woken:?}"));
                }
                logs
            }

            pub(super) fn once_cell(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let cell = Arc::new(sync::OnceCell::new());
                let mut waiting = Waiting::<dyn Future<Output = _>>::new();
                let verdict = Rc::new(Cell::new(None));
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(16) {
                        0..4 => {
                            let (cell, verdict) = (cell.clone(), verdict.clone());
                            let init = move || {
                                poll_fn(move |_| match verdict.get() {
                                    Some(true) => Poll::Ready(Ok(step)),
                                    Some(false) => Poll::Ready(Err(step)),
                                    None => Poll::Pending,
                                })
                            };
                            waiting.add(
                                step,
                                Box::pin(async move { cell.get_or_try_init(init).await.copied() }),
                            );
                        }
                        4..11 => {
                            let made = waiting.poll_one(&mut dice, &mut log);
                            write!(log, "{made:?}").unwrap();
                        }
                        11 | 12 => waiting.drop_one(&mut dice, &mut log),
                        13 => verdict.set([None, None, Some(false)][dice.roll(3)]),
                        14 if dice.roll(3) == 0 => verdict.set(Some(true)),
                        15 if dice.roll(4) == 0 => write!(log, "{:?}", cell.set(step)).unwrap(),
                        _ => {}
                    }
                    logs.push(format!("{log} {cell:?} woken {:?}", waiting.woken()));
                }
                logs
            }

            pub(super) fn set_once(seed: u64) -> Vec<String> {
                let mut dice = Dice::new(seed);
                let cell = Arc::new(sync::SetOnce::new());
                let mut waiting = Waiting::<dyn Future<Output = _>>::new();
                let mut logs = Vec::new();
                for step in 0..STEPS {
                    let mut log = format!("{step}: ");
                    match dice.roll(16) {
                        0..5 => {
                            let cell = cell.clone();
                            waiting.add(step, Box::pin(async move { *cell.wait().await }));
                        }
                        5..12 => {
                            let got = waiting.poll_one(&mut dice, &mut log);
                            write!(log, "{got:?}").unwrap();
                        }
                        12 | 13 => waiting.drop_one(&mut dice, &mut log),
                        14 if dice.roll(3) == 0 => write!(log, "{:?}", cell.set(step)).unwrap(),
                        _ => {}
                    }
                    logs.push(format!("{log} {cell:?} woken {:?}", waiting.woken()));
                }
                logs
            }
        }
    };
}

side!(tokio_side, tokio::sync);
side!(cct_side, cct_sync);
