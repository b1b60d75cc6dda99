//! A world around code that is no scenario's: it stands in the place of the scenario's own task, as a closure that
//! may block, while the world runs on a stack beside the code's own.
//!
//! 1. Nobody watches such a world, and panics in it are shown at once.
//! 2. What waits in that code is unwound, with the reason, when the world is over before it.

use super::decider::Decider;
use super::record::Detail;
use super::run::{self, Finished, MAIN, Scenario};
use super::world::{Phase, WORLD};
use crate::raw::beside::{self, Beside};
use crate::words::WorldConfig;
use cct_interpose::Clocks;
use std::io;
use std::sync::Arc;

/// A world around the code that runs on this thread.
pub(crate) struct LoneWorld {
    beside: Beside,
    serial: u64,
}

impl LoneWorld {
    /// Begins a world, whose scenario's own task has [`stand_in`] as its one poll, and which tells what it leaves
    /// behind before it closes. Its clocks go on from these. If it is `open`, threads that the code starts may take part,
    /// and nobody can repeat it.
    ///
    /// # Errors
    /// When the operating system has no memory for another stack.
    pub(crate) fn begin(
        config: WorldConfig,
        decider: Box<dyn Decider>,
        scenario: Arc<Scenario>,
        detail: Detail,
        open: bool,
        clocks: Clocks,
        told: impl Fn(Finished) + 'static,
    ) -> io::Result<LoneWorld> {
        let beside = Beside::begin(move || {
            WORLD.with(|world| {
                world.lone.set(true);
                world.open.set(open);
                world.clocks.set(clocks);
            });
            run::run_and_tell(&config, decider, &*scenario, detail, &told);
            WORLD.with(|world| {
                world.lone.set(false);
                world.left.set(false);
                world.open.set(false);
                world.clocks.set(Clocks::ZERO);
            });
        })?;
        Ok(LoneWorld {
            beside,
            serial: WORLD.with(|world| world.serial.get()),
        })
    }

    /// The world's number.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Ends it.
    pub(crate) fn end(mut self) {
        self.beside.go_on();
    }
}

/// Leaves the thread to the code that the world is around, until that ends the world.
pub(crate) fn stand_in() {
    beside::pause();
}

/// The code of this thread has ended, around which there is a world.
pub(crate) fn has_left() {
    WORLD.with(|world| world.left.set(true));
}

/// Whether this thread runs a world, and whether that is around its code.
pub(crate) fn any_here() -> Option<bool> {
    WORLD.with(|world| (world.phase.get() != Phase::Idle).then_some(world.lone.get()))
}

/// Whether the code runs that this world is around, which alone can end it.
pub(crate) fn is_around_us(serial: u64) -> bool {
    WORLD.with(|world| {
        let is_here = world.phase.get() != Phase::Idle && world.serial.get() == serial;
        is_here && world.running.key.get() == MAIN
    })
}
