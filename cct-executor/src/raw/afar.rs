//! What other threads ask of a world that is open to them.
//!
//! 1. A job is kept only for a world that is open, and dropped when that closes: nobody waits for it in vain.

use super::shared::{Home, lock};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;

/// Something that the world's thread is to do, between two steps.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

pub(super) struct Afar {
    asked: Mutex<Asked>,
    /// There are jobs.
    any: AtomicBool,
}

struct Asked {
    /// The world that is open, or 0.
    world: u64,
    jobs: Vec<Job>,
}

impl Afar {
    pub(super) const fn new() -> Afar {
        Afar {
            asked: Mutex::new(Asked {
                world: 0,
                jobs: Vec::new(),
            }),
            any: AtomicBool::new(false),
        }
    }

    /// From now on this world is open to others, or with 0 none.
    pub(super) fn open(&self, world: u64) {
        let left = {
            let mut asked = lock(&self.asked);
            asked.world = world;
            self.any.store(false, Ordering::Release);
            std::mem::take(&mut asked.jobs)
        };
        drop(left);
    }

    pub(super) fn is_open(&self) -> bool {
        lock(&self.asked).world != 0
    }
}

impl Home {
    /// Whether anything was asked of the world that runs here.
    pub(crate) fn has_jobs(&self) -> bool {
        self.afar.any.load(Ordering::Acquire)
    }

    pub(crate) fn take_jobs(&self) -> Vec<Job> {
        let mut asked = lock(&self.afar.asked);
        self.afar.any.store(false, Ordering::Release);
        std::mem::take(&mut asked.jobs)
    }

    /// Asks the thread of this world to do something, and waits for what comes of it. `None` if it is not open to
    /// others, or ends before.
    pub(crate) fn ask<R: Send + 'static>(
        world: u64,
        job: impl FnOnce() -> R + Send + 'static,
    ) -> Option<R> {
        let (tell, told) = sync_channel(1);
        let home = Home::all().find(|home| lock(&home.afar.asked).world == world)?;
        {
            let mut asked = lock(&home.afar.asked);
            if asked.world != world {
                return None;
            }
            asked.jobs.push(Box::new(move || {
                let _ = tell.send(job());
            }));
            home.afar.any.store(true, Ordering::Release);
        }
        told.recv().ok()
    }
}
