//! Each program shows its bug, and without it stays silent.

use super::*;
use cct_executor::{Checker, Report, Seed};

const ALL: [&Subject; 12] = [
    &TWO_PC_1,
    &TWO_PC_2,
    &TWO_PC_3,
    &TWO_PC_4,
    &CHAIN_5,
    &CHAIN_6,
    &CHAIN_8,
    &MULTIPAXOS_1,
    &MULTIPAXOS_3,
    &PAXOS_1,
    &PAXOS_2,
    &TMS_1,
];

fn explore(subject: &Subject, bug: bool, (strategy, seed): (&str, u64), iterations: u64) -> Report {
    let fixed = subject
        .fixed
        .expect("every program has a form without the bug");
    let scenario = if bug { subject.scenario } else { fixed };
    Checker::new()
        .name(subject.name)
        .use_environment(false)
        .strategy_text(strategy)
        .seed(Seed(seed))
        .workers(1)
        .iterations(iterations)
        .time_budget(None)
        .granularity(subject.granularity)
        .clock(subject.clock)
        .max_steps(subject.max_steps)
        .run(move || scenario(Probe::default()))
}

#[test]
fn without_the_bug_nothing_fails_and_every_run_ends() {
    for subject in ALL {
        for strategy in ["random", "pct:d=3", "round-robin"] {
            let report = explore(subject, false, (strategy, 1), 200);
            assert!(report.passed(), "{}: {}", subject.name, report.text());
            assert_eq!(report.cut(), 0, "{} under {strategy}", subject.name);
        }
    }
}

/// The seed is fixed, so this cannot fail by chance. Where random takes too long, a seed was chosen
/// with which PCT is quick.
fn shows(subject: &Subject, search: (&str, u64), message: &str) {
    let report = explore(subject, true, search, 2_000);
    let failure = report.failure().expect(subject.name);
    let kind = failure.kind.to_string();
    assert!(kind.contains(message), "{}: {kind}", subject.name);
    assert!(failure.reproduced, "{}: {kind}", subject.name);
}

#[test]
fn two_phase_commit_breaks_its_invariants() {
    shows(&TWO_PC_1, ("random", 1), "is committed against a no");
    shows(&TWO_PC_2, ("random", 1), "is committed against a no");
    shows(&TWO_PC_3, ("random", 1), "is aborted and committed");
    shows(&TWO_PC_4, ("pct:d=3", 0), "was seen");
}

#[test]
fn a_mended_chain_loses_updates() {
    shows(&CHAIN_5, ("random", 1), "updates were answered");
    shows(&CHAIN_6, ("random", 1), "updates were answered");
    shows(&CHAIN_8, ("pct:d=3", 4), "updates were answered");
}

#[test]
fn paxos_chooses_twice() {
    for subject in [&MULTIPAXOS_1, &MULTIPAXOS_3, &PAXOS_1, &PAXOS_2] {
        shows(subject, ("random", 1), "was chosen, and now");
    }
}

#[test]
fn a_group_commits_what_it_refused() {
    shows(&TMS_1, ("random", 1), "is committed where the vote was no");
}
