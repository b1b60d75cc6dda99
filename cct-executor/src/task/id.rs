//! Task ids.

use crate::execution::world::WORLD;
use std::fmt;

/// The scenario's own task is spawned first.
const MAIN: u32 = 0;

/// Identifies a task within its world. Ids count from 1 in order of spawning, and are the numbers that
/// reports give tasks; unlike tokio's they begin anew in every iteration, so that they may be printed and
/// compared.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Id(pub(crate) u64);

impl fmt::Display for Id {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The id of the running task.
///
/// # Panics
/// Outside a task.
#[track_caller]
pub fn id() -> Id {
    try_id().expect("Can't get a task id when not inside a task")
}

/// The id of the running task, if there is one. The scenario itself, which stands where tokio's
/// `block_on` stands, has none.
pub fn try_id() -> Option<Id> {
    WORLD.with(|world| {
        let heir_of = world.running.get().heir_of;
        if heir_of != 0 {
            return Some(Id(u64::from(heir_of)));
        }
        world
            .current()
            .filter(|&key| key != MAIN)
            .map(|key| world.with(|core, _| core.task_id(key)))
    })
}
