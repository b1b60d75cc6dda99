//! Every subject of this folder runs, is deterministic, and reaches what it must.

use super::super::{ALL, Probe, Scenario, Subject};
use cct_executor::{Checker, Report, Seed};

fn subjects() -> impl Iterator<Item = &'static &'static Subject> {
    const FAMILIES: [&str; 4] = ["cube-world", "raft-etcd", "raft-redis", "rsl"];
    ALL.iter()
        .filter(|s| FAMILIES.iter().any(|family| s.name.starts_with(family)))
}

fn named(name: &str) -> &'static Subject {
    ALL.iter().find(|subject| subject.name == name).unwrap()
}

fn explore(
    subject: &'static Subject,
    scenario: fn(Probe) -> Scenario,
    iterations: u64,
    probe: &Probe,
) -> Report {
    let probe = probe.clone();
    Checker::new()
        .use_environment(false)
        .name(subject.name)
        .seed(Seed(7))
        .workers(1)
        .iterations(iterations)
        .time_budget(None)
        .max_steps(subject.max_steps)
        .granularity(subject.granularity)
        .clock(subject.clock)
        .run(move || scenario(probe.clone()))
}

#[test]
fn correct_programs_stay_silent_and_cover() {
    for subject in subjects() {
        let scenario = subject.fixed.unwrap_or(subject.scenario);
        let probe = Probe::default();
        let report = explore(subject, scenario, 60, &probe);
        report.assert_passed();
        assert_eq!(report.cut(), 0, "{}", subject.name);
        let states = probe.with(|visited| visited.states.len());
        assert!(states > 100, "{}: {states} states", subject.name);
    }
}

#[test]
fn targets_are_within_what_is_covered() {
    for name in [
        "raft-etcd-one-in-term-4",
        "raft-redis-log-diff-1",
        "rsl-any-decree-2",
    ] {
        let probe = Probe::default();
        let subject = named(name);
        explore(subject, subject.scenario, 300, &probe).assert_passed();
        probe.with(|visited| {
            assert_eq!(visited.targets.len(), subject.targets.len(), "{name}");
            assert!(visited.targets[0].len() > 50, "{name}");
            assert!(visited.targets[0].is_subset(&visited.states), "{name}");
        });
    }
}

#[test]
fn runs_repeat_themselves() {
    for name in ["raft-etcd", "rsl", "cube-world"] {
        let [one, two] = [0, 1].map(|_| {
            let probe = Probe::default();
            let subject = named(name);
            explore(subject, subject.scenario, 50, &probe).assert_passed();
            probe.with(|visited| visited.states.clone())
        });
        assert_eq!(one, two, "{name}");
    }
}

/// About 3 of 10,000 random episodes show it, so that a new seed would miss it in 40,000 with odds
/// of e^-12.
#[test]
fn decided_logs_diverge_with_the_bug() {
    let subject = named("rsl-inconsistent-logs");
    let report = explore(subject, subject.scenario, 40_000, &Probe::default());
    let failure = report.failure().expect("the bug shows");
    assert!(
        failure.kind.to_string().contains("was decided"),
        "{}",
        failure.kind
    );
}
