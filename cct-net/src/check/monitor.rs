//! Liveness: something good happens, in the end.
//!
//! A monitor is *hot* while something is owed (a request without an answer), *cold* otherwise. It
//! must not stay hot for longer than its patience, in virtual time, once the system is left in peace:
//! a scenario ends with [`Monitor::in_peace`], which checks that, or with [`Monitor::assert_cold`]. Nothing
//! is checked by itself: a scenario that returns cuts off its other tasks, who might have paid.
//!
//! No strategy is fair to whoever retries: one that always takes the same value of [`nondet`](cct_executor::nondet)
//! may send a gossip to the same peer for ever. So what is still owed then has as much time again, in which values are
//! drawn and no timer beats whoever is ready.
//!
//! A debt outlives whoever has it. Where that is dropped before its end (its node crashes, its task is
//! aborted or panics, the world ends) the debt stays, until [`Monitor::settle`] pays it in its place. A future
//! that a `select!` or a time-out drops has come to its end in the program's own view, and so pays.
//!
//! The terms are those of
//! P# (P. Deligiannis et al., "Uncovering bugs in distributed storage systems during testing (not in
//! production!)", FAST 2016).

use cct_executor::shim::{self, Shared};
use cct_executor::time::{Instant, sleep};
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// So many debts are told one by one.
const SHOWN: usize = 5;

/// Watches that something owed is paid. Clones are the same monitor.
#[derive(Clone)]
pub struct Monitor(Arc<Inner>);

struct Inner {
    name: &'static str,
    patience: Duration,
    state: Shared<State>,
}

#[derive(Default)]
struct State {
    /// What is owed, and since when.
    owed: Vec<(u64, String, Instant)>,
    next: u64,
}

/// Something that is owed until this is dropped or [`paid`](Owed::paid). Dropped with a task that is aborted or
/// panics, or with a node that goes down, it stays owed.
#[must_use = "what is owed is paid when this is dropped"]
pub struct Owed {
    monitor: Monitor,
    number: u64,
}

impl Monitor {
    /// A monitor that is cold. Patience is how long something may be owed in peace.
    pub fn new(name: &'static str, patience: Duration) -> Monitor {
        Monitor(Arc::new(Inner {
            name,
            patience,
            state: Shared::new(State::default()),
        }))
    }

    /// From now on something is owed.
    pub fn owe(&self, what: impl Into<String>) -> Owed {
        let (what, now) = (what.into(), Instant::now());
        let number = self.0.state.with(|state| {
            state.next += 1;
            state.owed.push((state.next, what, now));
            state.next
        });
        Owed {
            monitor: self.clone(),
            number,
        }
    }

    /// Everything that is owed under this name is paid, also what a crash has left behind: a node that comes
    /// back does what it owed before, or a test that crashed a client does not wait for its answers.
    pub fn settle(&self, what: &str) {
        let paid = self.0.state.with(|state| {
            let owed = std::mem::take(&mut state.owed);
            let (paid, left): (Vec<_>, _) = owed.into_iter().partition(|debt| debt.1 == what);
            state.owed = left;
            paid
        });
        drop(paid);
    }

    /// Whether something is owed.
    pub fn is_hot(&self) -> bool {
        self.0.state.with(|state| !state.owed.is_empty())
    }

    /// Leaves the system in peace, faults over and all links whole, until nothing is owed any more: at once,
    /// if nothing is owed yet. Who asks for something has the answer owed before it asks, so that the debt is
    /// there whatever the other side has seen.
    ///
    /// # Scheduling points
    /// It sleeps a thousandth of its patience at a time.
    ///
    /// # Cancel safety
    /// Nothing is lost.
    ///
    /// If something is still owed when patience is over, the test fails at the place of this call, as with
    /// a false `always!`. Where the strategy has decided values meanwhile, or its clock lets timers beat whoever is
    /// ready, patience begins anew before that, with values that are drawn from the noise seed and with clock
    /// `strict`: what is owed for ever is owed there too.
    ///
    /// # Panics
    /// Outside of a world, if something is owed.
    #[track_caller]
    pub fn in_peace(&self) -> impl Future<Output = ()> + use<'_> {
        let caller = std::panic::Location::caller();
        async move {
            let decided = shim::values_decided();
            self.has_patience().await;
            let was_fair = decided.is_some() && decided == shim::values_decided();
            if self.is_hot() && !was_fair {
                let _fair = shim::Fair::begin();
                self.has_patience().await;
            }
            if self.is_hot() {
                shim::broken(self.complaint(), caller);
            }
        }
    }

    /// Waits as long as patience lasts, or until nothing is owed.
    async fn has_patience(&self) {
        let end = Instant::now() + self.0.patience;
        while self.is_hot() && Instant::now() < end {
            sleep(Duration::from_millis(1).max(self.0.patience / 1000)).await;
        }
    }

    /// The test is at its end.
    ///
    /// # Panics
    /// If something is still owed.
    #[track_caller]
    pub fn assert_cold(&self) {
        assert!(!self.is_hot(), "{}", self.complaint());
    }

    /// What is owed, the oldest first.
    fn complaint(&self) -> String {
        let mut owed = self.0.state.with(|state| {
            let debts = state.owed.iter();
            let debts = debts.map(|(number, what, since)| (*number, what.clone(), *since));
            debts.collect::<Vec<_>>()
        });
        owed.sort_unstable_by_key(|debt| debt.0);
        let shown = owed.iter().take(SHOWN);
        let mut texts: Vec<String> = shown
            .map(|(_, what, since)| format!("{what} (for {:?})", since.elapsed()))
            .collect();
        if owed.len() > SHOWN {
            texts.push(format!("... and {} more", owed.len() - SHOWN));
        }
        format!(
            "liveness `{}`: still owed: {}",
            self.0.name,
            texts.join(", ")
        )
    }
}

impl Owed {
    /// It is paid.
    pub fn paid(self) {
        self.pay();
    }

    fn pay(&self) {
        let paid = self.monitor.0.state.with(|state| {
            let at = state.owed.iter().position(|owed| owed.0 == self.number)?;
            Some(state.owed.swap_remove(at))
        });
        drop(paid);
    }
}

impl Drop for Owed {
    fn drop(&mut self) {
        if !shim::is_cut_off() {
            self.pay();
        }
    }
}

impl fmt::Debug for Monitor {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Monitor")
            .field("name", &self.0.name)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for Owed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Owed")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}
