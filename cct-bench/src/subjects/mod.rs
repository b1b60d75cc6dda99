//! Subjects: programs with known bugs, or with spaces to cover, that strategies are measured on.
//!
//! One file each. Every file opens with where the program comes from, which bug it has, and how it
//! differs from its source. [`ALL`] lists them.
//!
//! 1. A subject is deterministic but for what the strategy decides.
//! 2. A bug shows as a failed iteration: a panic, a broken `always!`, a deadlock.

mod bounded_buffer;
mod calculator;
mod chord;
mod counters;
mod failure_detector;
mod fse;
mod machine;
mod matcher;
mod order;
mod paxos;
mod published;
mod raft;
mod rl;
mod safestack;
mod services;
mod small;
mod threads;
mod wsq;

#[cfg(test)]
mod hunting;
#[cfg(test)]
mod shared_memory_tests;

use cct_executor::{Clock, Granularity};
use std::collections::BTreeSet;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};

/// All subjects, in the order of the tables.
pub(crate) const ALL: &[&Subject] = &[
    &raft::V1,
    &raft::V2,
    &paxos::PAXOS,
    &chord::ARTIFACT,
    &chord::TERMINATE,
    &failure_detector::FAILURE_DETECTOR,
    &rl::cube_world::CUBE_WORLD,
    &rl::cube_world::CUBE_3,
    &rl::etcd::COVER,
    &rl::etcd::LOG_COMMIT_GAP_3,
    &rl::etcd::ONE_IN_TERM_4,
    &rl::etcd::MIN_COMMIT_2,
    &rl::etcd::TERM_DIFF_2,
    &rl::etcd::LEADER_IN_TERM_4,
    &rl::etcd::ONE_COMMIT_IN_TERM_2,
    &rl::etcd::ONE_LEADER_ONE_CANDIDATE,
    &rl::etcd::LOG_GAP_2,
    &rl::etcd::ALL_IN_TERM_5,
    &rl::redis::COVER,
    &rl::redis::ONE_IN_TERM_3,
    &rl::redis::ALL_IN_TERM_2,
    &rl::redis::TERM_DIFF_2,
    &rl::redis::COMMIT_ENTRIES_2,
    &rl::redis::ENTRY_IN_TERM_2,
    &rl::redis::LEADER_IN_TERM_2,
    &rl::redis::LOG_DIFF_1,
    &rl::redis::LOG_COMMIT_DIFF_3,
    &rl::redis::ONE_LEADER_ONE_CANDIDATE,
    &rl::rsl_targets::COVER,
    &rl::rsl_targets::INCONSISTENT_LOGS,
    &rl::rsl_targets::ANY_BALLOT_3,
    &rl::rsl_targets::ALL_BALLOT_3,
    &rl::rsl_targets::ENTRY_BALLOT_2,
    &rl::rsl_targets::ANY_DECREE_2,
    &rl::rsl_targets::BALLOT_DIFF_2,
    &rl::rsl_targets::ANY_DECIDED_3,
    &rl::rsl_targets::PRIMARY_IN_BALLOT_2,
    &rl::rsl_targets::DECIDED_DIFF_3,
    &fse::TWO_PC_1,
    &fse::TWO_PC_2,
    &fse::TWO_PC_3,
    &fse::TWO_PC_4,
    &fse::CHAIN_5,
    &fse::CHAIN_6,
    &fse::CHAIN_8,
    &fse::MULTIPAXOS_1,
    &fse::MULTIPAXOS_2,
    &fse::MULTIPAXOS_3,
    &fse::PAXOS_1,
    &fse::PAXOS_2,
    &fse::PAXOS_3,
    &fse::TMS_1,
    &counters::FIB_BENCH_2,
    &counters::FIB_BENCH_LONGEST_2,
    &counters::TRIANGULAR_2,
    &counters::TRIANGULAR_LONGEST_2,
    &safestack::SAFESTACK,
    &safestack::SAFESTACK_ARTIFACT,
    &bounded_buffer::BOUNDED_BUFFER,
    &bounded_buffer::BOUNDED_BUFFER_MINIMAL,
    &bounded_buffer::BOUNDED_BUFFER_RANDOM,
    &matcher::ETA1,
    &matcher::ETA2,
    &matcher::ETA3,
    &matcher::ETA4,
    &matcher::ETA5,
    &matcher::ETA6,
    &matcher::COIN,
    &calculator::CALCULATOR,
    &calculator::CALCULATOR_CUT,
    &services::cache_provider::CACHE_PROVIDER,
    &services::pool_manager::V1,
    &services::pool_manager::V2,
    &services::resource_provider::V1,
    &services::resource_provider::V2,
    &wsq::WSQ,
    &wsq::WSQ_2,
    &wsq::WSQ_4,
    &wsq::WSQ_8,
    &wsq::WSQ_16,
    &wsq::WSQ_32,
    &wsq::WSQ_64,
    &order::FFT,
    &order::LU,
    &order::BARNES,
    &order::PBZIP2,
    &order::DRYAD,
    &small::BLUETOOTH,
    &small::REORDER_5,
    &small::REORDER_10,
    &small::REORDER_100,
    &small::REORDER_100_AT_ONCE,
    &small::STRING_BUFFER,
    &small::TOKEN_RING,
    &small::TWO_STAGE,
    &small::TWO_STAGE_100,
    &small::WRONG_LOCK,
    &small::KEYRING,
    &small::NETLINK_DUMP,
    &small::SEQ_PORT,
];

