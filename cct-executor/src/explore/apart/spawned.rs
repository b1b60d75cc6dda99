//! An iteration of a test without an attribute, in a process that is started anew: nobody else can call the test.
//!
//! Whether the test passes is the harness's to say, which knows what it expects.

use super::order::Order;
use super::{Place, asked_for};
use crate::explore::env;
use crate::words::Seed;
use std::fs;
use std::fs::File;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ExitStatus};

/// Where it is noted how many decisions worlds took that were not ordered.
fn others(answer: &Path) -> PathBuf {
    answer.with_extension("others")
}

/// Notes that a world has ended which was not ordered, for whoever looks for an answer there.
pub(in crate::explore) fn note_other(answer: &Path, decisions: u64) {
    let file = File::options()
        .create(true)
        .append(true)
        .open(others(answer));
    // Who finds nothing takes it that there was none.
    let _ = file.and_then(|mut file| writeln!(file, "{decisions}"));
}

/// A process for one iteration.
pub(super) struct Spawned {
    child: Child,
    place: Place,
}

/// What it leaves.
pub(super) struct Left {
    pub(super) status: ExitStatus,
    pub(super) answer: Vec<u8>,
    /// How many decisions each world took that was not ordered.
    pub(super) others: Vec<u64>,
}

/// What is random in it.
#[derive(Clone, Copy)]
pub(super) struct Random {
    /// The campaign's seed.
    pub(super) seed: Seed,
    /// What bytes derive from that are drawn outside of worlds.
    pub(super) outside: Seed,
}

impl Spawned {
    /// One that does as it is ordered with its world of this number.
    pub(super) fn begin(
        test: &str,
        random: Random,
        world: u32,
        order: &Order,
    ) -> io::Result<Spawned> {
        let place = Place::new()?;
        order.leave(&place.answer(), world)?;
        let mut command = asked_for(test, &place)?;
        command.env(env::SEED, random.seed.to_string());
        command.env(env::OUTSIDE, random.outside.0.to_string());
        command.envs(env::DRAW_NOTHING_FIRST);
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
        let answer = fs::read(self.place.answer()).unwrap_or_default();
        let others = fs::read_to_string(others(&self.place.answer())).unwrap_or_default();
        let others = others.lines().map_while(|line| line.parse().ok()).collect();
        Ok(Left {
            status,
            answer,
            others,
        })
    }
}

impl Drop for Spawned {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
