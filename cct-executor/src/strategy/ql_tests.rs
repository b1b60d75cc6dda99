use super::*;
use crate::strategy::StrategySpec;
use crate::strategy::model::{Do, Toy};
use crate::strategy::odds::assert_at_least;
use crate::strategy::qtable::maze::{Graph, Matcher, Maze};
use crate::words::{Failure, FailureKind};

fn hits(text: &str, matcher: &mut Matcher, iterations: u64) -> u64 {
    let mut strategy = StrategySpec::parse(text).unwrap().build();
    (0..iterations)
        .map(|index| {
            matcher.run(&mut *strategy, Seed(42), index);
            u64::from(matcher.hit())
        })
        .sum()
}

/// Figure 1 of the paper: with random choice one iteration in 1024 matches a string of ten
/// characters (0.08 % in the paper's table 1), with QL more than 7 % do.
#[test]
fn the_string_is_matched_more_often_than_by_chance() {
    let random = hits("random", &mut Matcher::new(&[0; 10]), 22_000);
    assert_at_least(random, 22_000, 1.0 / 1024.0);
    assert_at_least(22_000 - random, 22_000, 1.0 - 1.0 / 300.0);
    for string in [
        &[0, 0, 0, 0, 0, 0, 0, 0, 0, 1],
        &[0, 1, 0, 1, 0, 1, 0, 1, 0, 1],
        &[0, 1, 0, 1, 0, 1, 0, 0, 0, 1],
    ] {
        let mut matcher = Matcher::new(string);
        let ql = hits("ql", &mut matcher, 2000);
        assert!(ql > 2000 * 7 / 100, "{ql} of 2000");
        // Data choices are learnt as well.
        matcher.data = true;
        let ql = hits("ql", &mut matcher, 2000);
        assert!(ql > 2000 * 7 / 100, "{ql} of 2000 by data");
        let random = hits("ql:data=random", &mut matcher, 2000);
        assert!(random < 20, "{random} of 2000");
    }
}

/// Table 1's figures are those of an artifact that forgets everything when it has found a bug.
#[test]
fn the_artifact_matches_as_often_as_published() {
    let mut matcher = Matcher::new(&[0, 0, 0, 0, 0, 0, 0, 0, 0, 1]);
    let psharp = hits("ql:compat=psharp", &mut matcher, 2000);
    assert!(psharp > 20, "{psharp} of 2000");
}

fn value(ql: &Ql, state: u64, action: u32) -> f64 {
    let state = ql.table.find(state).unwrap();
    f64::from(ql.table.value(state, action).unwrap_or(0.0))
}

#[track_caller]
fn assert_close(value: f64, expected: f64) {
    let error = (value - expected).abs();
    assert!(error <= 1e-6 * expected.abs(), "{value}, not {expected}");
}

/// By hand: states 0 and 1 with two actions each, which all lead on; state 2 is the end.
#[test]
fn the_update_is_that_of_the_paper() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[]]);
    graph.penalty = 1000;
    let mut ql = Ql::new();
    let first = graph.run(&mut ql, Seed(1), 0);
    // All was visited once, and untried actions were enabled in state 1.
    let reward = |action| if action == 1 { -1000.0 } else { -1.0 };
    let after_one = [0.3 * reward(first[0]), 0.3 * reward(first[1])];
    assert_close(value(&ql, 0, first[0]), after_one[0]);
    assert_close(value(&ql, 1, first[1]), after_one[1]);
    let mut values = [[0.0; 2]; 2];
    values[0][first[0] as usize] = after_one[0];
    values[1][first[1] as usize] = after_one[1];
    for index in 1..50 {
        let run = graph.run(&mut ql, Seed(1), index);
        let visits = f64::from(index as u32 + 1);
        let penalty = |action| if action == 1 { 1000.0 } else { 1.0 };
        let update = |old: f64, action, next: f64| {
            0.7 * old + 0.3 * (-visits * penalty(action) + 0.7 * next)
        };
        let [a, b] = [run[0] as usize, run[1] as usize];
        values[1][b] = update(values[1][b], run[1], 0.0);
        let next = values[1][0].max(values[1][1]);
        values[0][a] = update(values[0][a], run[0], next);
        for (state, action) in [(0, a), (1, b)] {
            let expected = values[state][action];
            let learnt = value(&ql, state as u64, action as u32);
            assert!(
                (learnt / expected - 1.0).abs() < 1e-4,
                "{learnt}, not {expected}"
            );
        }
    }
    assert_eq!(ql.table.visits(ql.table.find(2).unwrap()), 50);
}

/// Without visits and penalties the reward is -1.
#[test]
fn the_optimisations_can_be_left_out() {
    let mut graph = Graph::new(&[&[1, 1], &[]]);
    graph.penalty = 1000;
    let mut ql = Ql::new().visits(false).penalties(false).alpha(1.0);
    assert!(!ql.interests().rewards);
    ql.penalties = false;
    graph.penalty = 0;
    (0..20).for_each(|index| drop(graph.run(&mut ql, Seed(3), index)));
    assert_close(value(&ql, 0, 0), -1.0);
    assert_close(value(&ql, 0, 1), -1.0);
}

