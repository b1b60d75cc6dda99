//! The subjects with threads and locks, the matcher and the services: the bug shows, its repair is
//! silent, and the odds stay what they were measured to be.

use super::bounded_buffer::{BOUNDED_BUFFER, BOUNDED_BUFFER_MINIMAL, BOUNDED_BUFFER_RANDOM};
use super::calculator::CALCULATOR;
use super::counters::{FIB_BENCH_2, FIB_BENCH_LONGEST_2, TRIANGULAR_2, TRIANGULAR_LONGEST_2};
use super::order::{BARNES, DRYAD, FFT, LU, PBZIP2};
use super::safestack::{SAFESTACK, SAFESTACK_ARTIFACT};
use super::services::{cache_provider::CACHE_PROVIDER, pool_manager, resource_provider};
use super::wsq::{WSQ, WSQ_2, WSQ_4, WSQ_8, WSQ_16, WSQ_32, WSQ_64};
use super::{Probe, Scenario, Subject, matcher};
use cct_executor::{Checker, Report, Seed};

fn run(
    subject: &Subject,
    form: fn(Probe) -> Scenario,
    set: impl FnOnce(Checker) -> Checker,
) -> Report {
    let checker = Checker::new()
        .name(subject.name)
        .use_environment(false)
        .time_budget(None)
        .max_steps(subject.max_steps)
        .shrink(false)
        .granularity(subject.granularity)
        .clock(subject.clock);
    let report = set(checker).run(move || form(Probe::default()));
    assert_eq!(report.error, None, "{}", subject.name);
    report
}

/// The strategy finds the bug within so many iterations of the seed.
#[track_caller]
fn found(subject: &Subject, strategy: &str, seed: u64, iterations: u64) {
    let report = run(subject, subject.scenario, |checker| {
        let checker = checker.strategy_text(strategy).seed(Seed(seed));
        checker.iterations(iterations)
    });
    let failure = report.failure();
    let failure = failure.unwrap_or_else(|| panic!("{}: {}", subject.name, report.text()));
    assert!(failure.reproduced, "{}", subject.name);
    let class = failure.kind.class();
    assert!(class == "panic" || class == "deadlock", "{}", report.text());
}

/// The program without the bug is silent, and mostly comes to its end.
#[track_caller]
fn silent(subject: &Subject, iterations: u64) {
    let fixed = subject.fixed.expect("there is a fixed form");
    for strategy in ["random", "pct:d=3", "pct:d=2,final-wait=on", "round-robin"] {
        let report = run(subject, fixed, |checker| {
            let checker = checker.strategy_text(strategy).seed(Seed(1));
            checker.iterations(iterations)
        });
        assert!(report.failure().is_none(), "{}", report.text());
        assert!(report.cut() * 2 <= report.iterations, "{}", report.text());
    }
}

/// Of so many iterations, how many fail.
fn failing(subject: &Subject, strategy: &str, iterations: u64) -> f64 {
    let report = run(subject, subject.scenario, |checker| {
        let checker = checker.strategy_text(strategy).seed(Seed(5));
        checker.iterations(iterations).keep_going(true)
    });
    report.coverage.failing as f64
}

/// Fails for right odds with probability below 1e-6: five standard deviations, of 100 expected
/// failures or more.
#[track_caller]
fn assert_odds(subject: &Subject, strategy: &str, iterations: u64, odds: f64) {
    let expected = odds * iterations as f64;
    let seen = failing(subject, strategy, iterations);
    let allowed = 5.0 * (expected * (1.0 - odds)).sqrt();
    assert!(
        (seen - expected).abs() <= allowed,
        "{} under {strategy}: {seen} failures instead of {expected}",
        subject.name
    );
}

// Where the odds are below one in a thousand, the seed is one that is quick.

#[test]
fn alternation_is_found() {
    found(&FIB_BENCH_2, "random", 1, 500);
    found(&FIB_BENCH_LONGEST_2, "random", 1, 2_000);
    found(&TRIANGULAR_2, "random", 3, 2_000);
    for subject in [
        FIB_BENCH_2,
        FIB_BENCH_LONGEST_2,
        TRIANGULAR_2,
        TRIANGULAR_LONGEST_2,
    ] {
        silent(&subject, 50);
    }
}

