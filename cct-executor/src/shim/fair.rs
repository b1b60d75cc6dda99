//! Fair stretches, for checks of what happens in the end.

use super::Belongs;
use crate::execution::world::WORLD;

/// A stretch of the iteration, until this is dropped, in which no strategy can put off for ever what would happen
/// somewhere: values are drawn from the noise seed, and timers fire where nothing else can happen. Who is ready is
/// picked as before. Nothing outside a world.
#[must_use = "the stretch ends when this is dropped"]
#[derive(Debug)]
pub struct Fair(Belongs);

impl Fair {
    /// From here on.
    pub fn begin() -> Fair {
        WORLD.with(|world| {
            if world.is_running() {
                world.with(|core, _| core.begin_fairness());
            }
        });
        Fair(Belongs::here())
    }
}

impl Drop for Fair {
    fn drop(&mut self) {
        WORLD.with(|world| {
            if world.is_running() && self.0 == Belongs::here() {
                world.with(|core, _| core.end_fairness());
            }
        });
    }
}

/// How many values the strategy has decided so far; `None` where its clock lets timers beat whoever is ready, and
/// outside a world. What happened between two equal numbers was [`Fair`].
#[must_use]
pub fn values_decided() -> Option<u64> {
    WORLD.with(|world| {
        let running = world.is_running();
        running
            .then(|| world.with(|core, _| core.values_decided()))
            .flatten()
    })
}