/// The artifact does not update the last decision, and forgets all after a failure.
#[test]
fn psharp_forgets_and_looks_one_decision_ahead() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[]]);
    let mut ql = Ql::new();
    ql.set(true, ql.settings);
    (0..4).for_each(|index| drop(graph.run(&mut ql, Seed(1), index)));
    assert!(value(&ql, 0, 0) + value(&ql, 0, 1) < 0.0);
    assert_close(value(&ql, 1, 0) + value(&ql, 1, 1), 0.0);
    graph.outcome = Outcome::Failed(Failure {
        kind: FailureKind::Deadlock { waiting: 1 },
        step: 1,
    });
    graph.run(&mut ql, Seed(1), 4);
    assert_eq!(ql.table.len(), 0);
}

/// With values far below what `e^x` can express, the softmax still follows them, and the artifact's
/// takes the action that became known last.
#[test]
fn softmax_never_underflows() {
    let mut graph = Graph::new(&[&[1, 1, 1], &[]]);
    graph.penalty = u32::MAX;
    for psharp in [false, true] {
        let mut ql = Ql::new();
        ql.set(psharp, ql.settings);
        graph.run(&mut ql, Seed(1), 0);
        let state = ql.table.insert(0).unwrap();
        for (tag, value) in [(2, -9000.0), (0, -8000.0), (1, -8000.5)] {
            ql.table.set(state, tag, value);
        }
        let mut seen = [0; 3];
        for index in 0..200 {
            let mut copy = ql.clone();
            seen[graph.run(&mut copy, Seed(2), index)[0] as usize] += 1;
        }
        match psharp {
            false => assert!(
                seen[0] > seen[1] && seen[1] > 40 && seen[2] == 0,
                "{seen:?}"
            ),
            true => assert_eq!(seen.iter().filter(|&&n| n > 0).count(), 1, "{seen:?}"),
        }
    }
}

/// Each lane learns by itself: which instances run in one worker does not matter.
#[test]
fn lanes_share_nothing() {
    let spec = StrategySpec::parse("ql:lanes=2").unwrap();
    assert_eq!(spec.build().lanes(), Lanes::Fixed(2));
    let run = |lanes: &[u64]| {
        let mut matcher = Matcher::new(&[0, 1, 1, 0, 1]);
        let mut runs = Vec::new();
        for &lane in lanes {
            let mut strategy = spec.build();
            for index in (lane..60).step_by(2) {
                runs.push((index, matcher.run(&mut *strategy, Seed(9), index)));
            }
        }
        runs.sort();
        runs
    };
    assert_eq!(run(&[0, 1]), run(&[1, 0]));
}

#[test]
fn what_was_saved_goes_on_learning() {
    let string = &[0, 0, 1, 0, 1, 1, 0, 1, 0, 0];
    for text in [
        "ql",
        "ql:compat=psharp",
        "negrl-visits",
        "bonus-max",
        "waypoint",
    ] {
        let spec = StrategySpec::parse(text).unwrap();
        let mut matcher = Matcher::new(string);
        let mut one = spec.build();
        (0..300).for_each(|index| drop(matcher.run(&mut *one, Seed(6), index)));
        let saved = one.save().unwrap();
        let mut other = spec.build();
        other.load(&saved).unwrap();
        assert_eq!(other.save().unwrap(), saved, "{text}");
        for index in 300..400 {
            let goes_on = matcher.run(&mut *one, Seed(6), index);
            assert_eq!(goes_on, matcher.run(&mut *other, Seed(6), index), "{text}");
        }
        let before = other.save();
        let error = other.load(&saved[..saved.len() - 1]).unwrap_err();
        assert!(error.contains("damaged"), "{error}");
        assert_eq!(other.save(), before);
    }
}

/// Two tasks poll for each other's flags. Both loops are states that were visited too often, so that
/// nothing else would lead out of the one that an iteration is in.
#[test]
fn loops_are_left_at_random() {
    let ping = (0..10).flat_map(|i| [Do::SpinUntil(2 * i), Do::Raise(2 * i + 1)]);
    let pong = (0..10).flat_map(|i| [Do::Raise(2 * i), Do::SpinUntil(2 * i + 1)]);
    let mut toy = Toy::new(vec![ping.collect(), pong.collect()]);
    toy.limit = 100_000;
    let mut ql = Ql::new();
    let runs = (0..50).map(|index| toy.run(&mut ql, Seed(66), index).decisions);
    let runs: Vec<_> = runs.collect();
    let longest = *runs.iter().max().unwrap();
    assert!(longest > PATIENCE as u64, "{longest} decisions");
    assert!(longest < 10_000, "{longest} decisions");
}
