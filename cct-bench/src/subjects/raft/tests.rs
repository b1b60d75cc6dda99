use super::super::hunting::{expect_silence, hunt};
use super::{V1, V2};

#[test]
fn two_leaders_show_in_v1() {
    // Some 5 iterations in 10,000 show it: 40,000 miss it once in e^20 times.
    let report = hunt(&V1, "random", 1, 40_000);
    let failure = report.failure().expect("two leaders");
    assert!(
        failure.kind.to_string().contains("two leaders"),
        "{}",
        failure.kind
    );
}

#[test]
fn counted_once_votes_elect_one_leader() {
    expect_silence(&V1, 1_000);
    expect_silence(&V2, 1_000);
}
