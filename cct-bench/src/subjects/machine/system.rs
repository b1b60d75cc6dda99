//! All machines of one world, and whether any of them can go on.

use cct_executor::shim::{Resource, ResourceKind, Shared, Waiter};
use std::task::Context;

/// States that a machine may tell apart.
const STATES: usize = 20;

/// All machines of one world.
pub(super) struct System {
    pub(super) as_p: bool,
    pub(super) marks: [Resource; STATES],
    pub(super) life: Shared<Life>,
}

pub(super) struct Life {
    pub(super) machines: u64,
    /// Machines that are neither blocked nor halted. At 0 everything is over, for good.
    pub(super) busy: u32,
    /// The task of the scenario, once its own machine is blocked or halted.
    root: Option<Waiter>,
}

impl System {
    #[rustfmt::skip]
    pub(super) fn new(as_p: bool) -> System {
        // Each has its own place, which is what tells resources apart in fingerprints.
        let mark = ResourceKind::User;
        System {
            as_p,
            marks: [
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
                Resource::new(mark),
            ],
            life: Shared::new(Life { machines: 0, busy: 0, root: None }),
        }
    }

    /// One machine more is blocked or halted.
    pub(super) fn rests(&self) {
        let root = self.life.with(|life| {
            life.busy -= 1;
            life.root.take_if(|_| life.busy == 0)
        });
        if let Some(root) = root {
            root.wake();
        }
    }

    /// Whether everything is over; if not, the scenario's task is woken when it is.
    pub(super) fn is_over(&self, cx: &Context<'_>) -> bool {
        self.life.with(|life| {
            life.root = (life.busy > 0).then(|| Waiter::from_context(cx));
            life.busy == 0
        })
    }
}
