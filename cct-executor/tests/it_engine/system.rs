//! What the system gives a program to begin its random generators with: by the seed, so that
//! `HashMap`s and others are in the same order whenever a schedule runs again.

use crate::{checker, failed};
use cct_executor::{Report, Seed, nondet, spawn};
use std::collections::{BTreeSet, HashMap};
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};

const MEMBERS: u32 = 6;

/// The order in which a map of so many gives them out.
fn order() -> Vec<u32> {
    let map: HashMap<u32, ()> = (0..MEMBERS).map(|i| (i, ())).collect();
    map.into_keys().collect()
}

/// Tasks begin in the order of a map, and one order in 30 is wrong.
async fn follows_a_map(orders: Arc<Mutex<Vec<Vec<u32>>>>) {
    let order = order();
    orders.lock().unwrap().push(order.clone());
    let mut tasks = Vec::new();
    for &member in &order {
        if member % 2 == 0 {
            nondet::point();
        }
        tasks.push(spawn(async move { nondet::choose(2 + member) }));
    }
    for task in tasks {
        task.await.unwrap();
    }
    assert!(order[..2] != [3, 1], "3 came before 1, and both first");
}

fn run(workers: usize, strategy: &str, iterations: u64) -> (Report, Vec<Vec<u32>>) {
    let orders = Arc::<Mutex<Vec<Vec<u32>>>>::default();
    let theirs = orders.clone();
    let report = checker("follows a map")
        .seed(Seed(3))
        .strategy_text(strategy)
        .iterations(iterations)
        .workers(workers)
        .determinism_check(true)
        .shrink(false) // on a busy machine it may be cut short, at another token
        .run(move || follows_a_map(theirs.clone()));
    let orders = orders.lock().unwrap().clone();
    (report, orders)
}

#[test]
fn the_order_of_a_map_is_part_of_the_schedule() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let (first, _) = run(1, "random", 1_000);
    let failure = failed(&first);
    assert!(failure.reproduced, "{}", first.text());
    assert!(first.text().contains("both first"), "{}", first.text());
    for workers in [1, 2, 3] {
        let (again, _) = run(workers, "random", 1_000);
        assert_eq!(again.iterations(), first.iterations(), "{workers} workers");
        assert_eq!(failed(&again).token, failure.token, "{workers} workers");
    }
    let replayed = checker("follows a map")
        .replay(failure.token.clone())
        .run(|| follows_a_map(Arc::default()));
    assert_eq!(failed(&replayed).kind, failure.kind);
}

#[test]
fn each_iteration_has_its_own_order_unless_the_strategy_is_systematic() {
    if !cct_interpose::CONTROLLED {
        return;
    }
    let scenario = || {
        let orders = Arc::<Mutex<BTreeSet<Vec<u32>>>>::default();
        let theirs = orders.clone();
        let run = move || {
            let theirs = theirs.clone();
            async move {
                theirs.lock().unwrap().insert(order());
                spawn(async { nondet::point() });
                nondet::choose(3);
            }
        };
        (orders, run)
    };
    let (orders, body) = scenario();
    let report = checker("orders").iterations(100).run(body);
    report.assert_passed();
    // Of 720 orders, 100 draws show fewer than 60 with odds far below 1e-9.
    let shown = orders.lock().unwrap().len();
    assert!(shown >= 60, "{shown} orders");

    let (orders, body) = scenario();
    let report = checker("one order").strategy_text("exhaustive").run(body);
    report.assert_passed();
    assert!(
        report.text().contains("every schedule explored"),
        "{}",
        report.text()
    );
    assert_eq!(orders.lock().unwrap().len(), 1);
}

#[test]
fn outside_of_worlds_the_system_is_asked() {
    let draw = || RandomState::new().hash_one(0);
    let report = checker("draws").iterations(3).run(move || async move {
        draw();
    });
    report.assert_passed();
    let threads = [(); 2].map(|()| std::thread::spawn(draw));
    let [one, other] = threads.map(|thread| thread.join().unwrap());
    // The same by chance once in 2^64.
    assert_ne!(one, other);
}
