use super::*;
use crate::words::Seed;
use crate::words::fingerprint::mix;
use rand::Rng;

fn table(counts: Counts) -> Table {
    let mut table = Table::new(counts, 1 << 20);
    for i in 0..300_u32 {
        let state = table.insert(mix(u64::from(i))).unwrap();
        for tag in 0..i % 7 {
            let value = (i * tag % 31) as f32 - 9.5;
            let arm = table.add_arm(state, Arm { tag, value }).unwrap();
            if counts == Counts::Arms {
                table.take(state, arm);
            }
        }
        if counts == Counts::States {
            table.visit(state);
        }
    }
    table
}

#[test]
fn what_was_saved_is_loaded() {
    for counts in [Counts::States, Counts::Arms] {
        let table = table(counts);
        let marks = [(1, 2, 3), (4, 5, 6)];
        let numbers = Numbers::with(3..9);
        let bytes = save("ql:alpha=0.5", &marks, &numbers, &table);
        let like = Table::new(counts, 7);
        let (loaded_marks, numbers, loaded) = load("ql:alpha=0.5", &bytes, &like).unwrap();
        assert_eq!(loaded_marks, marks);
        assert_eq!(loaded.bytes_max, 7);
        assert_eq!(save("ql:alpha=0.5", &marks, &numbers, &loaded), bytes);
    }
}

#[test]
fn errors_say_what_is_wrong() {
    let like = Table::new(Counts::States, 1 << 20);
    let bytes = save("ql", &[], &Numbers::new(), &table(Counts::States));
    let error = |bytes: &[u8]| load("ql", bytes, &like).unwrap_err();
    assert_eq!(
        error(b""),
        "saved table is cut short: 4 bytes are missing at 0 of 0"
    );
    assert_eq!(
        error(b"c1-x"),
        "not a saved table: it does not begin with `cctq`"
    );
    let mut newer = bytes.clone();
    newer[4] = 3;
    assert_eq!(
        error(&newer),
        "saved table has format 3, this version reads 2"
    );
    assert_eq!(
        load("ql:gamma=1", &bytes, &like).unwrap_err(),
        "saved table is of strategy `ql`, not of `ql:gamma=1`"
    );
    let damaged = "saved table is damaged: its checksum is wrong";
    assert_eq!(error(&bytes[..bytes.len() - 3]), damaged);
    let other = save("ql", &[], &Numbers::new(), &table(Counts::Arms));
    assert_eq!(error(&other), "saved table counts something else (1)");
}

/// With a checksum that is right, as an attacker or a bug of ours would make it.
#[test]
fn no_bytes_make_it_panic() {
    let like = Table::new(Counts::States, 1 << 20);
    let good = save(
        "ql",
        &[(1, 2, 3)],
        &Numbers::with(0..4),
        &table(Counts::States),
    );
    let mut generator = Seed(1).stream("test");
    for _ in 0..1500 {
        let mut bytes = good.clone();
        for _ in 0..=generator.next_u64() % 3 {
            let at = generator.next_u64() as usize % bytes.len();
            bytes[at] = generator.next_u64() as u8;
        }
        if generator.next_u64() % 2 == 0 {
            bytes.truncate(generator.next_u64() as usize % (bytes.len() + 1));
        }
        let body = bytes.len().saturating_sub(8);
        let sum = checksum(&bytes[..body]).to_le_bytes();
        bytes.truncate(body);
        bytes.extend(sum);
        if let Err(message) = load("ql", &bytes, &like) {
            assert!(message.contains("saved table"), "{message}");
        }
    }
}

#[test]
fn impossible_contents_are_refused() {
    let like = Table::new(Counts::States, 1 << 20);
    let mut one = Table::new(Counts::States, 1 << 20);
    let state = one.insert(5).unwrap();
    one.set(state, 1, f32::NAN);
    let error = load("ql", &save("ql", &[], &Numbers::new(), &one), &like).unwrap_err();
    assert_eq!(error, "saved table has a value that is no number: NaN");
}
