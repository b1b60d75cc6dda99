//! A schedule is the plain one and its departures.

use super::guide::{Departure, Guide};
use crate::execution::run;
use crate::execution::{Decider, Detail};
use crate::explore::driver::Driver;
use crate::strategy::{Pos, Random, RoundRobin, Strategy};
use crate::task::yield_now;
use crate::words::{Clock, Granularity, Iteration, Seed, Trace, WorldConfig};
use crate::{cancellable, node::node, nondet, spawn, task, time};
use std::panic::Location;
use std::time::Duration;

/// Tasks that are alike, timers, values, a cancellation, and a node that crashes.
async fn scenario() {
    let worker = node("worker").start(|| async {
        loop {
            time::sleep(Duration::from_millis(2)).await;
            nondet::point();
        }
    });
    let tasks: Vec<_> = (0..4)
        .map(|ms| {
            spawn(async move {
                for _ in 0..3 {
                    nondet::point();
                    yield_now().await;
                }
                let drawn = nondet::choose(3);
                let work = time::sleep(Duration::from_millis(ms + u64::from(drawn)));
                cancellable(work).await;
                spawn(async { nondet::point() });
            })
        })
        .collect();
    worker.crash();
    let mut set = task::JoinSet::new();
    for _ in 0..3 {
        set.spawn(async { nondet::choose(2) });
    }
    while set.join_next().await.is_some() {}
    for task in tasks {
        task.await.unwrap();
    }
}

fn run(config: &WorldConfig, decider: Box<dyn Decider>) -> (Box<dyn Decider>, Trace) {
    let finished = run::run(
        config,
        decider,
        &|waker| {
            let main = async {
                scenario().await;
                Ok(())
            };
            let main = crate::task::body::main_body(main, waker);
            (main, Location::caller())
        },
        Detail::Nothing,
    );
    (finished.decider, run::last_trace())
}

fn guided(config: &WorldConfig, guide: Guide) -> (Vec<Departure>, Trace) {
    let (guide, trace) = run(config, Box::new(guide));
    let guide: Box<Guide> = guide.into_any().downcast().expect("the guide");
    (guide.departures, trace)
}

/// Departures alone are the whole schedule.
#[test]
fn the_plain_schedule_and_all_departures_are_the_schedule() {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        for clock in [Clock::Strict, Clock::Racing(Duration::from_millis(2))] {
            let config = WorldConfig {
                granularity,
                clock,
                ..WorldConfig::default()
            };
            for index in 0..50 {
                let mut strategy: Box<dyn Strategy> = match index % 2 {
                    0 => Box::new(Random::new()),
                    _ => Box::new(Pos::new()),
                };
                let _ = strategy.begin(&Iteration {
                    index,
                    seed: Seed(index),
                    max_steps: 10_000,
                });
                let (_, found) = run(&config, Box::new(Driver::new(strategy)));
                let (departures, again) = guided(&config, Guide::along(&found));
                assert_eq!(again, found);
                assert!(!departures.is_empty());
                let (same, trace) = guided(&config, Guide::with(&departures));
                assert_eq!(trace, found, "{granularity:?} {clock:?} {index}");
                assert_eq!(same.len(), departures.len());
            }
        }
    }
}

/// Without departures it is the schedule of the strategy.
#[test]
fn the_plain_schedule_is_that_of_round_robin() {
    let config = WorldConfig::default();
    let (departures, trace) = guided(&config, Guide::with(&[]));
    let strategy = Box::new(RoundRobin::new());
    let (_, plain) = run(&config, Box::new(Driver::new(strategy)));
    assert_eq!((departures.len(), trace), (0, plain));
}
