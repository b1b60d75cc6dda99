//! Whether a failure takes threads: the search once more, at granularity `await`.
//!
//! A failure that was found in the middle of a poll raises one question first: can the runtime that
//! this program runs on do that? So strategy, seed and settings are tried again where polls are
//! never suspended, as on a single thread, and the report says what came of it. Where one thread is
//! enough, a second question follows: does it take another order than tokio's?
//!
//! 1. Nothing of the run before it changes: no count, no table, no trace. It has threads of its own.
//! 2. How far it looks follows from the run; wall-clock time can only cut it short.
//! 3. A run that passes does not come here.

use super::board::{Board, Message, Pulse};
use super::campaign::Campaign;
use super::checker::{Checker, Chosen, Factory};
use super::knowledge::Knowledge;
use super::result::{AtAwait, InOrder, Report};
use super::same::{of_order, same};
use super::worker::now;
use crate::strategy::{Random, RoundRobin, Strategy};
use crate::words::{FailureKind, Granularity, Limit, WorldConfig};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::RecvTimeoutError;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// Iterations that are tried, if the run has as many...
const ITERATIONS: u64 = 1_000;
/// ...and at least so many times those that it took to fail.
const TIMES: u64 = 4;
/// Iterations in tokio's order, with other values each.
const DRAWN: u64 = 100;
/// The report does not come later than that.
const PATIENCE: Duration = Duration::from_secs(1);
/// How long threads have, of that, to end the iterations they are in.
const LAST_ITERATIONS: Duration = Duration::from_millis(100);
/// How often threads are looked at.
const LOOK: Duration = Duration::from_millis(20);

/// The failure that a search is about, and what else it comes across.
pub(super) struct Sought {
    kind: FailureKind,
    /// The first failure of another kind, and its iteration.
    other: Mutex<Option<(u64, FailureKind)>>,
    ended: AtomicU64,
    cut: AtomicU64,
}

impl Sought {
    fn new(kind: FailureKind) -> Sought {
        Sought {
            kind,
            other: Mutex::default(),
            ended: AtomicU64::new(0),
            cut: AtomicU64::new(0),
        }
    }

    /// An iteration is over.
    pub(super) fn count(&self, cut: Option<Limit>) {
        self.ended.fetch_add(1, Ordering::Relaxed);
        self.cut
            .fetch_add(u64::from(cut.is_some()), Ordering::Relaxed);
    }

    /// Whether this is the failure in question. If it is another, it is kept here.
    pub(super) fn is(&self, index: u64, kind: &FailureKind) -> bool {
        if same(&self.kind, kind) {
            return true;
        }
        let mut other = self.other.lock().unwrap_or_else(PoisonError::into_inner);
        if other.as_ref().is_none_or(|(earlier, _)| index < *earlier) {
            *other = Some((index, kind.clone()));
        }
        false
    }
}

impl Campaign {
    /// Tries the scenario at granularity `await`, if something failed at a finer one; and, if one
    /// thread is enough, in the order of tokio's `current_thread` runtime.
    pub(super) fn try_await(self: &Arc<Self>, report: &mut Report) {
        let Some(failure) = &mut report.failure else {
            return;
        };
        let checker = &self.checker;
        if !checker.await_check || !failure.reproduced || !of_order(&failure.kind) {
            return;
        }
        let to_failure = failure.iteration().saturating_add(1);
        let checker = Checker {
            iterations: checker
                .iterations
                .min(ITERATIONS)
                .max(to_failure.saturating_mul(TIMES)),
            determinism_check: false,
            keep_going: false,
            knowledge: None,
            world: WorldConfig {
                granularity: Granularity::Await,
                ..checker.world.clone()
            },
            ..checker.clone()
        };
        let mut one_thread = true;
        if self.checker.world.granularity != Granularity::Await {
            failure.at_await = self.try_with(checker.clone(), self.strategies(), &failure.kind);
            let found = failure.at_await.as_ref();
            one_thread = found.is_some_and(|found| found.same.is_some());
        }
        // Without a decision there is no other order.
        if one_thread && !failure.token.trace.decisions().is_empty() {
            failure.in_order = self.try_in_order(checker, &failure.kind);
        }
    }

