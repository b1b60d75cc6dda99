//! Every subject of this folder runs, is deterministic, and reaches what it must.

use super::super::{ALL, Probe, Scenario, Subject};
use cct_executor::{Checker, Report, Seed};

fn subjects() -> impl Iterator<Item = &'static &'static Subject> {
    const FAMILIES: [&str; 3] = ["cube-world", "raft-", "rsl"];
    ALL.iter()
        .filter(|s| FAMILIES.iter().any(|family| s.name.starts_with(family)))
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
        .max_steps(subject.max_steps)
        .granularity(subject.granularity)
        .clock(subject.clock)
        .run(move || scenario(probe.clone()))
}

fn named(name: &str) -> &'static Subject {
    ALL.iter().find(|subject| subject.name == name).unwrap()
}

fn covered(probe: &Probe) -> (usize, usize) {
    probe.with(|visited| {
        let target = visited.targets.first().map_or(0, |target| target.len());
        (visited.states.len(), target)
    })
}

#[test]
fn correct_programs_stay_silent() {
    for subject in subjects() {
        let scenario = subject.fixed.unwrap_or(subject.scenario);
        let probe = Probe::default();
        explore(subject, scenario, 300, &probe).assert_passed();
        let (states, _) = covered(&probe);
        assert!(states > 100, "{}: {states} states", subject.name);
    }
}

#[test]
fn runs_repeat_themselves() {
    for name in ["raft-etcd-one-in-term-4", "rsl-any-decree-2", "cube-world"] {
        let [one, two] = [0, 1].map(|_| {
            let probe = Probe::default();
            let subject = named(name);
            explore(subject, subject.scenario, 200, &probe).assert_passed();
            probe.with(|visited| visited.states.clone())
        });
        assert_eq!(one, two, "{name}");
    }
}
