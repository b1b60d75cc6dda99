use super::*;
use crate::strategy::model::{Do, Run, Toy};
use crate::strategy::odds::assert_distribution;
use std::collections::BTreeSet;

/// A strategy that knows a length, without a run.
fn knowing(changes: u32, length: u64) -> PctPsharp {
    PctPsharp {
        length,
        ..PctPsharp::changes(changes)
    }
}

fn run(strategy: &mut PctPsharp, tasks: &[Vec<Do>], index: u64) -> Run {
    Toy::new(tasks.to_vec()).run(strategy, Seed(5), index)
}

#[test]
fn the_first_iteration_has_no_changes() {
    let tasks = vec![vec![Do::Step; 10]; 3];
    for seed in 0..50 {
        let mut strategy = PctPsharp::changes(20);
        let first = Toy::new(tasks.clone()).run(&mut strategy, Seed(seed), 0);
        assert!(first.order.is_sorted_by_key(|task| first.when(*task, 0)));
        assert_eq!(strategy.adapted(), "length=30");
        let second = Toy::new(tasks.clone()).run(&mut strategy, Seed(seed), 1);
        assert!(!second.order.is_sorted_by_key(|task| second.when(*task, 0)));
    }
}

/// Where three later actions stand: behind the first, in all six orders alike.
#[test]
fn new_actions_stand_anywhere_behind_the_first() {
    let tasks = vec![vec![Do::Step]; 4];
    let mut strategy = PctPsharp::changes(0);
    let mut seen = [0; 16];
    for index in 0..12_000 {
        let order = run(&mut strategy, &tasks, index).order;
        assert_eq!(order[0], 0);
        seen[(order[1] * 4 + order[2]) as usize] += 1;
    }
    let seen = [6, 7, 9, 11, 13, 14].map(|place: usize| seen[place]);
    assert_distribution(&seen, &[1; 6]);
}

/// With a change before every step, three tasks take turns until one has ended: each moved one
/// stands behind those that were moved before.
#[test]
fn two_moved_actions_are_in_the_order_of_their_changes() {
    let tasks = vec![vec![Do::Step; 4]; 3];
    let order = run(&mut knowing(11, 12), &tasks, 3).order;
    assert_eq!(order[..3].iter().collect::<BTreeSet<_>>().len(), 3);
    assert_eq!(order[3..10], order[..7]);
}

#[test]
fn changes_slide_over_lonely_steps() {
    let mut strategy = PctPsharp::changes(0);
    let mut check = |points: &[u64], step, due, left: &[u64]| {
        strategy.points = points.to_vec();
        strategy.skip_to(0);
        assert_eq!(strategy.arrive(step), due);
        assert_eq!(strategy.points[strategy.next..], *left);
    };
    check(&[5], 5, true, &[]);
    check(&[5], 4, false, &[5]);
    check(&[3, 5], 6, true, &[7]);
    check(&[3, 6], 5, true, &[6]);
    check(&[1, 2, 3, 6, 7, 10], 5, true, &[6, 7, 8, 9, 10]);
    check(&[1, 2, 3], 9, true, &[10, 11]);
}

/// The main task alone for nine steps, then two tasks: all changes are made where there is a
/// choice.
#[test]
fn no_change_is_lost_in_a_sequential_part() {
    let mut main = vec![Do::Step; 9];
    main.extend([Do::Spawn(1), Do::Step, Do::Step]);
    let tasks = vec![main, vec![Do::Step; 3]];
    for index in 0..20 {
        let order = run(&mut knowing(9, 10), &tasks, index).order;
        assert_eq!(order[10..], [1, 0, 1, 0, 1]);
    }
}

/// Step 0 starts task 1, step 1 is that of a task, and what follows depends on which.
#[test]
fn a_change_at_a_data_choice_is_lost() {
    let main = vec![Do::Spawn(1), Do::Choose(2), Do::Step];
    let tasks = vec![main, vec![Do::Step; 3]];
    let orders = |step| {
        let mut orders = BTreeSet::new();
        for index in 0..40 {
            let mut strategy = knowing(1, step + 1);
            let order = run(&mut strategy, &tasks, index).order;
            // Of the points that are drawn only the one just below the length is looked at.
            if strategy.points == [step] {
                orders.insert(order);
            }
        }
        orders.into_iter().collect::<Vec<_>>()
    };
    assert_eq!(orders(1), [[0, 1, 1, 1, 0, 0]]);
    // Step 1 runs the choice of the main task, which is step 2.
    assert_eq!(orders(2), [[0, 0, 0, 1, 1, 1]]);
    assert_eq!(orders(3), [[0, 0, 1, 1, 1, 0]]);
}

#[test]
fn numbers_never_run_out() {
    let mut strategy = PctPsharp::changes(0);
    let task = ActionKey::from_index;
    strategy.insert(task(0));
    strategy.insert(task(1));
    // Always between the first two.
    for index in 2..500 {
        strategy.put(task(index), 1);
        let numbers = strategy.list.backwards();
        let numbers: Vec<u64> = numbers.map(|key| strategy.ranking.priority(key)).collect();
        assert!(numbers.is_sorted_by(|a, b| a < b));
        assert_eq!(numbers.len(), index + 1);
    }
    let first_but_one = strategy.list.backwards().nth(498);
    assert_eq!(first_but_one, Some(task(499)));
}
