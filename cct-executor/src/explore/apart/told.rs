//! What is told of the world around the code of a test without an attribute: to who started this process for one
//! iteration of it, or on the screen where a token is replayed.
//!
//! Whether such a test fails its harness knows, and not before its thread has ended. So a process that runs an
//! iteration says what the world has seen; one that is to tell a failure takes the panic in which the code is when
//! the world ends, or the next one after it, or, where the code ends before its world, its last one.

use super::answer::{Answer, End};
use super::order::Order;
use super::tell;
use crate::execution::panics;
use crate::execution::run::{self, Finished};
use crate::execution::{Decider, Detail, lone};
use crate::explore::campaign::Campaign;
use crate::explore::driver::Driver;
use crate::explore::replay::Replay;
use crate::explore::result::{FailureReport, Origin, Report, StoppedBy};
use crate::explore::shrink::{self, Guide, Tried};
use crate::explore::worker::described;
use crate::strategy::{Flow, RoundRobin, Strategy};
use crate::words::explanation::Explanation;
use crate::words::{Failure, Outcome, ReplayToken, WorldConfig};
use cct_interpose::Clocks;
use std::cell::{Cell, RefCell};
use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;

/// Who reads it.
pub(in crate::explore) enum Where {
    File(PathBuf),
    Screen,
}

/// Tells what comes of an order.
pub(in crate::explore) struct Teller {
    campaign: Arc<Campaign>,
    order: Order,
    to: Where,
}

/// A world that is over.
struct Left {
    teller: Teller,
    steps: u64,
    tried: Tried,
    explanation: Explanation,
}

thread_local! {
    /// That of this thread, which did not fail by itself, and whose code goes on.
    static LEFT: RefCell<Option<Left>> = const { RefCell::new(None) };
    /// The code of this thread has ended, before its world.
    static ENDED: Cell<bool> = const { Cell::new(false) };
}

/// The code of this thread has ended: should it have panicked, that was its last panic.
pub(in crate::explore) fn code_has_ended() {
    ENDED.set(true);
}

impl Teller {
    pub(in crate::explore) fn new(campaign: Arc<Campaign>, order: Order, to: Where) -> Teller {
        Teller {
            campaign,
            order,
            to,
        }
    }

    /// Begins the world that was ordered around the code of this thread, where its clocks stand.
    ///
    /// # Errors
    /// When the operating system has no memory for another stack.
    pub(in crate::explore) fn begin(self, clocks: Clocks) -> io::Result<lone::LoneWorld> {
        let (decider, world) = (self.decider(), self.world());
        let detail = match &self.order {
            Order::Tell(..) => Detail::Stacks,
            Order::Try(_, given) => given.detail(),
            _ => Detail::Nothing,
        };
        if matches!(self.order, Order::Tell(..) | Order::Try(..)) {
            panics::then(next_panic);
        }
        run::set_iteration(self.order.index());
        let scenario = self.campaign.scenario.clone();
        let teller = RefCell::new(Some(self));
        let told = move |finished| {
            if let Some(teller) = teller.take() {
                teller.over(finished);
            }
        };
        lone::LoneWorld::begin(world, decider, scenario, detail, false, clocks, told)
    }

    fn decider(&self) -> Box<dyn Decider> {
        let strategy: Box<dyn Strategy> = match &self.order {
            Order::Tell(_, token, ..) => return Box::new(Guide::along(&token.trace)),
            Order::Try(_, given) => return Box::new(given.guide()),
            Order::Again(_, token) => return Box::new(Replay::new(&token.trace)),
            Order::Plain => Box::new(RoundRobin::new()),
            Order::Search(..) => (self.campaign.factory)(),
        };
        let mut driver = Driver::new(strategy);
        if let Order::Search(_, Some(length)) = self.order {
            driver.strategy.expect_decisions(length);
        }
        let flow = driver
            .strategy
            .begin(&self.campaign.iteration(self.order.index()));
        debug_assert!(flow == Flow::Continue, "a systematic strategy");
        Box::new(driver)
    }