/// The body of one iteration.
pub(crate) type Scenario = Pin<Box<dyn Future<Output = ()>>>;

/// How a subject relates to the published program of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Standing {
    /// The published program, with its scheduling points.
    Reproduction,
    /// Our own program after a description: the published one is not public.
    Model,
    /// A published program, changed on purpose.
    Variant,
}

/// A published figure.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Published {
    /// The table of ours it stands beside: `ql2`, `ql1`, `ql4`, `ndn`, `pct3`, `fse`, `rl`,
    /// `rl6`, `small`.
    pub(crate) table: &'static str,
    /// The column: a strategy as the paper names it, `bound`...
    pub(crate) column: &'static str,
    /// The figure.
    pub(crate) value: f64,
}

impl Published {
    /// A figure of a table and column.
    pub(crate) const fn new(table: &'static str, column: &'static str, value: f64) -> Published {
        Published {
            table,
            column,
            value,
        }
    }
}

/// A program to measure strategies on.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    /// Its name in tables and for `--only`.
    pub(crate) name: &'static str,
    /// The program and its bug, in one line.
    pub(crate) about: &'static str,
    /// What it is to the published one.
    pub(crate) standing: Standing,
    /// Its tasks, the main one included.
    pub(crate) workers: u32,
    /// Steps after which an iteration is cut.
    pub(crate) max_steps: u64,
    /// Where scheduling points lie.
    pub(crate) granularity: Granularity,
    /// When timers may fire.
    pub(crate) clock: Clock,
    /// The buggy program. Called once an iteration.
    pub(crate) scenario: fn(Probe) -> Scenario,
    /// The same program without the bug, which must stay silent; `None` where there is none.
    pub(crate) fixed: Option<fn(Probe) -> Scenario>,
    /// Names of target predicates that [`Probe::visit_target`] counts, in order.
    pub(crate) targets: &'static [&'static str],
    /// What was published about it.
    pub(crate) published: &'static [Published],
}

impl Subject {
    /// The published figure of this table and column.
    pub(crate) fn published(&self, table: &str, column: &str) -> Option<f64> {
        let fits = |row: &&Published| row.table == table && row.column == column;
        self.published.iter().find(fits).map(|row| row.value)
    }
}

/// Collects the distinct abstract states that a subject visits in a run.
#[derive(Clone, Debug, Default)]
pub(crate) struct Probe(Arc<Mutex<Visited>>);

/// What was visited.
#[derive(Clone, Debug, Default)]
pub(crate) struct Visited {
    /// Distinct abstract states.
    pub(crate) states: BTreeSet<u64>,
    /// Distinct abstract states in which a target predicate held, by target.
    pub(crate) targets: Vec<BTreeSet<u64>>,
}

impl Probe {
    /// The program is in this abstract state.
    pub(crate) fn visit(&self, state: u64) {
        self.with(|visited| {
            visited.states.insert(state);
        });
    }

    /// The program is in this abstract state, in which the target's predicate holds.
    pub(crate) fn visit_target(&self, target: usize, state: u64) {
        self.with(|visited| {
            if visited.targets.len() <= target {
                visited.targets.resize(target + 1, BTreeSet::new());
            }
            visited.targets[target].insert(state);
        });
    }

    /// Looks at, or takes, what was visited.
    pub(crate) fn with<R>(&self, f: impl FnOnce(&mut Visited) -> R) -> R {
        f(&mut self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}
