//! Each program shows its bug, and without it stays silent.

use super::*;
use cct_executor::{Checker, Report, Seed};

const ALL: [&Subject; 14] = [
    &TWO_PC_1,
    &TWO_PC_2,
    &TWO_PC_3,
    &TWO_PC_4,
    &CHAIN_5,
    &CHAIN_6,
    &CHAIN_8,
    &MULTIPAXOS_1,
    &MULTIPAXOS_2,
    &MULTIPAXOS_3,
    &PAXOS_1,
    &PAXOS_2,
    &PAXOS_3,
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
        .shrink(false)
        .run(move || scenario(Probe::default()))
}

#[test]
fn without_the_bug_nothing_fails_and_every_run_ends() {
    for subject in ALL {
        for strategy in ["random", "pct:d=3", "ss"] {
            let report = explore(subject, false, (strategy, 1), 100);
            assert!(report.passed(), "{}: {}", subject.name, report.text());
            assert_eq!(report.cut(), 0, "{} under {strategy}", subject.name);
        }
    }
}

/// The seed is fixed, so this cannot fail by chance.
fn shows(subject: &Subject, strategy: &str, message: &str) {
    let report = explore(subject, true, (strategy, 1), 5_000);
    let failure = report.failure().expect(subject.name);
    let kind = failure.kind.to_string();
    assert!(kind.contains(message), "{}: {kind}", subject.name);
    assert!(failure.reproduced, "{}: {kind}", subject.name);
}

#[test]
fn two_phase_commit_breaks_its_invariants() {
    shows(&TWO_PC_1, "ss", "is committed against a no");
    shows(&TWO_PC_2, "ss:explorer=rr", "is committed against a no");
    shows(&TWO_PC_3, "ss", "is aborted and committed");
    shows(&TWO_PC_4, "ss", "was seen");
}

#[test]
fn a_mended_chain_loses_updates() {
    shows(&CHAIN_5, "ss", "updates were answered");
    // Any of its invariants, depending on the schedule.
    shows(&CHAIN_6, "ss", "updates were answered");
    shows(&CHAIN_8, "ss", "updates were answered");
}

#[test]
fn paxos_chooses_twice() {
    for subject in [
        &MULTIPAXOS_1,
        &MULTIPAXOS_2,
        &MULTIPAXOS_3,
        &PAXOS_1,
        &PAXOS_3,
    ] {
        shows(subject, "ss:explorer=rr", "was chosen, and now");
    }
    shows(&PAXOS_2, "random", "was chosen, and now");
}

#[test]
fn a_group_commits_what_it_refused() {
    shows(&TMS_1, "random", "is committed where the vote was no");
}

/// With a cache, an explorer must not take states for one another that differ: it finds what it
/// finds without.
#[test]
fn states_are_told_apart() {
    for subject in [&TWO_PC_3, &TWO_PC_4, &CHAIN_5, &PAXOS_1] {
        for strategy in ["ses", "ses:cache=on"] {
            let report = explore(subject, true, (strategy, 1), 2_000);
            assert!(!report.passed(), "{} under {strategy}", subject.name);
        }
    }
}
