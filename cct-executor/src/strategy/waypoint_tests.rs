use super::*;
use crate::strategy::StrategySpec;
use crate::strategy::qtable::maze::{Cubes, Graph, Maze};

/// The cube world, figures 1 and 2 of the paper, with fewer iterations: the target is cube 3, of which
/// the paper covers nearly all.
#[test]
fn waypoints_lead_to_the_target() {
    let seen = |text: &str| {
        let mut cubes = Cubes::default();
        let mut strategy = StrategySpec::parse(text).unwrap().build();
        (0..1000).for_each(|index| drop(cubes.run(&mut *strategy, Seed(3), index)));
        cubes.seen_in(3)
    };
    assert_eq!(seen("random"), 0);
    for parameters in ["", ":alpha=0.3,gamma=0.99"] {
        let bonus_max = seen(&format!("bonus-max{parameters}"));
        let waypoint = seen(&format!("waypoint{parameters}"));
        assert!(
            waypoint >= 97 && waypoint > 2 * bonus_max,
            "{waypoint} of 108, and {bonus_max}"
        );
    }
}

fn value(learner: &Waypoint, state: u64, predicate: u32, tag: u32) -> f64 {
    let key = state.wrapping_add(mix(u64::from(predicate)));
    let state = learner.table.find(key).unwrap();
    f64::from(learner.table.value(state, tag).unwrap())
}

/// By hand: from state 0 to 1, where predicate 1 holds, to 2, where predicate 2 does, to the end.
#[test]
fn the_update_is_that_of_the_paper() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[3, 3], &[]]);
    graph.waypoints = &[0, 1, 2, 0];
    let (alpha, gamma) = (0.5, 0.5);
    let mut learner = Waypoint::with(alpha, gamma, 0.0, Settings::default()).target(2);
    let run = graph.run(&mut learner, Seed(1), 0);
    // In the target: as bonus-max, after the last decision.
    assert_eq!(value(&learner, 2, 2, run[2]), 0.5 + 0.5 * 1.0);
    // To the target: progress 2, target 2 at distance 0.
    assert_eq!(
        value(&learner, 1, 1, run[1]),
        0.5 + 0.5 * (0.5 * (2.0 + 2.0))
    );
    // To predicate 1: progress 2, target 2 at distance 1.
    assert_eq!(
        value(&learner, 0, 0, run[0]),
        0.5 + 0.5 * (0.5 * (2.0 + 0.5 * 2.0))
    );
    // What was found to be good is done again.
    assert_eq!(graph.run(&mut learner, Seed(1), 1)[..2], run[..2]);
}

/// From state 0 to 1 and back, or on to the target: however often it goes back, the target is one
/// decision away from state 0 by what is learnt at the end.
#[test]
fn circles_do_not_count_as_distance() {
    let mut graph = Graph::new(&[&[1, 1], &[0, 2], &[3, 3], &[]]);
    graph.waypoints = &[0, 1, 2, 0];
    let mut went_back = false;
    for seed in 0..20 {
        let mut learner = Waypoint::with(1.0, 0.5, 1.0, Settings::default()).target(2);
        let run = graph.run(&mut learner, Seed(seed), 0);
        went_back |= run.len() > 5;
        let last = run[run.len() - 3];
        assert_eq!(value(&learner, 0, 0, last), 0.5 * (2.0 + 0.5 * 2.0));
    }
    assert!(went_back);
}

/// Leaving a predicate for a lower one is worth its bonus only.
#[test]
fn going_back_is_no_progress() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[3, 3], &[]]);
    graph.waypoints = &[1, 0, 1, 0];
    let mut learner = Waypoint::with(0.5, 0.5, 0.0, Settings::default()).target(3);
    let run = graph.run(&mut learner, Seed(1), 0);
    assert_eq!(value(&learner, 0, 1, run[0]), 1.0);
    assert_eq!(value(&learner, 1, 0, run[1]), 1.0);
}

#[test]
fn the_target_stays_active_where_once_is_enough() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[3, 3], &[]]);
    graph.waypoints = &[0, 1, 0, 0];
    for once in [false, true] {
        let mut learner = Waypoint::new().target(1).one_time(once);
        graph.run(&mut learner, Seed(1), 0);
        let active: Vec<_> = learner.walk.steps.iter().map(|s| s.waypoint).collect();
        assert_eq!(active, [0, 1, u32::from(once)]);
    }
}

/// Without a given target it is the last predicate that is declared.
#[test]
fn the_target_is_the_last_waypoint() {
    let mut graph = Graph::new(&[&[1, 1], &[2, 2], &[]]);
    let mut learner = Waypoint::new();
    graph.run(&mut learner, Seed(1), 0);
    assert_eq!(learner.remarks().len(), 1);
    graph.waypoints = &[0, 2, 1];
    graph.run(&mut learner, Seed(1), 1);
    assert_eq!(learner.adapted(), "target=2");
    assert!(learner.remarks().is_empty());
    let mut other = Waypoint::new();
    other.load(&learner.save().unwrap()).unwrap();
    assert_eq!(other.save(), learner.save());
}
