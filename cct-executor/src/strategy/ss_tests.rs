//! The guarantee, measured, and the number of samples.

use super::*;
use crate::strategy::delaying::{RoundRobinExplorer, RunToCompletionExplorer};
use crate::strategy::model::{Do, Toy};
use crate::strategy::odds::assert_at_least;
use crate::strategy::{Ses, StrategySpec};
use std::collections::BTreeMap;

fn programs() -> Vec<Vec<Vec<Do>>> {
    vec![
        vec![vec![Do::Step; 3]; 3],
        vec![
            vec![Do::Spawn(1), Do::Lock(0), Do::Choose(3), Do::Unlock(0)],
            vec![Do::Yield, Do::Lock(0), Do::Unlock(0)],
        ],
    ]
}

/// How often each schedule came up: who ran, and what was drawn.
type Counts = BTreeMap<(Vec<u32>, Vec<u32>), u64>;

/// All schedules with so many delays, and the greatest number of decisions of any schedule with
/// fewer, which is where delays are put.
fn schedules<E: DelayingExplorer>(
    explorer: E,
    program: &[Vec<Do>],
    delays: u32,
) -> (Counts, usize) {
    let mut toy = Toy::new(program.to_vec());
    let mut ses = Ses::new(explorer).max_delays(delays);
    let (mut found, mut fewer, mut length) = (BTreeMap::new(), 0, 0);
    let mut ses_below = Vec::new();
    let mut index = 0;
    while let Some(run) = toy.try_run(&mut ses, Seed(1), index) {
        index += 1;
        length = length.max(run.picks.len());
        ses_below.push((run.order, run.values));
        // Schedules come in the order of delays, and the remark counts them by delays.
        if !ses
            .remarks()
            .last()
            .unwrap()
            .starts_with(&format!("begun at {delays} delays"))
        {
            fewer = ses_below.len();
        }
    }
    found.extend(ses_below.split_off(fewer).into_iter().map(|run| (run, 0)));
    (found, length)
}

/// Whatever the program, the explorer and the number of delays: no schedule is less likely than
/// promised. Each comparison is wrong about a correct sampler with odds of 10^-9; there are fewer
/// than 1000 of them.
fn measure<E: DelayingExplorer + Clone>(explorer: E, one_by_one: bool) {
    for program in programs() {
        for delays in 1..=2 {
            let (mut found, length) = schedules(explorer.clone(), &program, delays);
            assert!(found.len() > 2);
            let promised = (length as f64).powi(-(delays as i32));
            let mut toy = Toy::new(program.clone());
            let mut ss = Ss::new(explorer.clone())
                .min_delays(delays)
                .one_by_one(one_by_one);
            // What the longest schedule would have shown.
            ss.longest = length as u32;
            let mut samples = 0;
            let mut index = 1;
            while samples < 4_000 {
                let run = toy.run(&mut ss, Seed(4), index);
                index += 1;
                // Stay in the stratum.
                ss.sample = 0;
                if !ss.going_on {
                    samples += 1;
                    let hits = found.get_mut(&(run.order, run.values));
                    if one_by_one {
                        assert_eq!(hits.is_some(), ss.path.len() == delays as usize);
                    }
                    hits.into_iter().for_each(|hits| *hits += 1);
                }
            }
            for (schedule, hits) in found {
                assert!(hits > 0, "{schedule:?} never");
                assert_at_least(hits, samples, promised);
            }
        }
    }
}

#[test]
fn every_schedule_is_as_likely_as_promised() {
    for one_by_one in [false, true] {
        measure(RunToCompletionExplorer::new(), one_by_one);
        measure(RoundRobinExplorer::new(), one_by_one);
    }
}

