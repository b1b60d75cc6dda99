//! The targets that the paper has for RSL (tables 2, 3, 4 and 6), and its bug.
//!
//! Differs from the source: see [`rsl`](super::rsl).

use super::super::{Probe, Published, Scenario, Standing, Subject};
use super::partition::{Rules, Waypoint, episode};
use super::row;
use super::rsl::{Node, Options, Rsl, State};
use cct_executor::{Clock, Granularity};

const RULES: Rules = Rules {
    horizon: 25,
    stops: 0,
    ..Rules::PAPER
};
const COVERAGE: Options = Options {
    heartbeat: 3,
    whole_log: false,
    diverges: false,
};
const TARGETS: Options = Options {
    heartbeat: 2,
    whole_log: true,
    diverges: false,
};

/// The sequences of the targets, the target last.
const SEQUENCES: [&[Waypoint<Rsl>]; 8] = [
    &[("any in ballot 3", any_in_ballot::<3>)],
    &[("all from ballot 3", all_from_ballot::<3>)],
    &[("an entry in ballot 2", entry_in_ballot::<2>)],
    &[("any in decree 2", any_in_decree::<2>)],
    &[("ballot difference 2", ballot_diff::<2>)],
    &[("any decided 3", any_decided::<3>)],
    &[
        ("any in ballot 2", any_in_ballot::<2>),
        ("a primary in ballot 2", primary_in_ballot::<2>),
    ],
    &[
        ("decided difference 1", decided_diff::<1>),
        ("decided difference 2", decided_diff::<2>),
        ("decided difference 3", decided_diff::<3>),
    ],
];

fn any_in_ballot<const B: u8>(rsl: &Rsl) -> bool {
    let mut nodes = rsl.nodes.iter();
    nodes.any(|node| node.accepted.ballot.number == B)
}

fn all_from_ballot<const B: u8>(rsl: &Rsl) -> bool {
    let mut nodes = rsl.nodes.iter();
    nodes.all(|node| node.accepted.ballot.number >= B)
}

/// Promises are entries too.
fn entry_in_ballot<const B: u8>(rsl: &Rsl) -> bool {
    let mut entries = rsl.nodes.iter().flat_map(|node| &node.log);
    entries.any(|entry| entry.proposal.ballot.number == B)
}

fn any_in_decree<const D: u8>(rsl: &Rsl) -> bool {
    rsl.nodes.iter().any(|node| node.accepted.decree >= D)
}

fn any_decided<const N: usize>(rsl: &Rsl) -> bool {
    rsl.nodes.iter().any(|node| node.decided.len() >= N)
}

fn primary_in_ballot<const B: u8>(rsl: &Rsl) -> bool {
    rsl.nodes
        .iter()
        .any(|node| node.state == State::StablePrimary && node.accepted.ballot.number == B)
}

fn ballot_diff<const D: usize>(rsl: &Rsl) -> bool {
    spread(rsl, |node| usize::from(node.accepted.ballot.number)) >= D
}

fn decided_diff<const D: usize>(rsl: &Rsl) -> bool {
    spread(rsl, |node| node.decided.len()) >= D
}

fn spread(rsl: &Rsl, of: impl Fn(&Node) -> usize) -> usize {
    let values = rsl.nodes.iter().map(of);
    let (least, most) = values.fold((usize::MAX, 0), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    most.saturating_sub(least)
}

const fn subject<const T: usize>(
    name: &'static str,
    about: &'static str,
    published: &'static [Published],
) -> Subject {
    Subject {
        name,
        about,
        standing: Standing::Model,
        workers: 1,
        max_steps: 100,
        granularity: Granularity::Op,
        clock: Clock::Strict,
        scenario: scenario::<T>,
        fixed: None,
        targets: &["target"],
        published,
    }
}

fn scenario<const T: usize>(probe: Probe) -> Scenario {
    episode(|| Rsl::new(TARGETS), RULES, SEQUENCES[T], probe)
}

fn coverage(probe: Probe) -> Scenario {
    episode(|| Rsl::new(COVERAGE), RULES, &[], probe)
}

fn divergent(probe: Probe) -> Scenario {
    let options = Options {
        diverges: true,
        ..TARGETS
    };
    episode(move || Rsl::new(options), RULES, SEQUENCES[0], probe)
}

pub(crate) const COVER: Subject = Subject {
    scenario: coverage,
    targets: &[],
    ..subject::<0>(
        "rsl",
        "RSL under partitions: how many states are covered",
        row!("BM": 2020.9, "Neg": 751.2, "Rand": 678.9),
    )
};

/// What is published is the percentage of episodes that show the bug, with AnyBallot(3) as target.
pub(crate) const INCONSISTENT_LOGS: Subject = Subject {
    scenario: divergent,
    fixed: Some(scenario::<0>),
    ..subject::<0>(
        "rsl-inconsistent-logs",
        "RSL: a node that catches up executes its own proposal for a decree decided otherwise",
        row!(in "rl6"; "WP": 1.672, "BM": 0.511, "Neg": 0.083, "Rand": 0.080),
    )
};

pub(crate) const ANY_BALLOT_3: Subject = subject::<0>(
    "rsl-any-ballot-3",
    "RSL: a node has accepted in ballot 3",
    row!("WP": 1573.0, "BM": 837.0, "Neg": 301.0, "Rand": 264.0),
);

pub(crate) const ALL_BALLOT_3: Subject = subject::<1>(
    "rsl-all-ballot-3",
    "RSL: all nodes have accepted in ballot 3 or later",
    row!("WP": 1021.0, "BM": 493.0, "Neg": 102.0, "Rand": 101.0),
);

pub(crate) const ENTRY_BALLOT_2: Subject = subject::<2>(
    "rsl-entry-ballot-2",
    "RSL: a log has an entry of ballot 2 (a loss in the paper)",
    row!("WP": 1016.0, "BM": 1954.0, "Neg": 698.0, "Rand": 658.0),
);

pub(crate) const ANY_DECREE_2: Subject = subject::<3>(
    "rsl-any-decree-2",
    "RSL: a node has accepted for decree 2",
    row!("WP": 1068.0, "BM": 663.0, "Neg": 188.0, "Rand": 155.0),
);

pub(crate) const BALLOT_DIFF_2: Subject = subject::<4>(
    "rsl-ballot-diff-2",
    "RSL: accepted ballots differ by 2",
    row!("WP": 19.0, "BM": 12.0, "Neg": 2.0, "Rand": 3.0),
);

pub(crate) const ANY_DECIDED_3: Subject = subject::<5>(
    "rsl-any-decided-3",
    "RSL: a node has decided 3 decrees",
    row!("WP": 856.0, "BM": 492.0, "Neg": 134.0, "Rand": 110.0),
);

pub(crate) const PRIMARY_IN_BALLOT_2: Subject = subject::<6>(
    "rsl-primary-in-ballot-2",
    "RSL: a node is primary in ballot 2",
    row!("WP": 607.0, "BM": 467.0, "Neg": 232.0, "Rand": 196.0),
);

pub(crate) const DECIDED_DIFF_3: Subject = subject::<7>(
    "rsl-decided-diff-3",
    "RSL: decided logs differ by 3 decrees",
    row!("WP": 113.7, "BM": 22.7, "Neg": 5.7, "Rand": 2.9),
);
