//! Tallies that several tasks add to, in one step or in two.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

/// ```
/// let tally = tally::Std::default();
/// tally.in_one_step();
/// assert_eq!(tally.sum(), 1);
/// ```
#[derive(Default)]
pub struct Std(Mutex<u32>);

impl Std {
    pub fn in_two_steps(&self) {
        let seen = *self.0.lock().unwrap();
        *self.0.lock().unwrap() = seen + 1;
    }

    pub fn in_one_step(&self) {
        *self.0.lock().unwrap() += 1;
    }

    pub fn sum(&self) -> u32 {
        *self.0.lock().unwrap()
    }
}

#[derive(Default)]
pub struct ParkingLot(parking_lot::Mutex<u32>);

impl ParkingLot {
    pub fn in_two_steps(&self) {
        let seen = *self.0.lock();
        *self.0.lock() = seen + 1;
    }

    pub fn in_one_step(&self) {
        *self.0.lock() += 1;
    }

    pub fn sum(&self) -> u32 {
        *self.0.lock()
    }
}

#[derive(Default)]
pub struct Atomic(AtomicU32);

impl Atomic {
    pub fn in_two_steps(&self) {
        let seen = self.0.load(Ordering::SeqCst);
        self.0.store(seen + 1, Ordering::SeqCst);
    }

    pub fn in_one_step(&self) {
        self.0.fetch_add(1, Ordering::SeqCst);
    }

    pub fn sum(&self) -> u32 {
        self.0.load(Ordering::SeqCst)
    }
}

/// Its lock only spins.
#[derive(Default)]
pub struct Spinning {
    locked: AtomicBool,
    tally: Atomic,
}

impl Spinning {
    pub fn add(&self) {
        let mut looks = 0;
        while self.locked.swap(true, Ordering::Acquire) {
            while self.locked.load(Ordering::Relaxed) {
                looks += 1;
                assert!(looks < 20_000, "who holds the lock does not go on");
                std::hint::spin_loop();
            }
        }
        self.tally.in_two_steps();
        self.locked.store(false, Ordering::Release);
    }

    pub fn sum(&self) -> u32 {
        self.tally.sum()
    }
}
