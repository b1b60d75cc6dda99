use super::*;
use crate::words::fingerprint::mix;

#[test]
fn arms_keep_their_places_and_counts() {
    let mut table = Table::new(Counts::Arms, 1 << 20);
    let state = table.insert(7).unwrap();
    for tag in 0..40_u32 {
        let arm = Arm { tag, value: -1.0 };
        assert_eq!(table.add_arm(state, arm), Some(tag as usize));
        for times in 0..=tag {
            assert_eq!(table.take(state, tag as usize), times + 1);
        }
        table.set(state, tag, tag as f32);
    }
    let arms = table.arms(state).iter().map(|arm| (arm.tag, arm.value));
    assert!(arms.eq((0..40).map(|tag| (tag, tag as f32))));
    for tag in 0..40 {
        assert_eq!(table.position(state, tag), Some(tag as usize));
        assert_eq!(table.taken(state, tag as usize), tag + 1);
    }
    assert_eq!(table.visits(state), (1..=40).sum());
    assert_eq!(table.value(state, 40), None);
}

/// All in: index, records and blocks. With one arm or two in each state, or as many as there are
/// actions in a crowded one. (While there are few states, memory does not matter.)
#[test]
fn an_arm_costs_at_most_32_bytes() {
    for arms in [1, 2, 3, 5, 20] {
        let mut table = Table::new(Counts::States, 1 << 30);
        let mut most = 0.0_f64;
        for i in 0..40_000 {
            let state = table.insert(mix(i)).unwrap();
            (0..arms).for_each(|tag| table.set(state, tag, -1.0));
            if i >= 10_000 {
                let pairs = (table.len() * arms as usize) as f64;
                most = most.max(table.bytes() as f64 / pairs);
            }
        }
        assert!(most <= 32.2, "{most} bytes with {arms} arms a state");
    }
}

#[test]
fn the_bound_is_kept_and_the_most_visited_stay() {
    let run = || {
        let mut table = Table::new(Counts::States, 1 << 20);
        for round in 0..30 {
            table.make_room(3001);
            for i in 0..3000 {
                let key = mix(round * 3000 + i);
                let state = table.insert(key).unwrap();
                table.visit(state);
                table.set(state, 1, -1.0);
                table.set(state, 2, -2.0);
            }
            let often = table.insert(u64::MAX).unwrap();
            table.visit(often);
            table.set(often, 1, round as f32);
            assert!(table.bytes() <= 1 << 20);
        }
        table
    };
    let table = run();
    assert_eq!(table.visits(table.find(u64::MAX).unwrap()), 30);
    assert!(table.forgotten > 0);
    assert!(table.remarks(1)[0].starts_with("the table was full (memory=1 MiB): "));
    let known = |table: &Table| {
        (0..90_000)
            .filter(|&i| table.find(mix(i)).is_some())
            .count()
    };
    assert_eq!(known(&table) + 1, table.len());
    assert_eq!(known(&table), known(&run()));
}

#[test]
fn a_full_table_refuses() {
    let mut table = Table::new(Counts::States, 1000);
    let known = (0..1000).filter(|&i| table.insert(i).is_some()).count();
    assert!(known > 5 && known < 50, "{known}");
    assert_eq!(table.forgotten as usize, 1000 - known);
    assert!(table.insert(0).is_some());
}

#[test]
fn thousands_of_actions() {
    let mut table = Table::new(Counts::States, 1 << 24);
    let state = table.insert(0).unwrap();
    (0..5000).for_each(|tag| table.set(state, tag, -(tag as f32)));
    assert_eq!(table.arms_len(state), ARMS_MAX);
    assert_eq!(table.left_out as usize, 5000 - ARMS_MAX);
    assert_eq!(table.value(state, 77), Some(-77.0));
}
