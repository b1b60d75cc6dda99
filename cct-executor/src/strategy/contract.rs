//! What every strategy must do, whatever it is good for. Run over the whole registry, so that a
//! new strategy is held to it as soon as it can be named.

use super::model::{Do, Run, Toy};
use super::{Lanes, Strategy, StrategySpec};
use crate::words::Seed;

/// Every strategy as it comes, and some with parameters.
fn all() -> impl Iterator<Item = StrategySpec> {
    let plain = StrategySpec::all().iter().map(|entry| entry.name());
    let more = [
        "pct:d=1",
        "pct:d=5,k=30",
        "pct:phases=on,final-wait=on",
        "pct:patience=3",
        "ses:explorer=rr,cache=on,memory=1,delta=2,max=9",
        "ss:explorer=prr,min=2,max=30",
        "pct-psharp:d=30",
        "irs:depth=2",
        "preemption-bounding:bound=1",
        "greedy:states=5",
        "greedy:compat=psharp",
        "idb:states=3,rule=paper",
        "ql:alpha=0.5,gamma=0,visits=off,penalties=off,data=random,state=inbox,lanes=2,memory=1",
        "ql:compat=psharp",
        "waypoint:eps=0.5,one-time=on,target=2,state=custom",
    ];
    plain
        .chain(more)
        .map(|text| StrategySpec::parse(text).unwrap())
}

/// Programs with locks, yields, spawns, spinning, data choices and deadlocks.
fn programs() -> Vec<Vec<Vec<Do>>> {
    let locks = |a, b| {
        vec![
            Do::Yield,
            Do::Lock(a),
            Do::Step,
            Do::Lock(b),
            Do::Unlock(b),
            Do::Unlock(a),
            Do::Yield,
        ]
    };
    let values = vec![
        Do::Choose(2),
        Do::Yield,
        Do::Choose(7),
        Do::Step,
        Do::Weighted(&[1, 98, 1]),
    ];
    let main = vec![
        Do::Spawn(1),
        Do::Step,
        Do::Spawn(2),
        Do::Yield,
        Do::SpinUntil(0),
        Do::Step,
    ];
    let child = vec![Do::Step, Do::Lock(0), Do::Yield, Do::Unlock(0), Do::Step];
    let last = vec![
        Do::Lock(0),
        Do::Step,
        Do::Unlock(0),
        Do::Raise(0),
        Do::Yield,
    ];
    vec![
        vec![locks(0, 1), locks(1, 0), locks(0, 1), values.clone()],
        vec![main, child, last],
        vec![values; 5],
        vec![vec![Do::Yield; 3]; 40],
    ]
}

/// At most so many iterations of a program, until the strategy is exhausted. The model itself
/// refuses picks that are out of range.
fn runs(strategy: &mut dyn Strategy, program: &[Vec<Do>], seed: Seed) -> Vec<Run> {
    let mut toy = Toy::new(program.to_vec());
    toy.limit = 5000;
    (0..40)
        .map_while(|index| toy.try_run(strategy, seed, index))
        .collect()
}

#[test]
fn same_seed_same_picks() {
    for spec in all() {
        for program in programs() {
            let first = runs(&mut *spec.build(), &program, Seed(11));
            assert!(!first.is_empty());
            assert_eq!(
                first,
                runs(&mut *spec.build(), &program, Seed(11)),
                "{spec}"
            );
        }
    }
}

#[test]
fn picks_are_in_range() {
    for spec in all() {
        for program in programs() {
            for run in runs(&mut *spec.build(), &program, Seed(12)) {
                assert!(
                    run.picks.iter().all(|&(index, arity)| index < arity),
                    "{spec}"
                );
            }
        }
    }
}

/// Instances of an independent strategy are interchangeable, also after other programs.
#[test]
fn nothing_carries_over_without_lanes() {
    for spec in all().filter(|spec| spec.build().lanes() == Lanes::Independent) {
        let mut used = spec.build();
        for program in programs() {
            let fresh = runs(&mut *spec.build(), &program, Seed(13));
            assert_eq!(fresh, runs(&mut *used, &program, Seed(13)), "{spec}");
        }
    }
}

#[test]
fn randomised_strategies_use_the_seed() {
    let fixed = ["round-robin", "exhaustive", "preemption-bounding", "ses"];
    for spec in all().filter(|spec| !fixed.contains(&spec.name())) {
        let program = &programs()[0];
        let first = runs(&mut *spec.build(), program, Seed(14));
        assert_ne!(first, runs(&mut *spec.build(), program, Seed(15)), "{spec}");
    }
}

#[test]
fn the_description_is_a_specification() {
    for spec in all() {
        let description = spec.build().describe();
        let again = StrategySpec::parse(&description).unwrap();
        assert_eq!(again.build().describe(), description);
        for program in programs() {
            let first = runs(&mut *spec.build(), &program, Seed(16));
            assert_eq!(
                first,
                runs(&mut *again.build(), &program, Seed(16)),
                "{spec}"
            );
        }
    }
}