    /// Tries the order of tokio's `current_thread` runtime: with the first of all values, and then with some that are
    /// drawn, as there.
    fn try_in_order(&self, checker: Checker, kind: &FailureKind) -> Option<InOrder> {
        let tried = |iterations, strategy: fn() -> RoundRobin| {
            let checker = Checker {
                iterations,
                ..checker.clone()
            };
            let made = move || Box::new(strategy()) as Box<dyn Strategy>;
            self.try_with(checker, Arc::new(made), kind)
        };
        let plain = tried(1, RoundRobin::new)?;
        let fails = plain.same.is_some();
        if !fails && !plain.passes_whole() {
            return Some(InOrder::Otherwise);
        }
        let drawn = tried(DRAWN, RoundRobin::with_random_data);
        Some(match (fails, drawn) {
            (true, Some(drawn)) if drawn.passes_whole() => InOrder::FailsByFirstValues,
            (true, _) => InOrder::Fails,
            (false, Some(drawn)) if drawn.same.is_some() => InOrder::FailsByValues,
            (false, _) => InOrder::Passes,
        })
    }

    /// Who chooses when it is tried again.
    fn strategies(&self) -> Factory {
        match &self.checker.strategy {
            // What is the user's own may keep count of what it is asked.
            Chosen::Made(_) => Arc::new(|| Box::new(Random::new())),
            Chosen::Text(_) => self.factory.clone(),
        }
    }

    fn try_with(&self, checker: Checker, factory: Factory, kind: &FailureKind) -> Option<AtAwait> {
        let scenario = self.scenario.clone();
        let nothing = Knowledge::default();
        let campaign = Campaign::new(checker, scenario, factory, self.seed, None, nothing);
        Arc::new(campaign).look_for(kind.clone())
    }

    /// Searches for this failure. `None` if a worker could not do its work.
    fn look_for(self: &Arc<Self>, kind: FailureKind) -> Option<AtAwait> {
        let end = now() + PATIENCE;
        let board = Arc::new(Board::new(None, Some(Sought::new(kind))));
        let receiver = self.start(&board).ok()?;
        let sought = board.sought.as_ref()?;
        let mut pulses: Vec<Pulse> = Vec::new();
        let mut all = false;
        let mut out_of_time = false;
        let mut last_words = None;
        while last_words.is_none() {
            let left = end.saturating_duration_since(now());
            if left <= LAST_ITERATIONS {
                board.stop();
                out_of_time = true;
            }
            match receiver.recv_timeout(left.min(LOOK)) {
                Ok(Message::Pulse(pulse)) => {
                    pulses.retain(|old| old.worker != pulse.worker);
                    pulses.push(pulse);
                }
                Ok(Message::Done(done)) => all |= done.all_schedules.is_some(),
                Ok(Message::Broken(_)) => {
                    board.stop();
                    return None;
                }
                Err(RecvTimeoutError::Disconnected) => break,
                Err(RecvTimeoutError::Timeout) if left.is_zero() => {
                    // At this granularity a lock of the standard library may block the thread for good.
                    pulses.iter().for_each(|pulse| pulse.visitors.give_up());
                    break;
                }
                Err(RecvTimeoutError::Timeout) => last_words = pulses.iter().find_map(heard),
            }
        }
        board.stop();
        let found = board.found.lock().unwrap_or_else(PoisonError::into_inner);
        let mut first = found.as_ref().map(|found| found.index);
        if let Some((index, kind)) = last_words {
            sought.count(None);
            if sought.is(index, &kind) {
                first = first.or(Some(index));
            }
        }
        let other = sought.other.lock().unwrap_or_else(PoisonError::into_inner);
        let schedules = sought.ended.load(Ordering::Relaxed);
        Some(AtAwait {
            schedules,
            cut: sought.cut.load(Ordering::Relaxed),
            all,
            out_of_time: out_of_time && !all && schedules < self.checker.iterations,
            same: first.map(|index| index + 1),
            other: other.clone().map(|(index, kind)| (index + 1, kind)),
        })
    }
}

impl AtAwait {
    /// Whether nothing failed, and nothing was cut.
    fn passes_whole(&self) -> bool {
        let failed = self.same.is_some() || self.other.is_some();
        self.schedules > 0 && !failed && self.cut == 0 && !self.out_of_time
    }
}

/// The last words of a thread that would have aborted the process, and its iteration. The thread is
/// lost, as it is in a run.
fn heard(pulse: &Pulse) -> Option<(u64, FailureKind)> {
    let kind = pulse.last_words.take()?;
    pulse.visitors.give_up();
    Some((pulse.iteration.load(Ordering::Relaxed), kind))
}