fn samples_by_stratum(one_by_one: bool, iterations: usize) -> BTreeMap<u32, u64> {
    let mut lanes: Vec<_> = (0..LANES)
        .map(|_| Ss::new(RoundRobinExplorer::new()).one_by_one(one_by_one))
        .collect();
    let mut toy = Toy::new(vec![vec![Do::Step; 8]; 3]);
    let mut samples = BTreeMap::new();
    for index in 0..iterations {
        let ss = &mut lanes[index % 16];
        toy.run(ss, Seed(4), index as u64);
        if !ss.going_on && ss.lane.is_some() {
            *samples.entry(ss.stratum).or_insert(0) += 1;
        }
    }
    samples
}

#[test]
fn strata_have_their_samples() {
    let samples = samples_by_stratum(true, 16 * 60);
    assert_eq!((samples[&1], samples[&2]), (103, 109));
    let samples = samples_by_stratum(false, 16 * 16);
    assert_eq!((samples[&1], samples[&2]), (103, 109));
    assert_eq!(samples_of(3), 127);
    assert_eq!(samples_of(1000), u64::MAX);
}

/// Places come from the longest schedule that was seen, so that none is out of reach for good.
#[test]
fn a_longer_schedule_has_more_places() {
    let mut toy = Toy::new(vec![vec![Do::Choose(2), Do::Step], vec![Do::Step; 3]]);
    let mut ss = Ss::new(RoundRobinExplorer::new());
    toy.run(&mut ss, Seed(4), 0);
    let first = ss.longest;
    assert!(first > 0);
    let mut longest = first;
    for index in 1..100 {
        let run = toy.run(&mut ss, Seed(4), index);
        longest = longest.max(run.picks.len() as u32);
        assert!(ss.longest >= first && ss.longest <= longest);
    }
}

/// One sample is one seed: a random explorer does not change its mind within it.
#[test]
fn iterations_of_a_sample_share_what_comes_before_the_delay() {
    let spec = StrategySpec::parse("ss:explorer=prr,min=3,one-by-one=on").unwrap();
    let mut strategy = spec.build();
    let mut toy = Toy::new(vec![vec![Do::Step; 5]; 6]);
    let runs: Vec<_> = (0..40)
        .map(|i| toy.run(&mut *strategy, Seed(3), i * 16))
        .collect();
    for sample in runs.chunks(4) {
        for pair in sample.windows(2) {
            let common = pair[0]
                .order
                .iter()
                .zip(&pair[1].order)
                .take_while(|(a, b)| a == b);
            // They part at the last delay, which is drawn from the rest of the first one.
            assert!(common.count() < pair[0].order.len());
        }
    }
    let first_tasks: std::collections::BTreeSet<u32> =
        runs.chunks(4).map(|sample| sample[0].order[0]).collect();
    assert!(first_tasks.len() > 1);
}

/// When nothing is left to delay, a sample ends, and so do the strata.
#[test]
fn strata_beyond_the_program_end() {
    let mut toy = Toy::new(vec![vec![Do::Step]; 2]);
    let mut ss = Ss::new(RoundRobinExplorer::new())
        .min_delays(2)
        .max_delays(2)
        .one_by_one(true);
    let mut runs = 0;
    while toy.try_run(&mut ss, Seed(1), runs * 16).is_some() {
        runs += 1;
    }
    // Lane 0 has 7 of the 109 samples; each has two iterations, for there is one delay to make.
    assert_eq!(runs, 14);
    let expected = "7 of 7 samples of one lane had no place left for all their delays";
    assert_eq!(ss.remarks(), [expected]);
}

#[test]
fn descriptions() {
    for (text, canonical) in [
        ("ss", "ss"),
        ("ss:explorer=rtc,min=1", "ss"),
        ("ss:max=8,explorer=rr,min=0", "ss:explorer=rr,min=0,max=8"),
        ("ss:one-by-one=on,max=2", "ss:max=2,one-by-one=on"),
    ] {
        let built = StrategySpec::parse(text).unwrap().build();
        assert_eq!(built.describe(), canonical);
    }
}
