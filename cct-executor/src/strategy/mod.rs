//! Strategies: who chooses. One file each; pure (no I/O, no clock, no budget, no printing).
//!
//! A [`Strategy`] is told about an iteration, asked at every decision that has at least two
//! choices, and told how the iteration ended. Data choices come through the same [`pick`] as
//! scheduling, so that a learner treats all nondeterminism alike.
//!
//! 1. The only randomness is a stream of the iteration's seed.
//! 2. Whatever carries over from one iteration to the next stays within a *lane*: a fixed number of
//!    strategy instances (see [`Strategy::lanes`]), each with its own share of the iterations. The
//!    number of worker threads therefore changes nothing.
//!
//! Read next: [`random`], the smallest; [`spec`] for strategies by name.
//!
//! [`pick`]: Strategy::pick

mod backtracking;
pub mod bonus_max;
mod chains;
pub mod delaying;
mod description;
mod draw;
pub mod exhaustive;
pub mod fest;
pub mod greedy;
pub mod idb;
pub mod irs;
mod length;
mod memory;
pub mod negrl_visits;
mod patience;
pub mod pct;
pub mod pct_psharp;
pub mod pctcp;
mod places;
pub mod portfolio;
pub mod pos;
pub mod preemption_bounding;
mod profile;
pub mod ql;
mod qtable;
pub mod random;
mod ranking;
pub mod round_robin;
mod seen;
pub mod ses;
mod shares;
pub mod spec;
pub mod ss;
pub mod surw;
mod tail;
mod tape;
mod timeline;
mod tournament;
pub mod urw;
pub mod waypoint;

#[cfg(test)]
mod contract;
#[cfg(test)]
mod model;
#[cfg(test)]
mod odds;
#[cfg(test)]
mod threads;

pub use bonus_max::BonusMax;
pub use delaying::{ActionOrder, DelayingExplorer};
pub use exhaustive::Exhaustive;
pub use fest::Fest;
pub use greedy::Greedy;
pub use idb::Idb;
pub use irs::Irs;
pub use pct::Pct;
pub use pct_psharp::PctPsharp;
pub use pctcp::Pctcp;
pub use portfolio::Portfolio;
pub use pos::Pos;
pub use preemption_bounding::PreemptionBounding;
pub use ql::Ql;
pub use qtable::settings::{StateView, Update};
pub use random::Random;
pub use round_robin::RoundRobin;
pub use ses::Ses;
pub use spec::{StrategyError, StrategySpec};
pub use ss::Ss;
pub use surw::Surw;
pub use urw::Urw;
pub use waypoint::Waypoint;

pub use crate::words::{Interests, StepEvent};

use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};

/// Whether a strategy has anything left to explore.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Flow {
    /// Run this iteration.
    Continue,
    /// Everything was explored; do not run it.
    Exhausted,
}

/// How a strategy's instances share the iterations of a run.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Lanes {
    /// Nothing carries over: any instance may run any iteration.
    Independent,
    /// This many instances; instance `i` runs iterations `i`, `i + n`, `i + 2n`... in order.
    Fixed(u32),
}

/// Chooses decisions, and may learn across iterations.
pub trait Strategy: Send {
    /// Its name with all parameters, as a user would write it: `pct:d=3`.
    fn describe(&self) -> String;

    /// How instances share the iterations.
    fn lanes(&self) -> Lanes {
        Lanes::Independent
    }

    /// The one of its fixed lanes whose iterations are at granularity `spawn`, where nobody has chosen a granularity.
    fn finer_lane(&self) -> Option<u32> {
        None
    }

    /// The one of its fixed lanes in whose iterations what timers set off lags up to two milliseconds behind the clock, where
    /// nobody has chosen a clock: see [`Clock::Lagging`](crate::words::Clock::Lagging).
    fn lagging_lane(&self) -> Option<u32> {
        None
    }

    /// Whether every instance begins with the run's iteration 0, to learn from it what all need to
    /// know (how long the program is, say). An instance whose share does not contain iteration 0
    /// runs it first nevertheless; that run is not counted. With [`Lanes::Independent`] nothing may
    /// be learnt afterwards.
    fn primed(&self) -> bool {
        false
    }

    /// Whether it takes up decisions of earlier iterations again, and so counts on a program in which
    /// nothing else changes. Then the noise, and with it the order of a `HashMap`, is that of iteration
    /// 0 in all of them; else each iteration has its own.
    fn systematic(&self) -> bool {
        false
    }

    /// Which events [`observe`](Self::observe) is called for.
    fn interests(&self) -> Interests {
        Interests::default()
    }

    /// An iteration is about to begin.
    fn begin(&mut self, iteration: &Iteration) -> Flow;

    /// Chooses. Asked only when there are at least two choices.
    ///
    /// It decides for the program, and is no part of it: what the program may call, such as `spawn` or `nondet`, it must
    /// not. A panic here ends the run, which says whose it was.
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick;

    /// Something happened.
    fn observe(&mut self, event: &StepEvent<'_>) {
        let _ = event;
    }

    /// The iteration is over.
    fn end(&mut self, end: &IterationEnd) {
        let _ = end;
    }

    /// An iteration takes so many decisions. Told to instances that see one iteration only, each in a process of
    /// its own, and so could not learn it.
    fn expect_decisions(&mut self, decisions: u64) {
        let _ = decisions;
    }

    /// How many schedules exist, once all have been explored.
    fn explored_all(&self) -> Option<u64> {
        None
    }

    /// Parameters that this instance has adapted, for reports (`k=1200`); empty if none.
    fn adapted(&self) -> String {
        String::new()
    }

    /// What the user should know when the run is over, a line each: a bound that was completed, a
    /// table that was full.
    fn remarks(&self) -> Vec<String> {
        Vec::new()
    }

    /// What this instance has learnt, for a later run; `None` if it learns nothing worth keeping.
    fn save(&self) -> Option<Vec<u8>> {
        None
    }

    /// Takes in what an instance with the same description has saved.
    ///
    /// # Errors
    /// If the bytes are not what [`save`](Self::save) makes. The instance is unchanged then.
    fn load(&mut self, saved: &[u8]) -> Result<(), String> {
        let _ = saved;
        Err(format!(
            "strategy `{}` learns nothing that could be loaded",
            self.describe()
        ))
    }
}
