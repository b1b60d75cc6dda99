//! What others draw through the C library, in every way in which they do.
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "what programs must not use is tested with programs that use it"
)]

use cct_interpose::{Clocks, System};
use std::hash::{BuildHasher, RandomState};

const SYSTEM: System = System::AS_EVER;

fn by_number() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom_by_number::getrandom(&mut bytes).expect("the system gives random bytes");
    bytes
}

fn by_name() -> [u8; 32] {
    let mut bytes = [0; 32];
    getrandom_by_name::fill(&mut bytes).expect("the system gives random bytes");
    bytes
}

/// By the standard library, which draws once a thread.
fn by_std() -> u64 {
    RandomState::new().hash_one(0)
}

/// What a new thread draws.
fn on_a_thread<R: Send + 'static>(seed: Option<u64>, draw: fn() -> R) -> R {
    let body = move || {
        assert!(!cct_interpose::drawn());
        if let Some(seed) = seed {
            cct_interpose::begin(seed, SYSTEM, Clocks::ZERO);
        }
        let drawn = draw();
        assert_eq!(cct_interpose::drawn(), cct_interpose::CONTROLLED);
        cct_interpose::end();
        drawn
    };
    std::thread::spawn(body)
        .join()
        .expect("the thread only draws")
}

fn obeys<R: Send + PartialEq + std::fmt::Debug + 'static>(draw: fn() -> R) {
    let of = |seed| on_a_thread(seed, draw);
    if cct_interpose::CONTROLLED {
        assert_eq!(of(Some(1)), of(Some(1)));
    }
    // Equal by chance once in 2^64 at most.
    assert_ne!(of(Some(1)), of(Some(2)));
    assert_ne!(of(None), of(None));
}

#[test]
fn random_bytes_asked_for_by_number_follow_the_seed() {
    obeys(by_number);
}

#[test]
fn random_bytes_asked_for_by_name_follow_the_seed() {
    obeys(by_name);
}

#[test]
fn the_keys_of_maps_follow_the_seed() {
    obeys(by_std);
}

#[test]
fn after_the_end_bytes_are_the_systems() {
    let after = || {
        cct_interpose::begin(1, SYSTEM, Clocks::ZERO);
        cct_interpose::end();
        by_name()
    };
    assert_ne!(on_a_thread(None, after), on_a_thread(None, after));
}
