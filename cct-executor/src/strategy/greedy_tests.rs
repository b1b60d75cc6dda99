use super::*;
use crate::strategy::model::{Do, Toy};
use crate::strategy::odds::{assert_distribution, assert_exactly};
use std::collections::BTreeMap;

/// Two tasks that write different cells once: two states after the first step, and one at the end.
/// Whatever is taken first, the other comes next time: the difference never exceeds one.
#[test]
fn the_least_visited_state_is_next() {
    for psharp in [false, true] {
        let mut toy = Toy::new((0..3).map(|cell| vec![Do::Write(cell), Do::Step]).collect());
        let mut strategy = Greedy::new().psharp(psharp);
        let mut first = [0_u64; 3];
        for index in 0..300 {
            let run = toy.run(&mut strategy, Seed(4), index);
            first[run.order[0] as usize] += 1;
            let spread = first.iter().max().unwrap() - first.iter().min().unwrap();
            assert!(spread <= 1, "{first:?} after {index}");
        }
    }
}

/// The first pick of an instance, which knows nothing.
#[test]
fn ties_are_random() {
    let mut toy = Toy::new(vec![vec![Do::Step]; 3]);
    let mut seen = [0; 3];
    for seed in 0..3000 {
        let run = toy.run(&mut Greedy::new().states(10), Seed(seed), 0);
        seen[run.order[0] as usize] += 1;
    }
    assert_distribution(&seen, &[1; 3]);
}

/// A value that is drawn with odds of 1 in 100 comes up half the time when states are counted, as
/// the values lead to different states.
#[test]
fn data_choices_are_chosen_greedily_only_by_the_paper() {
    let draw = |strategy: &mut Greedy| {
        let program = vec![vec![Do::Weighted(&[99, 1]), Do::Step], vec![Do::Step]];
        let mut toy = Toy::new(program);
        let mut seen = BTreeMap::new();
        for index in 0..4000 {
            let run = toy.run(strategy, Seed(9), index);
            *seen.entry(run.values[0]).or_insert(0_u64) += 1;
        }
        seen[&1]
    };
    assert!(draw(&mut Greedy::new()) > 1000);
    assert_exactly(draw(&mut Greedy::new().psharp(true)), 4000, 0.01);
}

/// One task alone: the artifact sees the state before each of its steps, the paper's form the last.
#[test]
fn states_with_one_choice_are_seen_only_by_the_artifact() {
    for (psharp, states) in [(false, 1), (true, 3)] {
        let mut toy = Toy::new(vec![vec![Do::Write(0), Do::Write(1), Do::Step]]);
        let mut strategy = Greedy::new().psharp(psharp);
        (0..10).for_each(|index| drop(toy.run(&mut strategy, Seed(4), index)));
        assert_eq!(strategy.adapted(), format!("states={states}"));
    }
}

/// Compares each choice with the one that looks at all that is enabled.
#[derive(Debug)]
struct Compared {
    greedy: Greedy,
    /// How often few of the choices had been taken.
    few: u32,
}

impl Strategy for Compared {
    fn describe(&self) -> String {
        self.greedy.describe()
    }

    fn interests(&self) -> Interests {
        self.greedy.interests()
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.greedy.begin(iteration)
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let mut plain = self.greedy.clone();
        let state = state(point.fingerprint, &point.parts);
        let known = plain.arrive(state).unwrap();
        self.few += u32::from(known.tried > 0 && known.tried < enabled.len() as u32 / 4);
        let expected = plain.choose(state, None, enabled);
        assert_eq!(self.greedy.pick(point, enabled), expected);
        expected
    }

    fn end(&mut self, end: &IterationEnd) {
        self.greedy.end(end);
    }
}

#[test]
fn a_list_of_few_tried_choices_chooses_as_a_look_at_all_does() {
    let tasks = (0..16).map(|task| vec![Do::Write(task % 8), Do::Step]);
    let mut toy = Toy::new(tasks.collect());
    let mut strategy = Compared {
        greedy: Greedy::new(),
        few: 0,
    };
    for index in 0..30 {
        toy.run(&mut strategy, Seed(4), index);
    }
    assert!(strategy.few > 50, "{}", strategy.few);
}

#[test]
fn a_full_memory_is_reported() {
    let mut toy = Toy::new((0..3).map(|cell| vec![Do::Write(cell), Do::Step]).collect());
    let mut strategy = Greedy::new().states(2);
    (0..50).for_each(|index| drop(toy.run(&mut strategy, Seed(4), index)));
    assert_eq!(strategy.adapted(), "states=2");
    let remarks = strategy.remarks();
    assert!(remarks[0].starts_with("the memory was full (states=2): "));
    assert_eq!(Greedy::new().remarks(), [""; 0]);
}
