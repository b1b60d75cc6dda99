//! Stand-ins for the benchmark programs of Desai, Qadeer, Seshia, "Systematic testing of
//! asynchronous reactive systems", ESEC/FSE 2015, table 1.
//!
//! The published programs were never made public. These are ours, after the protocols that the
//! paper names and the samples of psharp-ql: what may be compared is which strategy does better,
//! not a figure. Every one has a bounded number of requests, failures and retries, so that every
//! run ends, and gives the whole state of its machines and all messages to the fingerprint.

mod chain;
mod monitor;
mod network;
mod paxos;
#[cfg(test)]
mod tests;
mod transactions;
mod two_phase;

pub(crate) use chain::{CHAIN_5, CHAIN_6, CHAIN_8};
pub(crate) use paxos::{MULTIPAXOS_1, MULTIPAXOS_3, PAXOS_1, PAXOS_2};
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
