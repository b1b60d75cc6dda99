//! An iteration of a test without an attribute, in a process that is started anew: nobody else can call the test.
//!
//! Whether the test passes is the harness's to say, which knows what it expects.

use super::order::Order;
use super::{Place, asked_for};
use crate::explore::env;
use crate::words::Seed;
use std::io;
use std::process::{Child, ExitStatus};

/// A process for one iteration.
pub(super) struct Spawned {
    child: Child,
    place: Place,
}

/// What it leaves.
pub(super) struct Left {
    pub(super) status: ExitStatus,
    pub(super) answer: Vec<u8>,
}

impl Spawned {
    pub(super) fn begin(test: &str, seed: Seed, order: &Order) -> io::Result<Spawned> {
        let place = Place::new()?;
        order.leave(&place.answer())?;
        let mut command = asked_for(test, &place)?;
        command.env(env::SEED, seed.to_string());
        // Whose panics nobody reads; to write where they come from takes longer than all the rest.
        command.env("RUST_BACKTRACE", "0");
        let child = command.spawn()?;
        Ok(Spawned { child, place })
    }

    /// One for the test as it is run once, with threads that it starts taking part: nothing is ordered.
    pub(super) fn once(test: &str) -> io::Result<Spawned> {
        let place = Place::new()?;
        let mut command = asked_for(test, &place)?;
        command.env(env::PLAIN_TESTS, "once");
        let child = command.spawn()?;
        Ok(Spawned { child, place })
    }

    pub(super) fn wait(mut self) -> io::Result<Left> {
        let status = self.child.wait()?;
        // Who did not come to it has left none.
        let answer = std::fs::read(self.place.answer()).unwrap_or_default();
        Ok(Left { status, answer })
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
