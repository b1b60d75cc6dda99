use super::*;
use crate::strategy::model::publish::action;
use crate::strategy::odds::assert_distribution;
use crate::strategy::qtable::Counts;
use crate::words::{Action, Seed};

/// How often each of `n` actions is chosen, where the first ones have these values.
fn choices(policy: &Policy, thorough: bool, n: usize, values: &[f32]) -> Vec<u64> {
    let initial = if matches!(policy, Policy::Greedy { .. }) {
        1.0
    } else {
        0.0
    };
    let mut table = Table::new(Counts::States, 1 << 20);
    let state = table.insert(9).unwrap();
    (0..)
        .zip(values)
        .for_each(|(tag, &value)| table.set(state, tag, value));
    // An arm that is not enabled, and looks best.
    table.set(state, 1000, initial - 0.001);
    let keys: Vec<u32> = (0..n as u32).collect();
    let enabled = |key| Action {
        position: key,
        ..action(key)
    };
    let actions = keys.iter().map(|&key| enabled(key)).collect();
    let set = EnabledSet::Actions(EnabledActions {
        keys: &keys,
        actions: &actions,
        fresh: &Vec::new(),
    });
    let mut generator = Seed(n as u64).stream("test");
    let mut walk = Walk::new(initial, thorough);
    let mut seen = vec![0; n];
    for _ in 0..60_000 {
        walk.clear();
        let state = walk.find(&table, 9, &set);
        let pick = walk.pick(&table, policy, state, &set, &mut generator);
        seen[pick.0 as usize] += 1;
    }
    seen
}

/// Few draws, all pairs, and matching by a table give the same odds. `e^-0.6931 = 0.5`.
#[test]
fn softmax_follows_the_values() {
    let ln2 = std::f32::consts::LN_2;
    let values = [-ln2, -2.0 * ln2, -50.0];
    for thorough in [false, true] {
        for n in [4, 12, 40] {
            let mut seen = choices(&Policy::Softmax, thorough, n, &values);
            assert_eq!(seen.remove(2), 0);
            let mut odds = vec![4; n - 1];
            (odds[0], odds[1]) = (2, 1);
            assert_distribution(&seen, &odds);
        }
    }
}

#[test]
fn many_known_actions_are_matched() {
    let ln2 = std::f32::consts::LN_2;
    let values: Vec<f32> = (0..30).map(|i| -500.0 - ln2 * (i % 3) as f32).collect();
    let seen = choices(&Policy::Softmax, false, 30, &values);
    let odds: Vec<u32> = (0..30).map(|i| 4 >> (i % 3)).collect();
    assert_distribution(&seen, &odds);
}

#[test]
fn greedy_takes_the_best_and_strays() {
    for (n, thorough) in [(4, false), (12, false), (12, true)] {
        // Untried ones are best, and among them all alike.
        let seen = choices(&Policy::Greedy { epsilon: 0.2 }, thorough, n, &[0.5, 0.9]);
        let untried = (n - 2) as u32;
        let mut odds = vec![untried + 4 * n as u32; n];
        (odds[0], odds[1]) = (untried, untried);
        assert_distribution(&seen, &odds);
    }
    let seen = choices(&Policy::Greedy { epsilon: 0.0 }, false, 3, &[0.5, 0.9, 0.9]);
    assert_eq!(seen[0], 0);
    assert_distribution(&seen[1..], &[1, 1]);
}

#[test]
fn weights_are_a_prior() {
    let mut table = Table::new(Counts::States, 1 << 20);
    let mut walk = Walk::new(0.0, false);
    let label = walk.label("w");
    let state = table.insert(3_u64.wrapping_add(label)).unwrap();
    table.set(state, 0, -std::f32::consts::LN_2);
    table.set(state, 2, -1e6);
    let set = EnabledSet::Values(Values {
        count: 4,
        weights: &[8, 1, 90, 0],
        label: "w",
    });
    let mut generator = Seed(4).stream("test");
    let mut seen = [0; 4];
    for _ in 0..20_000 {
        walk.clear();
        let state = walk.find(&table, 3, &set);
        let pick = walk.pick(&table, &Policy::Softmax, state, &set, &mut generator);
        seen[pick.0 as usize] += 1;
    }
    assert_eq!(seen[2..], [0, 0]);
    assert_distribution(&seen[..2], &[4, 1]);
}

/// A choice among a million values looks at few of them.
#[test]
fn many_values_are_cheap() {
    let mut table = Table::new(Counts::States, 1 << 20);
    let mut walk = Walk::new(0.0, false);
    let set = EnabledSet::Values(Values {
        count: 1_000_000,
        weights: &[],
        label: "many",
    });
    let mut generator = Seed(4).stream("test");
    for _ in 0..1000 {
        walk.clear();
        let state = walk.find(&table, 3, &set);
        walk.pick(&table, &Policy::Softmax, state, &set, &mut generator);
        walk.settle(&mut table);
        table.set(walk.state(0).unwrap(), walk.steps[0].tag, -2.0);
    }
    assert!(walk.many.values.is_empty());
}
