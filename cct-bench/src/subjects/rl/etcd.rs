//! The targets that the paper has for etcd's Raft library (tables 2 and 4), on our small Raft.
//!
//! Differs from the source: see [`raft`](super::raft); terms begin at 1, as etcd's do after its
//! bootstrap, but without the entries of the bootstrap. Pure coverage has election and heartbeat
//! timers of 16 and 4 ticks, targets of 9 and 3. That TermDiff(n) asks for more than n is the
//! source's.

use super::super::{Probe, Published, Scenario, Standing, Subject};
use super::partition::{Rules, Waypoint, episode};
use super::raft::{Options, Raft};
use super::{raft_predicates as is, row};
use cct_executor::{Clock, Granularity};

const RULES: Rules = Rules {
    horizon: 25,
    stops: 3,
    ..Rules::PAPER
};
const COVERAGE: Options = Options {
    election: 16,
    heartbeat: 4,
    first_term: 1,
    opens_terms: true,
};
const TARGETS: Options = Options {
    election: 9,
    heartbeat: 3,
    first_term: 1,
    opens_terms: true,
};

/// The sequences of the targets, the target last.
const SEQUENCES: [&[Waypoint<Raft>]; 9] = [
    &[
        ("log difference 1", is::log_diff::<1>),
        ("log difference 2", is::log_diff::<2>),
        ("log difference 3", is::log_diff::<3>),
        ("commit difference 3", is::commit_diff::<3>),
    ],
    &[
        ("any in term 2", is::any_in_term::<2>),
        ("any in term 3", is::any_in_term::<3>),
        ("any in term 4", is::any_in_term::<4>),
    ],
    &[
        ("commit 1", is::any_commit::<1>),
        ("commit 1, and a leader", is::any_commit_and_leader::<1>),
        ("commit 2", is::any_commit::<2>),
    ],
    &[("term difference above 2", is::term_diff::<3>)],
    &[
        ("any in term 3", is::any_in_term::<3>),
        ("all in term 3", is::all_in_term::<3>),
        ("a leader in term 4", is::leader_in_term::<4>),
    ],
    &[
        ("any in term 2", is::any_in_term::<2>),
        ("a leader in term 2", is::leader_in_term::<2>),
        ("committed in term 2", is::committed_in_term::<2>),
    ],
    &[
        ("a leader", is::any_leader),
        ("term difference above 1", is::term_diff::<2>),
        ("a leader and a candidate", is::leader_and_candidate),
    ],
    &[
        ("log difference 1", is::log_diff::<1>),
        ("log difference 2", is::log_diff::<2>),
    ],
    &[
        ("any from term 3", is::any_from_term::<3>),
        ("any from term 5", is::any_from_term::<5>),
        ("all from term 5", is::all_from_term::<5>),
    ],
];

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
    episode(|| Raft::new(TARGETS), RULES, SEQUENCES[T], probe)
}

fn coverage(probe: Probe) -> Scenario {
    episode(|| Raft::new(COVERAGE), RULES, &[], probe)
}

pub(crate) const COVER: Subject = Subject {
    scenario: coverage,
    targets: &[],
    ..subject::<0>(
        "raft-etcd",
        "Raft under partitions and crashes: how many states are covered",
        row!("BM": 22202.7, "Neg": 24898.6, "Rand": 19179.3),
    )
};

pub(crate) const LOG_COMMIT_GAP_3: Subject = subject::<0>(
    "raft-etcd-log-commit-gap-3",
    "Raft: committed logs differ by 3 entries",
    row!("WP": 13336.0, "BM": 5692.0, "Neg": 6411.0, "Rand": 4717.0),
);

pub(crate) const ONE_IN_TERM_4: Subject = subject::<1>(
    "raft-etcd-one-in-term-4",
    "Raft: a node is in term 4",
    row!("WP": 33011.0, "BM": 29545.0, "Neg": 29739.0, "Rand": 25309.0),
);

pub(crate) const MIN_COMMIT_2: Subject = subject::<2>(
    "raft-etcd-min-commit-2",
    "Raft: a node has committed 2 entries",
    row!("WP": 29862.0, "BM": 25015.0, "Neg": 24031.0, "Rand": 21765.0),
);

pub(crate) const TERM_DIFF_2: Subject = subject::<3>(
    "raft-etcd-term-diff-2",
    "Raft: terms differ by more than 2",
    row!("WP": 15289.0, "BM": 4673.0, "Neg": 7792.0, "Rand": 4879.0),
);

pub(crate) const LEADER_IN_TERM_4: Subject = subject::<4>(
    "raft-etcd-leader-in-term-4",
    "Raft: a node leads term 4",
    row!("WP": 15727.0, "BM": 10684.0, "Neg": 11171.0, "Rand": 9571.0),
);

pub(crate) const ONE_COMMIT_IN_TERM_2: Subject = subject::<5>(
    "raft-etcd-one-commit-in-term-2",
    "Raft: a request is committed in term 2",
    row!("WP": 32709.0, "BM": 28169.0, "Neg": 25863.0, "Rand": 23903.0),
);

pub(crate) const ONE_LEADER_ONE_CANDIDATE: Subject = subject::<6>(
    "raft-etcd-one-leader-one-candidate",
    "Raft: there are a leader and a candidate (a loss in the paper)",
    row!("WP": 35403.0, "BM": 36178.0, "Neg": 32891.0, "Rand": 29021.0),
);

pub(crate) const LOG_GAP_2: Subject = subject::<7>(
    "raft-etcd-log-gap-2",
    "Raft: logs differ by 2 entries",
    row!("WP": 37832.0, "BM": 31372.0, "Neg": 33040.0, "Rand": 27445.0),
);

pub(crate) const ALL_IN_TERM_5: Subject = subject::<8>(
    "raft-etcd-all-in-term-5",
    "Raft: all nodes are in term 5 or later",
    row!("WP": 10346.0, "BM": 8202.0, "Neg": 7888.0, "Rand": 6682.0),
);
