//! Stand-ins for the benchmark programs of Desai, Qadeer, Seshia, "Systematic testing of
//! asynchronous reactive systems", ESEC/FSE 2015, table 1.
//!
//! The buggy programs were never made public as a set. These are ours, after the protocols that
//! the paper names, samples by its authors (p-org/P at ea19e2a, `Doc/Samples/DistributedSystems`) and
//! those of psharp-ql: what may be compared is which strategy does better, not a figure. Every one
//! gives the whole state of its machines and all messages to the fingerprint.
//!
//! 1. Scheduling points are those of P, see [`run_as_p`](crate::subjects::machine::run_as_p).
//! 2. All chances are fair coins, as P has no others. False comes first to a delaying explorer, and is
//!    what happens in a good world: nothing is lost, nothing fails, no timer fires, no one refuses.
//!    So random, in which every other message is lost, rarely gets far, while a delaying explorer
//!    gets to the end with one delay for each mishap.
//! 3. Every program has a bounded number of requests, failures and retries, so that every run ends.
//! 4. Sizes are those of the sources (two replicas, four servers, three nodes) unless random found
//!    the bug far from the best published figure for random, iterative or not: then replicas were
//!    added (`2pc-2`, `2pc-4`), servers as far as the samples go (`chain-5`), or a group (`tms-1`).

mod chain;
mod monitor;
mod network;
mod paxos;
#[cfg(test)]
mod tests;
mod transactions;
mod two_phase;

pub(crate) use chain::{CHAIN_5, CHAIN_6, CHAIN_8};
pub(crate) use paxos::{MULTIPAXOS_1, MULTIPAXOS_2, MULTIPAXOS_3, PAXOS_1, PAXOS_2, PAXOS_3};
pub(crate) use transactions::TMS_1;
pub(crate) use two_phase::{TWO_PC_1, TWO_PC_2, TWO_PC_3, TWO_PC_4};

use super::{Published, Scenario, Standing, Subject};
use crate::subjects::Probe;
use cct_executor::{Clock, Granularity};

/// The columns of the table: the first six count schedules, the others states.
const COLUMNS: [&str; 10] = [
    "RS", "IRS", "PCT", "SS-RR", "SS-RTC", "SS-PRR", "PB", "SES-RR", "SES-RTC", "SES-PRR",
];

/// Nothing was found in two hours and 60 GB.
const NEVER: f64 = f64::NAN;

/// A row of the table.
const fn row(values: [f64; 10]) -> [Published; 10] {
    let mut row = [Published {
        table: "fse",
        column: "",
        value: NEVER,
    }; 10];
    let mut at = 0;
    while at < 10 {
        row[at].column = COLUMNS[at];
        row[at].value = values[at];
        at += 1;
    }
    row
}

/// What the subjects of this folder have in common.
const fn model(
    name: &'static str,
    about: &'static str,
    workers: u32,
    [scenario, fixed]: [fn(Probe) -> Scenario; 2],
    published: &'static [Published],
) -> Subject {
    Subject {
        name,
        about,
        standing: Standing::Model,
        workers,
        max_steps: 2_000,
        granularity: Granularity::Op,
        clock: Clock::Strict,
        scenario,
        fixed: Some(fixed),
        targets: &[],
        published,
    }
}
