//! Worlds that other threads of the same test have, where that is run once and threads take part.

use crate::execution::strangers;
use crate::execution::world::WORLD;
use crate::task::spawn_on_runtime;

/// A world that another thread of the same test has.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Relative(u64);

/// The other worlds that threads of the same test have, in the order in which they began: none but in a test that is run
/// once, in which threads take part (see [`runtime`](crate::runtime)). Those that have no world themselves may ask as well.
pub fn relatives() -> Vec<Relative> {
    let number = WORLD.with(|world| match world.is_live() {
        true => number_among_relatives(),
        false => Some(0),
    });
    let others = number.map(strangers::relatives).unwrap_or_default();
    others.into_iter().map(Relative).collect()
}

/// The world that runs here, as its relatives see it, if it may have some.
pub fn oneself() -> Option<Relative> {
    number_among_relatives().map(Relative)
}

/// The number of this world among those of the process, if other threads of the same test may have some as well.
pub fn number_among_relatives() -> Option<u64> {
    WORLD.with(|world| world.open.get().then(|| world.serial.get()))
}

impl Relative {
    /// Spawns a task there, when that world comes to it. It is dropped with that world; and at once, with `false`, if that
    /// is over.
    pub fn spawn<F>(self, future: F) -> bool
    where
        F: Future<Output = ()> + Send + 'static,
    {
        strangers::post(self.0, Box::new(move || drop(spawn_on_runtime(0, future))))
    }
}
