//! Three tasks add two each.

use parking_lot::{Condvar, Mutex, RwLock};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use tally::{Atomic, ParkingLot, Spinning, Std};

macro_rules! six {
    ($name:ident, $kind:ident, $add:ident) => {
        #[tokio::test]
        async fn $name() {
            let tally = Arc::new($kind::default());
            let tasks = (0..3).map(|_| {
                let tally = tally.clone();
                tokio::spawn(async move {
                    tally.$add();
                    tally.$add();
                })
            });
            for task in tasks.collect::<Vec<_>>() {
                task.await.unwrap();
            }
            assert_eq!(tally.sum(), 6);
        }
    };
}

six!(std_in_two_steps, Std, in_two_steps);
six!(std_in_one_step, Std, in_one_step);
six!(parking_lot_in_two_steps, ParkingLot, in_two_steps);
six!(parking_lot_in_one_step, ParkingLot, in_one_step);
six!(atomic_in_two_steps, Atomic, in_two_steps);
six!(atomic_in_one_step, Atomic, in_one_step);
six!(spinning, Spinning, add);

/// Whoever has added tells so by a channel, on which reports say more than the search has looked at.
#[tokio::test]
async fn atomic_told_in_two_steps() {
    let tally = Arc::new(Atomic::default());
    let (sender, mut receiver) = tokio::sync::mpsc::unbounded_channel();
    for _ in 0..3 {
        let (tally, sender) = (tally.clone(), sender.clone());
        tokio::spawn(async move {
            tally.in_two_steps();
            sender.send(()).unwrap();
        });
    }
    drop(sender);
    while receiver.recv().await.is_some() {}
    assert_eq!(tally.sum(), 3);
}

/// Whoever adds is in a span, as much of published code is: who listens to spans counts them where they are.
#[tokio::test]
async fn atomic_traced_in_two_steps() {
    let tally = Arc::new(Atomic::default());
    let tasks = (0..3).map(|number| {
        let tally = tally.clone();
        tokio::spawn(async move {
            let span = tracing::info_span!("adds", number);
            let _inside = span.clone().entered();
            tally.in_two_steps();
            tracing::info!(sum = tally.sum(), "added");
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!(tally.sum(), 3);
}

/// A lock of `parking_lot` that is often held: who has spun in vain is parked, several tasks of one thread at once.
#[tokio::test]
async fn parked_for_a_lock() {
    let (tally, table) = (Arc::new(Atomic::default()), Arc::new(RwLock::new(0)));
    let tasks = (0..3).map(|task| {
        let (tally, table) = (tally.clone(), table.clone());
        tokio::spawn(async move {
            for _ in 0..3 {
                if task == 0 {
                    assert!(*table.read() <= 6);
                    continue;
                }
                let mut table = table.write();
                (0..4).for_each(|_| tally.in_two_steps());
                *table += 1;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
    assert_eq!((*table.read(), tally.sum()), (6, 24));
}

/// A condition variable of `parking_lot`, for which threads of the pool wait.
#[tokio::test]
async fn parked_for_a_condition() {
    let gate = Arc::new((Mutex::new(0), Condvar::new()));
    let waiting = (0..3).map(|_| {
        let gate = gate.clone();
        tokio::task::spawn_blocking(move || {
            let mut open = gate.0.lock();
            while *open == 0 {
                gate.1.wait(&mut open);
            }
            *open -= 1;
        })
    });
    let waiting: Vec<_> = waiting.collect();
    for _ in 0..3 {
        tokio::task::yield_now().await;
        *gate.0.lock() += 1;
        gate.1.notify_one();
    }
    for task in waiting {
        task.await.unwrap();
    }
    assert_eq!(*gate.0.lock(), 0);
}

/// Nobody else can go on meanwhile, and nothing is wrong with that.
#[tokio::test]
async fn alone_for_long() {
    let (tally, flag) = (Arc::new(Std::default()), Arc::new(AtomicBool::new(false)));
    let (sender, receiver) = tokio::sync::oneshot::channel::<()>();
    let waiting = tokio::spawn(receiver);
    tokio::task::yield_now().await;
    for _ in 0..300 {
        assert!(!flag.load(Ordering::SeqCst));
    }
    for _ in 0..300 {
        tally.in_one_step();
    }
    sender.send(()).unwrap();
    waiting.await.unwrap().unwrap();
    assert_eq!(tally.sum(), 300);
}

/// Timers are made in the middle of making tasks, and each is woken for itself.
#[tokio::test]
async fn made_at_once() {
    let later = |time| tokio::time::sleep(std::time::Duration::from_millis(time));
    let shared = Arc::new(());
    let tasks = (0..3).map(|number| {
        let shared = shared.clone();
        tokio::spawn(async move {
            later(number).await;
            drop(shared);
            let inner = tokio::spawn(async move {
                later(1).await;
                number
            });
            inner.await.unwrap()
        })
    });
    let tasks: Vec<_> = tasks.collect();
    for (number, task) in tasks.into_iter().enumerate() {
        assert_eq!(task.await.unwrap(), number as u64);
    }
}

#[test]
fn a_program_without_cct() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_tally"));
    let output = program.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}
