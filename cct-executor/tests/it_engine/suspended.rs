//! How many polls may be suspended in their middle at once.

use crate::checker;
use cct_executor::task::{JoinSet, spawn_blocking};
use cct_executor::{Checker, Granularity};
use cct_sync::Semaphore;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

/// So many are suspended at most.
const MOST: u32 = 512;

/// Tasks that are between two operations of one poll: how many are there now, and how many were at most.
#[derive(Default)]
struct Inside {
    now: AtomicU32,
    most: AtomicU32,
}

/// Runs so many tasks, each of one poll with operations in its middle, none of which has to wait.
async fn tasks(many: u32, inside: Arc<Inside>) {
    let permits = Arc::new(Semaphore::new(many as usize));
    let mut tasks = JoinSet::new();
    for _ in 0..many {
        let (permits, inside) = (permits.clone(), inside.clone());
        tasks.spawn(async move {
            let now = inside.now.fetch_add(1, Relaxed) + 1;
            inside.most.fetch_max(now, Relaxed);
            for _ in 0..4 {
                drop(permits.acquire().await.unwrap());
            }
            inside.now.fetch_sub(1, Relaxed);
        });
    }
    while let Some(task) = tasks.join_next().await {
        task.unwrap();
    }
}

fn most_of(checker: &Checker, many: u32) -> u32 {
    let inside = Arc::new(Inside::default());
    let theirs = inside.clone();
    let report = checker
        .clone()
        .iterations(2)
        .determinism_check(true)
        .run(move || tasks(many, theirs.clone()));
    assert!(report.passed(), "{}", report.text());
    assert_eq!(inside.now.load(Relaxed), 0);
    inside.most.load(Relaxed)
}

#[test]
fn a_poll_goes_on_where_enough_are_suspended() {
    let checker = checker("suspended").granularity(Granularity::Op);
    let few = most_of(&checker, MOST / 2);
    assert!((MOST / 4..=MOST / 2).contains(&few), "{few}");
    // The running one is not suspended.
    assert_eq!(most_of(&checker, 4 * MOST), MOST + 1);
}

#[test]
fn whoever_blocks_is_suspended_however_many_are() {
    let report = checker("blocking").iterations(2).run(|| async {
        let gate = Arc::new(Semaphore::new(0));
        let waiting = (0..2 * MOST).map(|_| {
            let gate = gate.clone();
            spawn_blocking(move || {
                let permit = cct_executor::runtime::Handle::current().block_on(gate.acquire());
                permit.unwrap().forget();
            })
        });
        let waiting: Vec<_> = waiting.collect();
        cct_executor::time::sleep(std::time::Duration::from_millis(1)).await;
        gate.add_permits(waiting.len());
        for task in waiting {
            task.await.unwrap();
        }
    });
    assert!(report.passed(), "{}", report.text());
}
