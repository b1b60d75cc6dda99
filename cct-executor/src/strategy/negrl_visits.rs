//! NegRLVisits: Q-learning whose reward is minus the number of visits; the rival of `bonus-max`.
//!
//! The baseline of A. Borgarelli, C. Enea, R. Majumdar and S. Nagendra, "Reward augmentation in
//! reinforcement learning for testing distributed systems", OOPSLA 2024, after S. Mukherjee,
//! P. Deligiannis, A. Biswas and A. Lal, "Learning-based controlled concurrency testing",
//! OOPSLA 2020.
//!
//! Guarantee: as [`ql`](super::ql), of which this is `state=full,penalties=off`.
//!
//! How: as [`ql`](super::ql): softmax over values, updated from the last decision to the first.
//!
//! Departures: those of [`ql`](super::ql). The artifact of 2024 updates after each decision, and
//! lets the maximum start at 0, so that values never look ahead; the paper says otherwise.
//! `update=step,gamma=0` does as the artifact.
//!
//! Measured by `negrl_visits_is_ql_without_penalties`.

use super::Ql;
use super::qtable::settings::{self, Settings, StateView};
use super::spec::{Entry, Kind, Parameter};

pub(super) const ENTRY: Entry = Entry {
    name: "negrl-visits",
    help: "Q-learning whose reward is minus the number of visits, and nothing else",
    parameters: &[
        Parameter {
            name: "alpha",
            help: "learning rate (0.3)",
            kind: Kind::Real(0.001, 1.0),
        },
        Parameter {
            name: "gamma",
            help: "discount of what comes later (0.7)",
            kind: Kind::Real(0.0, 1.0),
        },
        settings::BY_STEP,
        settings::STATE,
        settings::LANES,
        settings::MEMORY,
    ],
    build: |arguments| {
        Box::new(Ql::negrl_visits(
            arguments.real("alpha").unwrap_or(0.3),
            arguments.real("gamma").unwrap_or(0.7),
            arguments.word("update") == Some(1),
            Settings::of(arguments, StateView::Full),
        ))
    },
};

#[cfg(test)]
mod tests {
    use crate::strategy::StrategySpec;
    use crate::strategy::qtable::maze::{self, Maze};
    use crate::words::Seed;

    #[test]
    fn negrl_visits_is_ql_without_penalties() {
        let walk = |text: &str| {
            let mut strategy = StrategySpec::parse(text).unwrap().build();
            let mut world = maze::Cubes::default();
            let run = |index| world.run(&mut *strategy, Seed(5), index);
            (0..50).map(run).collect::<Vec<_>>()
        };
        assert_eq!(
            walk("negrl-visits:alpha=0.5,gamma=0.9"),
            walk("ql:alpha=0.5,gamma=0.9,penalties=off")
        );
    }
}
