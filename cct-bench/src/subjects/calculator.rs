//! The calculator of section 2 of the QL paper (psharp-ql, `Benchmarks/Calculator`): a space to
//! cover, without a bug.
//!
//! Five workers do one operation each on a shared number, 100 times: add 1, subtract 1, double,
//! halve, reset to 0. Outside of -5000 to 5000 the number falls back to 0. Measured: how many
//! distinct values 10,000 iterations visit. Published: QL that sees nothing 2715, Random "almost
//! the same", QL that sees the number nearly all.
//!
//! An operation takes two steps, as in P#, where it is a message that a worker sends itself: it is
//! sent in one step, and handled in the other. Whether a run is cut matters much: in the last
//! operations, when some workers have done all of theirs, the rarest values are reached. Here it is
//! not cut; `calculator-cut` ends after 1,000 steps, some 6 operations earlier.

use super::threads::{Crew, Lock};
use super::{Probe, Published, Scenario, Standing, Subject};
use cct_executor::shim::Shared;
use cct_executor::{Clock, Granularity, observe};
use std::sync::Arc;

const OPERATIONS: [fn(i64) -> i64; 5] = [|x| x + 1, |x| x - 1, |x| x * 2, |x| x / 2, |_| 0];
const ROUNDS: u32 = 100;
const BOUND: i64 = 5_000;

fn calculate(probe: Probe) -> Scenario {
    Box::pin(async move {
        let number = Arc::new(Shared::new(0_i64));
        let points = Arc::new(Lock::new());
        let crew = Crew::new();
        observe::number("number", 0);
        for operation in OPERATIONS {
            let (number, points, probe) = (number.clone(), points.clone(), probe.clone());
            let work = async move {
                for _ in 0..ROUNDS {
                    points.switch().await; // sends
                    points.switch().await; // handles
                    let now = number.with(|number| {
                        let next = operation(*number);
                        *number = if next.abs() > BOUND { 0 } else { next };
                        *number
                    });
                    observe::number("number", now);
                    probe.visit(now as u64);
                }
            };
            crew.start(work).await;
        }
        crew.join().await;
    })
}

pub(crate) const CALCULATOR: Subject = Subject {
    name: "calculator",
    about: "five workers add, subtract, double, halve, reset one number: how many values?",
    standing: Standing::Reproduction,
    workers: 6,
    max_steps: 2_000,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: calculate,
    fixed: None,
    targets: &[],
    published: &[
        Published::one("calculator", "Random", 2_715.0),
        Published::one("calculator", "QL", 10_000.0),
    ],
};

/// As long as the bound of 1,000 steps lets it run that the paper gives for its other programs.
pub(crate) const CALCULATOR_CUT: Subject = Subject {
    name: "calculator-cut",
    about: "the same, cut after 1,000 steps",
    standing: Standing::Variant,
    max_steps: 1_000,
    published: &[],
    ..CALCULATOR
};
