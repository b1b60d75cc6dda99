use super::*;
use crate::strategy::model::{Do, Toy};
use crate::words::Seed;

fn turns(portfolio: &Portfolio) -> Vec<u64> {
    portfolio
        .members
        .iter()
        .map(|member| member.turns)
        .collect()
}

/// A program in which a random walk finds new states for long, and one task after the other few.
fn wide() -> Toy {
    Toy::new((0..3).map(|cell| vec![Do::Write(cell); 20]).collect())
}

#[test]
fn no_member_starves() {
    let mut portfolio = Portfolio::of(["random", "pct:d=1", "pos"]).unwrap();
    let mut toy = wide();
    let mut last = vec![0; 3];
    for index in 0..300 {
        toy.run(&mut portfolio, Seed(61), index);
        if index % 30 == 29 {
            let now = turns(&portfolio);
            // A share of at least 1/10, less the rounding of one turn.
            assert!((0..3).all(|m| now[m] >= last[m] + 2), "{last:?} {now:?}");
            last = now;
        }
    }
}

#[test]
fn the_budget_follows_new_states() {
    let mut portfolio = Portfolio::of(["pct:d=1", "random"]).unwrap();
    let mut toy = wide();
    (0..200).for_each(|index| drop(toy.run(&mut portfolio, Seed(62), index)));
    let turns = turns(&portfolio);
    assert!(turns[1] > 3 * turns[0], "{turns:?}");
    assert_eq!(turns.iter().sum::<u64>(), 200);
}

/// As a run deals out iterations: the first of them see all members, and so does each lane.
#[test]
fn all_members_come_first() {
    let mut toy = wide();
    let Lanes::Fixed(lanes) = Portfolio::new().lanes() else {
        panic!("a portfolio learns");
    };
    let mut instances: Vec<_> = (0..lanes).map(|_| Portfolio::new()).collect();
    for (lane, instance) in instances.iter_mut().enumerate() {
        toy.run(instance, Seed(63), 0);
        assert_eq!(instance.turns, 0, "lane {lane} is being primed");
    }
    let count = USUAL.len();
    for index in 1..=count as u64 {
        let lane = (index % u64::from(lanes)) as usize;
        toy.run(&mut instances[lane], Seed(63), index);
    }
    let first = (0..count).map(|m| instances.iter().map(|i| i.members[m].turns).sum());
    assert_eq!(first.collect::<Vec<u64>>(), vec![1; count]);
    for index in count as u64 + 1..=count as u64 * u64::from(lanes) {
        let lane = (index % u64::from(lanes)) as usize;
        toy.run(&mut instances[lane], Seed(63), index);
    }
    assert!(instances.iter().all(|i| turns(i).iter().all(|&t| t == 1)));
}

#[test]
fn what_is_exhausted_is_left_out() {
    let mut portfolio = Portfolio::of(["exhaustive", "random"]).unwrap();
    let mut toy = Toy::new(vec![vec![Do::Step]; 2]);
    (0..20).for_each(|index| drop(toy.run(&mut portfolio, Seed(64), index)));
    assert_eq!(turns(&portfolio)[0], 2);
    let mut portfolio = Portfolio::of(["exhaustive"]).unwrap();
    let runs = (0..20).map_while(|index| toy.try_run(&mut portfolio, Seed(64), index));
    assert_eq!(runs.count(), 2);
}

/// Two tasks poll for each other's flags. `ql`, `pct` and `pos` alone go round for longer.
#[test]
fn long_iterations_end_at_random() {
    let ping = (0..10).flat_map(|i| [Do::SpinUntil(2 * i), Do::Raise(2 * i + 1)]);
    let pong = (0..10).flat_map(|i| [Do::Raise(2 * i), Do::SpinUntil(2 * i + 1)]);
    let mut toy = Toy::new(vec![ping.collect(), pong.collect()]);
    toy.limit = 100_000;
    let mut portfolio = Portfolio::new();
    let runs = (0..200).map(|index| toy.run(&mut portfolio, Seed(65), index));
    let lengths: Vec<u64> = runs.skip(1).map(|run| run.decisions).collect();
    // Each member's first turn may come before it is known what is usual.
    let long = lengths.iter().skip(USUAL.len());
    let longest = long.clone().max().copied();
    assert!(longest < Some(2 * HEAD_MIN), "{longest:?} decisions");
    assert!(long.filter(|&&length| length > HEAD_MIN).count() > 0);
}

#[test]
fn members_are_named_as_strategies() {
    let error = Portfolio::of(["random", "pct:d=0"]).err().unwrap();
    assert!(error.to_string().contains("parameter `d`"));
    assert_eq!(Portfolio::new().describe(), "portfolio");
}
