//! Two tasks that drive each other's counters up: Fib-Bench and Triangular, which SV-COMP's
//! `pthread` folder began and psharp-ql (`Benchmarks/Threading`) made into tasks with a lock.
//!
//! Bug: perfect alternation, and only that, takes a counter to the limit. `fib-bench-2` takes 5
//! rounds a task and `fib-bench-longest-2` 11: `i += j` against `j += i`, looked at after both have
//! ended. `triangular-2` takes 5 and `triangular-longest-2` 20: `i = j + 1` against `j = i + 1`,
//! and the main task reads both meanwhile, so the last round has to be over before it reads `j`.
//!
//! The points are P#'s, see `threads`. Single-run odds of a uniform random walk, from our own
//! simulation of P#: about 5e-4 for `fib-bench-longest-2`, 2.1e-4 for `triangular-2`.
//!
//! Fixed form: the limit is one higher, out of reach.

use super::threads::{Crew, Lock};
use super::{Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity};
use std::sync::Arc;

struct Pair {
    lock: Lock,
    values: Shared<[i64; 2]>,
}

impl Pair {
    fn new(i: i64, j: i64) -> Arc<Pair> {
        Arc::new(Pair {
            lock: Lock::new(),
            values: Shared::new([i, j]),
        })
    }

    /// A switch, then `f` on both values under the lock.
    async fn turn<R>(&self, f: impl FnOnce(&mut [i64; 2]) -> R) -> R {
        self.lock.switch().await;
        self.lock.acquire().await;
        let result = self.values.with(f);
        self.lock.release().await;
        result
    }
}

/// Starts the two tasks; `update` gets its own value and the other one's.
async fn start(crew: &Crew, pair: &Arc<Pair>, rounds: u32, update: fn(&mut i64, i64)) {
    for own in 0..2 {
        let pair = pair.clone();
        let work = async move {
            for _ in 0..rounds {
                pair.turn(|values| {
                    let other = values[1 - own];
                    update(&mut values[own], other);
                })
                .await;
            }
        };
        crew.start(work).await;
    }
}

fn fibonacci(rounds: u32, limit: i64) -> Scenario {
    Box::pin(async move {
        let (crew, pair) = (Crew::new(), Pair::new(1, 1));
        start(&crew, &pair, rounds, |own, other| *own += other).await;
        crew.join().await;
        let [i, j] = pair.values.with(|values| *values);
        assert!(
            i < limit && j < limit,
            "{i} and {j}, and {limit} is the limit"
        );
    })
}

fn triangular(rounds: u32, limit: i64) -> Scenario {
    Box::pin(async move {
        let (crew, pair) = (Crew::new(), Pair::new(3, 6));
        start(&crew, &pair, rounds, |own, other| *own = other + 1).await;
        let i = pair.turn(|values| values[0]).await;
        let j = pair.turn(|values| values[1]).await;
        assert!(
            i < limit && j < limit,
            "{i} and {j}, and {limit} is the limit"
        );
        crew.join().await;
    })
}

const BASE: Subject = Subject {
    name: "",
    about: "",
    standing: Standing::Reproduction,
    workers: 3,
    max_steps: 1_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: |_| fibonacci(5, 144),
    fixed: None,
    targets: &[],
    published: &[],
};

pub(crate) const FIB_BENCH_2: Subject = Subject {
    name: "fib-bench-2",
    about: "two tasks add each other's counter 5 times; only perfect alternation reaches 144",
    scenario: |_| fibonacci(5, 144),
    fixed: Some(|_| fibonacci(5, 145)),
    published: &Published::ql2([100.0, 100.0, 100.0, 100.0, 0.0, 82.0, 100.0, 100.0]),
    ..BASE
};

pub(crate) const FIB_BENCH_LONGEST_2: Subject = Subject {
    name: "fib-bench-longest-2",
    about: "two tasks add each other's counter 11 times; only perfect alternation reaches 46368",
    scenario: |_| fibonacci(11, 46_368),
    fixed: Some(|_| fibonacci(11, 46_369)),
    published: &Published::ql2([99.0, 100.0, 100.0, 100.0, 0.0, 0.0, 0.0, 100.0]),
    ..BASE
};

pub(crate) const TRIANGULAR_2: Subject = Subject {
    name: "triangular-2",
    about: "two tasks outdo each other 5 times while main looks; the limit needs alternation",
    scenario: |_| triangular(5, 16),
    fixed: Some(|_| triangular(5, 17)),
    published: &Published::ql2([85.0, 100.0, 86.0, 100.0, 0.0, 0.0, 2.0, 70.0]),
    ..BASE
};

pub(crate) const TRIANGULAR_LONGEST_2: Subject = Subject {
    name: "triangular-longest-2",
    about: "two tasks outdo each other 20 times while main looks; the limit needs alternation",
    scenario: |_| triangular(20, 46),
    fixed: Some(|_| triangular(20, 47)),
    published: &Published::ql2([0.0, 100.0, 0.0, 79.0, 0.0, 0.0, 0.0, 0.0]),
    ..BASE
};
