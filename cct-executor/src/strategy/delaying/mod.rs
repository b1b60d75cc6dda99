//! Delaying explorers: an order in which things happen by default, and what a delay does to it.
//!
//! A. Desai, S. Qadeer and S. Seshia, "Systematic testing of asynchronous reactive systems",
//! ESEC/FSE 2015, after M. Emmi, S. Qadeer and Z. Rakamaric, "Delay-bounded scheduling", POPL 2011.
//!
//! An explorer alone is one schedule. [`Ses`](super::Ses) and [`Ss`](super::Ss) leave it by delays:
//! the *stratum* `n` of a program is all schedules that need `n` of them. A good explorer is one
//! for which the bugs lie in low strata, and which one that is depends on the program; hence the
//! trait, to be implemented by users.
//!
//! 1. An explorer is deterministic: its state follows from the seed given to `begin` and from what
//!    it was told since. It is built up anew in each iteration.
//! 2. It knows tasks. What else may happen (a message arrives, a timer fires early, a future is
//!    cancelled, something fails) is kept for it: without delays it happens when no task can run,
//!    messages first and failures last; otherwise it takes turns with the tasks.
//! 3. A data choice has its own order: the first value is free, each later one costs one delay
//!    more. So "false" comes before "true".
//! 4. It is *sound* when calling [`delay`](DelayingExplorer::delay) again and again brings every
//!    enabled task to the top once before any comes back. Then everything is in some stratum.
//!
//! Between [`mark("seal")`](crate::nondet::mark) and `mark("unseal")` nothing is delayed: a part of
//! the program that needs no testing, such as its setup, is run in one way only.
//!
//! # An explorer of your own
//!
//! The last task to become enabled runs first. (`broken_chain` among the examples is that of
//! section 6.3 of the paper, which puts failures off until the program is ready for them.)
//!
//! ```
//! use cct_executor::strategy::{ActionOrder, DelayingExplorer, Ses};
//! use cct_executor::{Checker, Seed, spawn, task::yield_now, words::ActionKey};
//!
//! #[derive(Default)]
//! struct LastFirst(ActionOrder);
//!
//! impl DelayingExplorer for LastFirst {
//!     fn name(&self) -> &'static str {
//!         "last-first"
//!     }
//!     fn begin(&mut self, _: Seed) {
//!         self.0.clear();
//!     }
//!     fn on_enabled(&mut self, task: ActionKey) {
//!         self.0.push_front(task);
//!     }
//!     fn on_blocked(&mut self, task: ActionKey) {
//!         self.0.remove(task);
//!     }
//!     fn first(&self) -> Option<ActionKey> {
//!         self.0.first()
//!     }
//!     fn delay(&mut self) {
//!         self.0.rotate();
//!     }
//! }
//!
//! let explored = Checker::new().strategy(|| Ses::new(LastFirst::default())).run(|| async {
//!     let tasks = [1, 2].map(|_| spawn(yield_now()));
//!     for task in tasks {
//!         task.await.unwrap();
//!     }
//! });
//! explored.assert_passed();
//! assert!(explored.coverage.all_schedules.is_some());
//! ```

mod explorers;
pub(super) mod guide;
mod order;

pub use explorers::{ProbabilisticRoundRobinExplorer, RoundRobinExplorer, RunToCompletionExplorer};
pub use order::ActionOrder;

use super::spec::{Arguments, Kind, Parameter};
use crate::words::{ActionKey, Seed};

/// The order in which tasks run by default, and what a delay does to it.
///
/// What has no default here must be there in every explorer: what becomes able to run, what no
/// longer is, who is first, and how the first one is put off.
pub trait DelayingExplorer: Send {
    /// Its name in reports.
    fn name(&self) -> &'static str;

    /// A new iteration: forget everything. All randomness of the explorer comes from the seed, which
    /// is the same in all iterations that extend one schedule.
    fn begin(&mut self, seed: Seed);

    /// A task was spawned. It is enabled.
    fn start(&mut self, task: ActionKey, parent: Option<ActionKey>) {
        let _ = parent;
        self.on_enabled(task);
    }

    /// A task has ended. It is never enabled again.
    fn finish(&mut self, task: ActionKey) {
        self.on_blocked(task);
    }

    /// A task that was blocked is enabled. A task that yields is blocked and enabled at once.
    fn on_enabled(&mut self, task: ActionKey);

    /// A task can no longer run. It may already be unknown.
    fn on_blocked(&mut self, task: ActionKey);

    /// The running task woke this one, or sends to where it was woken by a message before. It is
    /// enabled.
    fn sent(&mut self, to: ActionKey) {
        let _ = to;
    }

    /// The program placed a mark ([`nondet::mark`](crate::nondet::mark)): who, if it was a task.
    fn user_op(&mut self, name: &str, by: Option<ActionKey>) {
        let _ = (name, by);
    }

    /// The enabled task that runs next unless it is delayed.
    fn first(&self) -> Option<ActionKey>;

    /// Puts off the first task: another one is first now. Called fewer times at one decision than
    /// there are enabled tasks.
    fn delay(&mut self);
}

impl<E: DelayingExplorer + ?Sized> DelayingExplorer for Box<E> {
    fn name(&self) -> &'static str {
        (**self).name()
    }

    fn begin(&mut self, seed: Seed) {
        (**self).begin(seed);
    }

    fn start(&mut self, task: ActionKey, parent: Option<ActionKey>) {
        (**self).start(task, parent);
    }

    fn finish(&mut self, task: ActionKey) {
        (**self).finish(task);
    }

    fn on_enabled(&mut self, task: ActionKey) {
        (**self).on_enabled(task);
    }

    fn on_blocked(&mut self, task: ActionKey) {
        (**self).on_blocked(task);
    }

    fn sent(&mut self, to: ActionKey) {
        (**self).sent(to);
    }

    fn user_op(&mut self, name: &str, by: Option<ActionKey>) {
        (**self).user_op(name, by);
    }

    fn first(&self) -> Option<ActionKey> {
        (**self).first()
    }

    fn delay(&mut self) {
        (**self).delay();
    }
}

/// Names of the explorers that come along; the first is the default.
pub(super) const NAMES: [&str; 3] = ["rtc", "rr", "prr"];

/// The parameter that names one of them.
pub(super) const PARAMETER: Parameter = Parameter {
    name: "explorer",
    help: "the order without delays: `rtc` follows the last message, `rr` goes round in order of \
           spawning, `prr` in an order that is partly random",
    kind: Kind::Word(&NAMES),
};

/// The explorer that was named.
pub(super) fn named(arguments: &Arguments<'_>) -> Box<dyn DelayingExplorer> {
    match arguments.word("explorer") {
        Some(1) => Box::new(RoundRobinExplorer::new()),
        Some(2) => Box::new(ProbabilisticRoundRobinExplorer::new()),
        _ => Box::new(RunToCompletionExplorer::new()),
    }
}
