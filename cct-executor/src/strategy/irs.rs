//! Iterative random search: random walks that stay random to a depth that grows from round to round.
//!
//! A. Desai, S. Qadeer and S. Seshia, "Systematic testing of asynchronous reactive systems",
//! ESEC/FSE 2015, where it is a baseline in the evaluation of sampling.
//!
//! Guarantee: within the depth of its round, an iteration is a uniform random walk (see `random`).
//! All iterations of a round have the same depth, so shallow bugs, which need few of the decisions
//! to be right, are looked for first.
//!
//! How: in round `i` (from 0), `100 + 3^i` iterations have the depth `100 (i + 1)`, counted in steps.
//! The round is computed from the iteration's index, so nothing carries over.
//!
//! Departures: the paper ends an execution at the depth. Here it goes on to its end in an orderly
//! way, so that nothing is cut and a deep bug may still show: the task that ran last goes on while it
//! can, then the next place in the enabled set has its turn. Data choices stay random, by weight,
//! also beyond the depth: a program that repeats a choice until it likes the value would otherwise
//! not end. The paper does not say from where rounds and depths start; here from 0 and from 100.
//!
//! Measured by `rounds_follow_the_formula`, `picks_are_random_within_the_depth_only` (a false alarm
//! in 10^9) and `spinning_tasks_end_beyond_the_depth`.

use super::description::Description;
use super::draw;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Strategy};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, Pick, SchedulingPoint, Seed};

/// By how much the depth grows.
const DEPTH: u64 = 100;
/// Iterations of every round, besides those that grow.
const SAMPLES: u64 = 100;
/// The growth of the rest.
const GROWTH: u64 = 3;

/// Random within the depth of the round.
#[derive(Clone, Debug)]
pub struct Irs {
    raise: u64,
    generator: Generator,
    /// Steps at which this iteration stops being random.
    depth: u64,
    turn: usize,
}

impl Irs {
    pub(super) const ENTRY: Entry = Entry {
        name: "irs",
        help: "random walks up to a depth that is raised from round to round",
        parameters: &[Parameter {
            name: "depth",
            help: "by how many steps it is raised (100)",
            kind: Kind::Number(1, u32::MAX as u64),
        }],
        build: |arguments| Box::new(Irs::raise(arguments.number("depth").unwrap_or(DEPTH) as u32)),
    };

    /// Raises the depth by 100 steps a round.
    pub fn new() -> Self {
        Self::raise(DEPTH as u32)
    }

    /// Raises the depth by so many steps a round.
    ///
    /// # Panics
    /// If that is 0.
    #[track_caller]
    pub fn raise(depth: u32) -> Self {
        assert!(depth > 0, "irs: the depth must grow");
        Irs {
            raise: u64::from(depth),
            generator: Seed(0).stream("irs"),
            depth: 0,
            turn: 0,
        }
    }
}

impl Default for Irs {
    fn default() -> Self {
        Self::new()
    }
}

/// The task that ran last, if it can simply go on.
fn going_on(point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Option<Pick> {
    let current = point.current.filter(|_| point.can_continue);
    current.and_then(|key| enabled.find(key))
}

/// The round of an iteration.
fn round(index: u64) -> u64 {
    let (mut round, mut left, mut growing) = (0, index, 1_u64);
    loop {
        match left.checked_sub(SAMPLES.saturating_add(growing)) {
            Some(rest) => left = rest,
            None => return round,
        }
        growing = growing.saturating_mul(GROWTH);
        round += 1;
    }
}

impl Strategy for Irs {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .unless("depth", self.raise, DEPTH)
            .text()
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("irs");
        self.depth = self.raise * (round(iteration.index) + 1);
        self.turn = 0;
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let index = match enabled {
            EnabledSet::Values(values) => draw::value(&mut self.generator, values),
            EnabledSet::Actions(_) if point.step < self.depth => {
                draw::below(&mut self.generator, enabled.len() as u32) as usize
            }
            EnabledSet::Actions(actions) => {
                if let Some(pick) = going_on(point, actions) {
                    return pick;
                }
                self.turn += 1;
                self.turn % enabled.len()
            }
        };
        enabled.pick(index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::assert_distribution;

    #[test]
    fn rounds_follow_the_formula() {
        let mut first = 0;
        for i in 0..12 {
            assert_eq!(round(first), i);
            first += 100 + 3_u64.pow(i as u32);
            assert_eq!(round(first - 1), i);
        }
        assert!(round(u64::MAX) < 42);
    }

    /// Three tasks of two steps, and a depth of 1: the first pick is uniform, the rest follows.
    #[test]
    fn picks_are_random_within_the_depth_only() {
        let mut toy = Toy::new(vec![vec![Do::Step; 2]; 3]);
        let mut strategy = Irs::raise(1);
        let mut seen = [0; 3];
        let mut orders = std::collections::BTreeSet::new();
        // The first round has 101 iterations: begin it anew with other seeds.
        for seed in 0..300 {
            for index in 0..101 {
                let run = toy.run(&mut strategy, Seed(seed), index);
                seen[run.order[0] as usize] += 1;
                orders.insert(run.order);
            }
        }
        assert_distribution(&seen, &[1; 3]);
        assert_eq!(orders.len(), 3);

        // In the second round the second pick is random too.
        let later: std::collections::BTreeSet<_> = (101..204)
            .map(|index| toy.run(&mut strategy, Seed(1), index).order)
            .collect();
        assert!(later.len() > 3);
    }

    #[test]
    fn spinning_tasks_end_beyond_the_depth() {
        let spin = vec![Do::SpinUntil(0)];
        let mut toy = Toy::new(vec![
            spin.clone(),
            spin,
            vec![Do::Yield, Do::Yield, Do::Raise(0)],
        ]);
        toy.limit = 50;
        let mut strategy = Irs::raise(1);
        for index in 0..100 {
            assert!(!toy.run(&mut strategy, Seed(1), index).cut);
        }
    }
}
