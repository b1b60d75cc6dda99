//! What belongs to a world, in the hands of a thread that is none of it.

use crate::execution::strangers;
use crate::execution::world::WORLD;

/// The world that something belongs to.
///
/// What it has in [`Shared`](super::Shared) cells any thread may change, where threads take part; what follows from it, such
/// as that something arrives, has to be done by the world's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Belongs(u64);

impl Belongs {
    /// To the world that runs on this thread, if any.
    #[must_use]
    pub fn here() -> Belongs {
        Belongs(WORLD.with(|world| world.serial.get()))
    }

    /// Whether another thread runs that world, and does what it is asked for: in a test that is run once, with threads
    /// taking part (see [`runtime`](crate::runtime)), until that is over.
    #[inline]
    #[must_use]
    pub fn elsewhere(self) -> bool {
        self != Belongs::here() && strangers::is_open(self.0)
    }

    /// Has the thread of that world do something, between two of its steps; nothing if it is not
    /// [`elsewhere`](Self::elsewhere), or ends before.
    pub fn leave(self, job: impl FnOnce() + Send + 'static) {
        strangers::post(self.0, Box::new(job));
    }
}
