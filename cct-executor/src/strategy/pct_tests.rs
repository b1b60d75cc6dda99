use super::*;
use crate::strategy::model::{Do, Run, Toy};
use crate::strategy::odds::{assert_at_least, assert_exactly};

/// A program, and how to tell its bug.
type Case = (Vec<Vec<Do>>, fn(&Run) -> bool);

/// Runs a program so many times; returns how often the predicate held, and the most decisions of
/// an iteration.
fn hits(tasks: Vec<Vec<Do>>, mut pct: Pct, n: u64, bug: impl Fn(&Run) -> bool) -> (u64, u64) {
    let mut toy = Toy::new(tasks);
    let mut decisions = 0;
    let found = (0..n).filter(|&index| {
        let run = toy.run(&mut pct, Seed(0xC0FFEE), index);
        decisions = decisions.max(run.decisions);
        bug(&run)
    });
    (found.count() as u64, decisions)
}

/// Depth 1: the bug shows if the first step of task 0 comes after all steps of the others.
#[test]
fn depth_1_has_odds_of_one_in_n() {
    for n in [2, 3, 8, 16] {
        for step in [Do::Step, Do::Yield] {
            let (found, _) = hits(vec![vec![step; 5]; n], Pct::depth(1), 4000, |run| {
                run.when(0, 0) == Some(5 * (n - 1))
            });
            // Exactly one in n: the priorities decide, and there are no changes.
            assert_exactly(found, 4000, 1.0 / n as f64);
        }
    }
}

/// Depth 2: task 0 is held back before its fourth step until task 1 has run its only one.
fn depth_2(others: usize) -> Case {
    let mut tasks = vec![vec![Do::Step; 8], vec![Do::Step; 1]];
    tasks.resize(2 + others, vec![Do::Step; 4]);
    let bug = |run: &Run| {
        let between = run.when(1, 0);
        run.when(0, 2) < between && between < run.when(0, 3)
    };
    (tasks, bug)
}

#[test]
fn depth_2_meets_the_bound() {
    for others in [0, 1, 3] {
        let (tasks, bug) = depth_2(others);
        let (n, k) = (
            tasks.len() as f64,
            tasks.iter().map(Vec::len).sum::<usize>() as u32,
        );
        let (found, decisions) = hits(tasks.clone(), Pct::depth(2).k(k), 20_000, bug);
        assert!(decisions < u64::from(k));
        assert_at_least(found, 20_000, 1.0 / (n * f64::from(k)));
        assert_eq!(
            hits(tasks, Pct::depth(1), 2000, bug).0,
            0,
            "it is not of depth 1"
        );
    }
}

/// With two tasks the odds are known exactly: task 0 comes first (1/2) and the change falls on its
/// fourth decision, or on nothing else that would do.
#[test]
fn depth_2_has_the_computed_odds() {
    let (tasks, bug) = depth_2(0);
    let (found, _) = hits(tasks, Pct::depth(2).k(9), 10_000, bug);
    assert_exactly(found, 10_000, 1.0 / (2.0 * 9.0));
}

/// Depth 3: task 1's first step falls between steps 2 and 3 of task 0, and its second step comes
/// after step 4 of task 0 (counting from 0: 1, 2 and 3).
fn depth_3() -> Case {
    let tasks = vec![vec![Do::Step; 6], vec![Do::Step; 2]];
    let bug = |run: &Run| {
        let first = run.when(1, 0);
        run.when(0, 1) < first && first < run.when(0, 2) && run.when(0, 3) < run.when(1, 1)
    };
    (tasks, bug)
}

#[test]
fn depth_3_meets_the_bound() {
    let (tasks, bug) = depth_3();
    let (found, decisions) = hits(tasks.clone(), Pct::depth(3).k(8), 20_000, bug);
    assert!(decisions < 8);
    assert_at_least(found, 20_000, 1.0 / (2.0 * 8.0 * 8.0));
    assert_eq!(
        hits(tasks, Pct::depth(2).k(8), 5000, bug).0,
        0,
        "it is not of depth 2"
    );
}