    fn world(&self) -> WorldConfig {
        let mut world = self.campaign.world(self.order.index());
        if let Order::Again(_, token) | Order::Tell(_, token, ..) = &self.order {
            token.configure(&mut world);
        }
        if let Order::Try(_, given) = &self.order {
            world.stop_after = given.steps_max;
        }
        world
    }

    fn over(self, finished: Finished) {
        if !matches!(self.order, Order::Try(..) | Order::Tell(..)) {
            return self.answer(finished);
        }
        let steps = finished.end.steps;
        let (tried, explanation) = Tried::left_by(finished);
        let mut left = Left {
            teller: self,
            steps,
            tried,
            explanation: explanation.unwrap_or_default(),
        };
        let ended = || ENDED.get().then(panics::last_of_the_code).flatten();
        if let Some(kind) = panics::unwinding().or_else(ended) {
            let failed = matches!(left.tried.outcome, Outcome::Failed(_));
            if !failed {
                left.tried.outcome = Outcome::Failed(Failure { kind, step: steps });
            }
        }
        left.tell();
        LEFT.set(matches!(left.tried.outcome, Outcome::Passed).then_some(left));
    }

    /// What an iteration leaves behind.
    fn answer(self, finished: Finished) {
        let Where::File(file) = &self.to else { return };
        let end = finished.end;
        let driver = finished.decider.into_any().downcast::<Driver>();
        let world = self.campaign.world(self.order.index());
        let name = &self.campaign.checker.name;
        let answer = Answer {
            end: End::from(&end.outcome),
            steps: end.steps,
            decisions: end.decisions,
            schedule_hash: end.schedule_hash,
            joined_panics: finished.joined_panics,
            leaky: finished.leaked > 0,
            strategy: driver.map_or(String::new(), |driver| described(&*driver.strategy)),
            token: Some(ReplayToken::new(
                name,
                &world,
                run::last_trace(),
                end.schedule_hash,
            )),
            harvest: run::take_harvest(),
        };
        // Who finds nothing takes it that there was no world.
        let _ = std::fs::write(file, answer.to_bytes());
    }
}

/// The code goes on after its world, and panics.
fn next_panic() {
    if let Some(mut left) = LEFT.take() {
        let (kind, step) = (panics::failure_of(None), left.steps);
        left.tried.outcome = Outcome::Failed(Failure { kind, step });
        left.tell();
    }
}

impl Left {
    fn tell(&self) {
        match (&self.teller.order, &self.tried.outcome) {
            (Order::Try(index, _), _) => self.tell_attempt(*index),
            (Order::Tell(index, token, strategy, shortened), Outcome::Failed(failure)) => {
                let (campaign, to) = (&self.teller.campaign, &self.teller.to);
                let origin = match to {
                    Where::File(_) => Origin::Iteration(*index),
                    Where::Screen => Origin::Token,
                };
                let (seed, story) = (campaign.iteration(*index).seed, self.explanation.clone());
                let (failure, token) = (failure.clone(), token.clone());
                let found = FailureReport {
                    departures: Some(shrink::told(&self.tried, &story)),
                    shortened: shortened.as_deref().cloned(),
                    ..FailureReport::new(failure, origin, strategy.clone(), seed, token, story)
                };
                let report = Report {
                    iterations: index + 1,
                    stopped_by: StoppedBy::Failure,
                    failure: Some(found),
                    ..campaign.blank_report()
                };
                match to {
                    Where::File(file) => tell(file, &report, None),
                    Where::Screen => {
                        let _ = io::stderr().write_all(report.text().as_bytes());
                    }
                }
            }
            _ => {}
        }
    }

    fn tell_attempt(&self, index: u64) {
        let (campaign, Where::File(file)) = (&self.teller.campaign, &self.teller.to) else {
            return;
        };
        let (name, world) = (&campaign.checker.name, campaign.world(index));
        let tried = &self.tried;
        let token = ReplayToken::new(name, &world, tried.trace.clone(), tried.schedule_hash);
        // Who finds nothing takes it that there was no world.
        let _ = std::fs::write(file, tried.to_bytes(&token));
    }
}
