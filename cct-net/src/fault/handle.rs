//! What the test holds of a running plan.

use super::run::Run;
use super::source::Plans;
use cct_executor::shim::{Access, Looks, OpKind, Source, Waiter};
use std::fmt;
use std::future::poll_fn;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Poll, ready};

/// A running plan. It goes on when this is dropped.
#[derive(Clone)]
pub struct Faults {
    source: Source<Plans>,
    run: Arc<Run>,
}

impl Faults {
    pub(super) fn new(source: Source<Plans>, run: Arc<Run>) -> Faults {
        Faults { source, run }
    }

    /// Ends the plan: everything it did is mended at once, and nothing happens any more.
    pub fn stop(&self) {
        self.run.finish();
        self.source.set_alarm();
    }

    /// Whether the plan's window is over and everything is mended.
    pub fn is_over(&self) -> bool {
        self.run.is_over()
    }

    /// Waits until the plan's window is over and everything is mended.
    ///
    /// # Scheduling points
    /// One, before it looks.
    ///
    /// # Cancel safety
    /// It may be dropped at any time.
    #[track_caller]
    pub fn over(&self) -> impl Future<Output = ()> + Send + use<'_> {
        let site = Location::caller();
        let run: &Run = &self.run;
        let mut looks = Looks::new();
        poll_fn(move |cx| {
            let look = (OpKind::Wait, Access::Read);
            ready!(run.resource.look_point(&mut looks, look, site));
            if run.is_over() {
                return Poll::Ready(());
            }
            let waiter = Waiter::from_context(cx);
            run.state.with(|state| state.waiters.push(waiter));
            self.source.set_alarm();
            run.resource.blocked(OpKind::Wait, site);
            Poll::Pending
        })
    }

    /// How many faults there were so far.
    pub fn taken(&self) -> u32 {
        self.run.taken()
    }

    /// What happened so far, a line each.
    pub fn history(&self) -> Vec<String> {
        self.run.history()
    }
}

impl fmt::Debug for Faults {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Faults")
            .field("taken", &self.taken())
            .finish_non_exhaustive()
    }
}
