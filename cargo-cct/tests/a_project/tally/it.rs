//! Three tasks add two each.

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

#[test]
fn a_program_without_cct() {
    let mut program = std::process::Command::new(env!("CARGO_BIN_EXE_tally"));
    let output = program.output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "2\n");
}
