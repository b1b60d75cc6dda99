//! The targets that the paper has for RedisRaft (tables 2, 4 and 5), on our small Raft.
//!
//! Differs from the source: a model, not RedisRaft, and without its crashes and restores; what is
//! kept is the horizon of 50 steps, terms that begin at 0, logs that grow by requests only (so that
//! differences between logs are as rare as the paper has them), and the sequences of predicates.

use super::super::{Probe, Published, Scenario, Standing, Subject};
use super::partition::{Rules, Waypoint, episode};
use super::raft::{Options, Raft};
use super::{raft_predicates as is, row};
use cct_executor::{Clock, Granularity};

const RULES: Rules = Rules {
    horizon: 50,
    stops: 3,
    ..Rules::PAPER
};
const OPTIONS: Options = Options {
    election: 16,
    heartbeat: 4,
    first_term: 0,
    opens_terms: false,
};

/// The sequences of the targets, the target last; the first has none.
const SEQUENCES: [&[Waypoint<Raft>]; 10] = [
    &[],
    &[("any in term 3", is::any_in_term::<3>)],
    &[("all in term 2", is::all_in_term::<2>)],
    &[("term difference 2", is::term_diff::<2>)],
    &[("commit 2", is::any_commit::<2>)],
    &[
        ("any in term 2", is::any_in_term::<2>),
        ("a leader in term 2", is::leader_in_term::<2>),
        ("committed in term 2", is::committed_in_term::<2>),
    ],
    &[("a leader in term 2", is::leader_in_term::<2>)],
    &[("log difference 1", is::log_diff::<1>)],
    &[
        ("log difference 1", is::log_diff::<1>),
        ("commit difference 3", is::commit_diff::<3>),
    ],
    &[
        ("a leader", is::any_leader),
        ("term difference 1", is::term_diff::<1>),
        ("a leader and a candidate", is::leader_and_candidate),
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
        targets: if T == 0 { &[] } else { &["target"] },
        published,
    }
}

fn scenario<const T: usize>(probe: Probe) -> Scenario {
    episode(|| Raft::new(OPTIONS), RULES, SEQUENCES[T], probe)
}

pub(crate) const COVER: Subject = subject::<0>(
    "raft-redis",
    "Raft, long episodes: how many states are covered",
    row!("BM": 32818.4, "Neg": 33433.2, "Rand": 27081.9),
);

pub(crate) const ONE_IN_TERM_3: Subject = subject::<1>(
    "raft-redis-one-in-term-3",
    "Raft, long episodes: a node is in term 3 (a loss in the paper)",
    row!("WP": 15934.0, "BM": 16640.0, "Neg": 17214.0, "Rand": 14370.0),
);

pub(crate) const ALL_IN_TERM_2: Subject = subject::<2>(
    "raft-redis-all-in-term-2",
    "Raft, long episodes: all nodes are in term 2",
    row!("WP": 23695.0, "BM": 7660.0, "Neg": 8437.0, "Rand": 6401.0),
);

pub(crate) const TERM_DIFF_2: Subject = subject::<3>(
    "raft-redis-term-diff-2",
    "Raft, long episodes: terms differ by 2",
    row!("WP": 23478.0, "BM": 22214.0, "Neg": 23323.0, "Rand": 20112.0),
);

pub(crate) const COMMIT_ENTRIES_2: Subject = subject::<4>(
    "raft-redis-commit-entries-2",
    "Raft, long episodes: a node has committed 2 entries",
    row!("WP": 24656.0, "BM": 4894.0, "Neg": 5325.0, "Rand": 2835.0),
);

pub(crate) const ENTRY_IN_TERM_2: Subject = subject::<5>(
    "raft-redis-entry-in-term-2",
    "Raft, long episodes: a request is committed in term 2",
    row!("WP": 22758.0, "BM": 8267.0, "Neg": 10114.0, "Rand": 9812.0),
);

pub(crate) const LEADER_IN_TERM_2: Subject = subject::<6>(
    "raft-redis-leader-in-term-2",
    "Raft, long episodes: a node leads term 2",
    row!("WP": 22533.0, "BM": 8971.0, "Neg": 10834.0, "Rand": 10361.0),
);

pub(crate) const LOG_DIFF_1: Subject = subject::<7>(
    "raft-redis-log-diff-1",
    "Raft, long episodes: logs differ by an entry",
    row!("WP": 30779.0, "BM": 5755.0, "Neg": 5958.0, "Rand": 3332.0),
);

pub(crate) const LOG_COMMIT_DIFF_3: Subject = subject::<8>(
    "raft-redis-log-commit-diff-3",
    "Raft, long episodes: committed logs differ by 3 entries",
    row!("WP": 14960.0, "BM": 154.0, "Neg": 158.0, "Rand": 102.0),
);

pub(crate) const ONE_LEADER_ONE_CANDIDATE: Subject = subject::<9>(
    "raft-redis-one-leader-one-candidate",
    "Raft, long episodes: there are a leader and a candidate",
    row!("WP": 1301.0, "BM": 482.0, "Neg": 471.0, "Rand": 356.0),
);
