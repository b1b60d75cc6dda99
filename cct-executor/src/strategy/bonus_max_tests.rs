use super::*;
use crate::strategy::StrategySpec;
use crate::strategy::qtable::maze::{Cubes, Graph, Maze};

/// The cube world, figure 1 of the paper, with fewer iterations.
#[test]
fn more_cubes_are_seen_than_by_its_rivals() {
    let seen = |text: &str| {
        let mut cubes = Cubes::default();
        let mut strategy = StrategySpec::parse(text).unwrap().build();
        (0..2000).for_each(|index| drop(cubes.run(&mut *strategy, Seed(3), index)));
        cubes.seen()
    };
    for parameters in ["", ":alpha=0.3,gamma=0.99"] {
        let bonus_max = seen(&format!("bonus-max{parameters}"));
        for rival in ["random", "negrl-visits"] {
            let rival = seen(rival);
            assert!(bonus_max > rival + rival / 10, "{bonus_max} and {rival}");
        }
    }
}

/// States 0 and 1 lead to each other, or (from 1) to the end.
const THERE_AND_BACK: &[&[u64]] = &[&[1, 1], &[0, 2], &[]];

/// By hand: how often each decision was taken says when it was learnt from, and its value what was
/// known then.
#[test]
fn a_circle_is_learnt_when_it_closes() {
    for update in [Update::Circle, Update::End] {
        let mut graph = Graph::new(THERE_AND_BACK);
        let (alpha, gamma) = (0.5, 0.5);
        let mut learner = BonusMax::with(alpha, gamma, 0.5, Settings::default()).update(update);
        let (mut values, mut taken) = ([[1.0_f64; 2]; 2], [[0; 2]; 2]);
        let mut circles = 0;
        for index in 0..40 {
            let run = graph.run(&mut learner, Seed(8), index);
            let mut learn = |path: &[(usize, usize)], mut next: f64| {
                for &(state, action) in path.iter().rev() {
                    taken[state][action] += 1;
                    let worth = (1.0 / f64::from(taken[state][action])).max(gamma * next);
                    let value = &mut values[state][action];
                    *value = (1.0 - alpha) * *value + alpha * worth;
                    next = values[state][0].max(values[state][1]);
                }
                values[0][0].max(values[0][1])
            };
            let mut path = Vec::new();
            for (step, &action) in run.iter().enumerate() {
                path.push((step % 2, action as usize));
                if update == Update::Circle && path.last() == Some(&(1, 0)) {
                    let back = learn(&[], 0.0);
                    learn(&path, back);
                    path.clear();
                    circles += 1;
                }
            }
            learn(&path, 0.0);
        }
        assert!(update == Update::End || circles > 20, "{circles}");
        for (key, values) in (0..).zip(values) {
            let state = learner.table.find(key).unwrap();
            for (tag, expected) in (0..).zip(values) {
                let value = f64::from(learner.table.value(state, tag).unwrap());
                assert!(
                    (value - expected).abs() < 1e-5,
                    "{update:?}: {value}, not {expected}"
                );
            }
        }
    }
}

/// By hand: two decisions with two actions each.
#[test]
fn the_update_is_that_of_the_paper() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[]]);
    let mut learner = BonusMax::with(0.2, 0.95, 0.3, Settings::default());
    let (mut values, mut taken) = ([[1.0_f64; 2]; 2], [[0; 2]; 2]);
    for index in 0..60 {
        let run = graph.run(&mut learner, Seed(1), index);
        let mut next = 0.0_f64;
        for (state, &action) in run.iter().enumerate().rev() {
            let action = action as usize;
            taken[state][action] += 1;
            let worth = (1.0 / f64::from(taken[state][action])).max(0.95 * next);
            values[state][action] = 0.8 * values[state][action] + 0.2 * worth;
            // In the first iteration the other action of state 1 is untried, and worth 1.
            next = values[state][0].max(values[state][1]);
        }
    }
    for (key, values) in (0..).zip(values) {
        let state = learner.table.find(key).unwrap();
        for (tag, expected) in (0..).zip(values) {
            let value = f64::from(learner.table.value(state, tag).unwrap());
            assert!((value - expected).abs() < 1e-5, "{value}, not {expected}");
        }
    }
}

/// What is reported for the first time is worth as much as an action taken for the first time.
#[test]
fn reports_give_bonuses() {
    let mut graph = Graph::new(&[&[1, 1], &[]]);
    let mut value = |report: bool| {
        let mut learner = BonusMax::new();
        (0..20).for_each(|index| drop(graph.run(&mut learner, Seed(4), index)));
        graph.reset();
        let iteration = Iteration {
            index: 20,
            seed: Seed(1),
            max_steps: 100_000,
        };
        learner.begin(&iteration);
        let state = learner.table.find(0).unwrap();
        let table = &learner.table;
        let tag = table.arms(state)[0].tag;
        let before = table.value(state, tag).unwrap();
        learner.walk.clear();
        graph.run(&mut learner, Seed(4), 20);
        if !report {
            return (before, learner.table.value(state, tag).unwrap());
        }
        learner.observe(&StepEvent::Watermark {
            name: "term",
            value: 3,
        });
        let step = learner.walk.steps[0];
        assert_eq!(step.extra, 1.0);
        learner.walk.take(&mut learner.table, 0, 1.0, |bonus| bonus);
        (before, learner.table.value(state, step.tag).unwrap())
    };
    assert!(value(false).1 < 0.9);
    assert_eq!(value(true).1, 1.0);
}