/// The bound holds with the learnt number of decisions too, once something has been learnt.
#[test]
fn learnt_k_meets_the_bound() {
    let (tasks, bug) = depth_3();
    let (found, k) = hits(tasks, Pct::depth(3), 60_000, bug);
    assert_at_least(found, 60_000, 1.0 / (2.0 * ((k + 1) * (k + 1)) as f64));
}

/// Figure 7 draws the positions independently and does not sort them, so that the task lowered
/// first may end above or below the one lowered later. Here it must be above: with change points in
/// ascending order only, or only in descending order, one of the two bugs would never be found.
#[test]
fn lowered_tasks_are_in_random_order() {
    // Tasks 0 and 1 are each held back before their second step, in this order; then task 2, the
    // lowest, runs; then which of the two goes on first?
    let tasks = vec![vec![Do::Step; 2], vec![Do::Step; 2], vec![Do::Step; 1]];
    let held = |run: &Run| {
        let (a, b, c) = (run.when(0, 0), run.when(1, 0), run.when(2, 0));
        a < b && b < c && c < run.when(0, 1) && c < run.when(1, 1)
    };
    let first = |run: &Run| held(run) && run.when(0, 1) < run.when(1, 1);
    let second = |run: &Run| held(run) && run.when(1, 1) < run.when(0, 1);
    let bound = 1.0 / (6.0 * 6.0 * 6.0);
    assert_at_least(
        hits(tasks.clone(), Pct::depth(3).k(5), 60_000, first).0,
        60_000,
        bound,
    );
    assert_at_least(
        hits(tasks, Pct::depth(3).k(5), 60_000, second).0,
        60_000,
        bound,
    );
}

/// With one decision to spread over and depth 3, positions are 1 and 2: both changes may fall on the
/// first decision, on one task or on two. What must come out follows from the order of priorities,
/// which depth 1 shows for the same seed.
#[test]
fn two_changes_can_fall_on_one_decision() {
    let mut toy = Toy::new(vec![vec![Do::Step; 2]; 3]);
    let mut pct = Pct::depth(3).k(1);
    let mut on_two_tasks = 0;
    for index in 0..20_000 {
        let plain = toy.run(&mut Pct::depth(1), Seed(5), index).order;
        let [a, b, c] = [plain[0], plain[2], plain[4]];
        let order = toy.run(&mut pct, Seed(5), index).order;
        let [(first, x), (second, y)] = pct.changes[..] else {
            panic!("two changes")
        };
        assert_eq!(
            order,
            match (first, second) {
                (1, 1) => [b, b, c, c, a, a],
                (2, 2) => [a, b, b, c, c, a],
                _ if x > y => [c, c, a, a, b, b],
                _ => [c, c, b, b, a, a],
            }
        );
        on_two_tasks += u64::from(first != second);
    }
    assert_exactly(on_two_tasks, 20_000, 0.5);
}

/// A sequential part before and after the concurrent one: the odds are those of the concurrent part,
/// and would be twenty times smaller if all steps were counted.
#[test]
fn sequential_parts_take_no_positions() {
    let concurrent = vec![
        Do::Spawn(1),
        Do::Step,
        Do::Step,
        Do::Step,
        Do::Step,
        Do::Join(1),
    ];
    let alone = vec![Do::Step; 40];
    let tasks = vec![[alone.clone(), concurrent, alone].concat(), vec![Do::Step]];
    let bug = |run: &Run| {
        let between = run.when(1, 0);
        run.when(0, 42) < between && between < run.when(0, 43)
    };
    let (found, decisions) = hits(tasks, Pct::depth(2).k(4), 10_000, bug);
    assert_eq!(decisions, 4);
    assert_exactly(found, 10_000, 1.0 / (2.0 * 4.0));
}