/// Pins what these points give; where they lie decides it. The published program's own odds are
/// known for the longer form only, where 200,000 iterations gave 5.25e-4 against 5e-4.
#[test]
fn fibonacci_keeps_its_odds() {
    assert_odds(&FIB_BENCH_2, "random", 4_000, 0.0478);
}

#[test]
fn safestack_is_not_safe() {
    found(&SAFESTACK_ARTIFACT, "random", 27, 1_500);
    silent(&SAFESTACK_ARTIFACT, 30);
    silent(&SAFESTACK, 30);
}

#[test]
fn bounded_buffers_deadlock() {
    found(&BOUNDED_BUFFER_MINIMAL, "random", 1, 50);
    found(&BOUNDED_BUFFER_RANDOM, "random", 1, 200);
    found(&BOUNDED_BUFFER, "greedy:compat=psharp", 23, 1_000);
    for subject in [
        BOUNDED_BUFFER,
        BOUNDED_BUFFER_MINIMAL,
        BOUNDED_BUFFER_RANDOM,
    ] {
        silent(&subject, 30);
    }
}

#[test]
fn strings_match() {
    found(&matcher::ETA1, "random", 0, 1_000);
    found(&matcher::ETA2, "random", 0, 1_000);
    found(&matcher::ETA3, "random", 1, 1_000);
    found(&matcher::ETA4, "pct:d=3", 0, 1_000);
    found(&matcher::ETA5, "pct:d=3", 13, 1_000);
    found(&matcher::COIN, "random", 0, 1_000);
}

/// Published as out of reach of random and PCT; the odds of random are 3^-11.
#[test]
fn the_last_string_is_out_of_reach() {
    assert!(failing(&matcher::ETA6, "random", 300) < 1.0);
}

#[test]
fn the_calculator_has_much_to_visit() {
    let probe = Probe::default();
    let inside = probe.clone();
    let scenario = CALCULATOR.scenario;
    let report = Checker::new()
        .use_environment(false)
        .time_budget(None)
        .max_steps(CALCULATOR.max_steps)
        .seed(Seed(1))
        .iterations(50)
        .run(move || scenario(inside.clone()));
    assert!(report.passed() && report.cut() == 0, "{}", report.text());
    let values = probe.with(|visited| visited.states.len());
    assert!((100..=10_001).contains(&values), "{values} values");
}

#[test]
fn thieves_take_an_item_twice() {
    for subject in [WSQ, WSQ_2, WSQ_4, WSQ_8, WSQ_16, WSQ_32, WSQ_64] {
        found(&subject, "pct:d=2", 1, 500);
        silent(&subject, if subject.workers > 10 { 5 } else { 100 });
    }
}

/// The PCT paper's odds for these: .5, .5, .4916.
#[test]
fn a_missing_join_is_found_every_other_time() {
    assert_odds(&FFT, "pct:d=1", 400, 0.5);
    assert_odds(&LU, "pct:d=1", 400, 0.5);
    assert_odds(&BARNES, "pct:d=1", 400, 0.4916);
    for subject in [FFT, LU, BARNES] {
        silent(&subject, 10);
    }
}

#[test]
fn memory_is_used_after_it_was_freed() {
    found(&PBZIP2, "pct:d=2,final-wait=on", 1, 50);
    found(&DRYAD, "pct:d=2", 1, 200);
    silent(&PBZIP2, 10);
    silent(&DRYAD, 10);
}

#[test]
fn services_fail() {
    found(&CACHE_PROVIDER, "ql", 10, 200);
    found(&pool_manager::V1, "pct:d=4", 0, 1_000);
    found(&pool_manager::V2, "pct:d=2", 0, 500);
    found(&resource_provider::V1, "random", 1, 1_000);
    found(&resource_provider::V2, "random", 1, 100);
    for subject in [
        CACHE_PROVIDER,
        pool_manager::V1,
        pool_manager::V2,
        resource_provider::V1,
        resource_provider::V2,
    ] {
        silent(&subject, 20);
    }
}
