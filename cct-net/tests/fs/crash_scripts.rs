//! Random scripts, a crash, and what is left: nothing that the rules forbid, and everything that they
//! allow.

#[path = "crash_scripts/model.rs"]
mod model;
#[path = "crash_scripts/script.rs"]
mod script;

use super::checker;
use cct_executor::node::{Node, NodeId, node};
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::{Granularity, Seed, nondet};
use cct_net::fs::{Inspected, inspect};
use model::{Model, Seen, State};
use script::{BEGINNING, Dice, Step, perform, random};
use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Small scripts whose leftovers are enumerated, and long ones of which some are looked at. They take
/// some seconds together, unoptimised.
const SMALL: u64 = 60;
const LONG: u64 = 12;

/// Scripts that leave more than that are too large to enumerate.
const STATES: usize = 24;

/// What the disk of a node shows; the directory that is there from the start is left out.
fn seen(node: NodeId) -> State {
    let found = inspect(node).into_iter();
    let found = found.map(|(path, what)| {
        let path = path.to_str().expect("they are all ASCII").to_owned();
        let what = match what {
            Inspected::Directory => Seen::Directory,
            Inspected::Symlink(_) => Seen::Link,
            Inspected::File(bytes) => Seen::File(bytes),
            what => panic!("unknown: {what:?}"),
        };
        (path, what)
    });
    found.filter(|(path, _)| path != "/tmp").collect()
}

async fn perform_all(steps: &[Step]) {
    for &step in steps {
        let done = perform(step).await;
        done.expect("scripts are made of what works");
    }
}

/// Runs a script on a new node, which crashes afterwards; says what is left then. One task, so that what
/// is left is all that there is to choose.
async fn played(steps: Arc<[Step]>) -> State {
    let db = node("db").start(move || {
        let steps = steps.clone();
        async move {
            perform_all(&steps).await;
            std::future::pending::<()>().await;
        }
    });
    sleep(Duration::from_secs(1)).await;
    db.crash();
    seen(db.id())
}

/// Runs a script on a node, which crashes at any moment; says what is left then.
async fn interrupted(db: &Node, steps: Arc<[Step]>) -> State {
    let moments = 8 * steps.len() as u32;
    drop(db.spawn(async move { perform_all(&steps).await }));
    for _ in 0..nondet::choose(moments) {
        yield_now().await;
    }
    db.restart();
    seen(db.id())
}

/// A node with something on its disk.
async fn begun() -> Node {
    let db = node("db").start(|| async {
        std::future::pending::<()>().await;
    });
    let beginning = db.spawn(perform_all(&BEGINNING));
    beginning.await.expect("nothing crashes meanwhile");
    db
}

/// What is on a disk after steps that leave one thing only.
fn settled(steps: &[Step]) -> State {
    let states = model_of(&State::new(), steps).leftovers();
    states.into_iter().next().expect("there is always one")
}

fn model_of(before: &State, steps: &[Step]) -> Model {
    let mut model = Model::of(before);
    for step in steps {
        model.apply(step).expect("scripts are made of what works");
    }
    model
}

/// What a crash at any moment of a script may leave.
fn leftovers_meanwhile(before: &State, steps: &[Step]) -> BTreeSet<State> {
    let prefixes = (0..=steps.len()).map(|count| model_of(before, &steps[..count]).leftovers());
    prefixes.flatten().collect()
}

/// All that is left in any schedule.
fn all_leftovers(steps: &[Step]) -> BTreeSet<State> {
    let all = Arc::new(Mutex::new(BTreeSet::new()));
    let (found, steps): (_, Arc<[Step]>) = (all.clone(), steps.into());
    let report = checker("small scripts")
        .strategy_text("exhaustive")
        .granularity(Granularity::Await)
        .workers(1)
        .iterations(200_000)
        .determinism_check(false)
        .run(move || {
            let (found, steps) = (found.clone(), steps.clone());
            async move {
                let left = played(steps).await;
                found.lock().unwrap().insert(left);
            }
        });
    report.assert_passed();
    assert!(report.coverage.all_schedules.is_some(), "not all");
    let all = all.lock().unwrap();
    all.clone()
}

#[test]
fn small_scripts_leave_all_that_is_allowed_and_nothing_else() {
    let mut compared = 0;
    for seed in 0..SMALL {
        let mut dice = Dice(seed);
        let count = 2 + dice.below(4);
        let first: &[Step] = if dice.below(4) > 0 { &BEGINNING } else { &[] };
        let before = settled(first);
        let steps = random(&mut dice, Model::of(&before), count, true);
        let allowed = model_of(&before, &steps).leftovers();
        if allowed.len() > STATES {
            continue;
        }
        compared += 1;
        let found = all_leftovers(&[first, &steps].concat());
        let wrong: Vec<_> = found.difference(&allowed).collect();
        assert!(wrong.is_empty(), "seed {seed}, {steps:?} leaves {wrong:?}");
        let missing: Vec<_> = allowed.difference(&found).collect();
        assert!(
            missing.is_empty(),
            "seed {seed}, {steps:?} never leaves {missing:?}"
        );
    }
    assert!(compared > SMALL / 2, "most scripts are small");
}

/// Two lives: what a crash left is as durable as if it had been there for ever.
async fn lives(seed: u64, allowed: &BTreeSet<State>, first: Arc<[Step]>) {
    let db = begun().await;
    let left = interrupted(&db, first.clone()).await;
    assert!(
        allowed.contains(&left),
        "seed {seed}, {first:?} leaves {left:?}"
    );
    let second: Arc<[Step]> = random(&mut Dice(seed), Model::of(&left), 3, false).into();
    let in_the_end = interrupted(&db, second.clone()).await;
    let allowed = leftovers_meanwhile(&left, &second);
    assert!(
        allowed.contains(&in_the_end),
        "seed {seed}, {second:?} after {left:?} leaves {in_the_end:?}"
    );
}

#[test]
fn long_scripts_leave_nothing_that_is_forbidden() {
    for seed in 0..LONG {
        let before = settled(&BEGINNING);
        let mut dice = Dice(1_000_000 + seed);
        let steps = random(&mut dice, Model::of(&before), 7, false);
        let allowed = Arc::new(leftovers_meanwhile(&before, &steps));
        let steps: Arc<[Step]> = steps.into();
        for granularity in [Granularity::Await, Granularity::Op] {
            let (allowed, steps) = (allowed.clone(), steps.clone());
            let checker = checker("long scripts").granularity(granularity);
            let report = checker.seed(Seed(seed)).iterations(20).run(move || {
                let (allowed, steps) = (allowed.clone(), steps.clone());
                async move { lives(seed, &allowed, steps).await }
            });
            report.assert_passed();
        }
    }
}