/// A bug of depth 2 in the last of twelve fork-join phases: with phases its odds are those of one
/// phase, without them the change must fall on one decision of the whole run.
#[test]
fn phases_find_bugs_of_late_phases() {
    let phase = |child| {
        vec![
            Do::Spawn(child),
            Do::Step,
            Do::Step,
            Do::Step,
            Do::Join(child),
        ]
    };
    let mut tasks = vec![(1..=12).flat_map(phase).collect::<Vec<_>>()];
    tasks.resize(13, vec![Do::Step]);
    let bug = |run: &Run| {
        let between = run.when(12, 0);
        run.when(0, 56) < between && between < run.when(0, 57)
    };
    let (found, _) = hits(tasks.clone(), Pct::depth(2).phases(true), 5000, bug);
    // Three decisions: before each plain step of the main task.
    assert_at_least(found, 5000, 1.0 / (2.0 * 3.0));
    let (found, decisions) = hits(tasks, Pct::depth(2), 5000, bug);
    assert_eq!(decisions, 12 * 3);
    assert_exactly(found, 5000, 1.0 / (2.0 * 36.0));
}

/// The main task's last step comes after everything else whenever it could, although nothing
/// joins the others.
#[test]
fn final_wait_lets_others_finish() {
    let tasks = vec![vec![Do::Step; 3], vec![Do::Step; 3], vec![Do::Step; 3]];
    let last = |run: &Run| run.when(0, 2) == Some(8);
    let (without, _) = hits(tasks.clone(), Pct::depth(1), 6000, last);
    assert_exactly(without, 6000, 1.0 / 3.0);
    let (with, _) = hits(tasks, Pct::depth(1).final_wait(true), 6000, last);
    // The first iteration has nothing to go by.
    assert!(with >= 5999);
}

#[test]
fn spinning_tasks_lose_their_priority() {
    let spin = vec![Do::SpinUntil(0), Do::Step];
    let tasks = vec![spin.clone(), vec![Do::Yield, Do::Raise(0)], spin];
    let mut toy = Toy::new(tasks.clone());
    toy.limit = 6000;
    let mut pct = Pct::depth(3);
    for index in 0..150 {
        assert!(
            !toy.run(&mut pct, Seed(9), index).cut,
            "iteration {index} never ended"
        );
    }
    let mut pct = Pct::depth(1).patience(0);
    let cut = (0..150)
        .filter(|&index| toy.run(&mut pct, Seed(9), index).cut)
        .count() as u64;
    assert_exactly(cut, 150, 2.0 / 3.0);
}

/// Depth 1 with many yields: patience must not cost the bound for tasks that merely yield.
#[test]
fn yields_alone_lower_nothing() {
    let (found, _) = hits(vec![vec![Do::Yield; 900]; 2], Pct::depth(1), 1000, |run| {
        run.when(0, 0) == Some(900)
    });
    assert_exactly(found, 1000, 0.5);
}

#[test]
fn every_kind_of_wait_is_handled() {
    let task = |a, b| {
        vec![
            Do::Lock(a),
            Do::Yield,
            Do::Lock(b),
            Do::Unlock(b),
            Do::Unlock(a),
        ]
    };
    let tasks = vec![task(0, 1), task(1, 0), task(0, 1)];
    let (stuck, _) = hits(tasks, Pct::depth(2), 5000, |run| run.stuck);
    assert_at_least(stuck, 5000, 1.0 / (3.0 * 15.0));
}

#[test]
fn the_number_of_decisions_is_learnt() {
    let mut toy = Toy::new(vec![vec![Do::Step; 10]; 2]);
    let mut pct = Pct::depth(3);
    assert_eq!(pct.lanes(), Lanes::Fixed(8));
    assert_eq!(pct.adapted(), "");
    toy.run(&mut pct, Seed(1), 0);
    assert!(
        pct.changes.is_empty(),
        "nothing is known in the first iteration"
    );
    assert_eq!(pct.adapted(), "");
    toy.run(&mut pct, Seed(1), 1);
    assert_eq!(pct.adapted(), "k=10");
    assert_eq!(pct.changes.len(), 2);
    assert_eq!(Pct::depth(3).k(7).lanes(), Lanes::Independent);
}

#[test]
fn cut_iterations_count_only_while_there_are_no_others() {
    let mut toy = Toy::new(vec![vec![Do::Step; 100]; 2]);
    toy.limit = 50;
    let mut pct = Pct::depth(2);
    toy.run(&mut pct, Seed(1), 0);
    assert_eq!(pct.spread(), 50);
    Toy::new(vec![vec![Do::Step; 10]; 2]).run(&mut pct, Seed(1), 1);
    assert!(pct.spread() < 20);
}
