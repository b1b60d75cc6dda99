//! Exploring a test without an attribute: each iteration is the whole test, in a process of its own.
//!
//! 1. The plain schedule comes first. If the test does not pass in it, or without a choice, there is nothing to
//!    explore: what it does where it is run once says more.
//! 2. Only a failure that fails again counts. Such a test was not written to be explored, and may do what nobody
//!    controls: that is said, and no failure.

use super::answer::{Answer, End, Names};
use super::forks::Done;
use super::order::Order;
use super::plain_world::{PlainWorld, worth_exploring};
use super::spawned::{Left, Random, Spawned};
use super::{Says, understand};
use crate::explore::board::Found;
use crate::explore::campaign::Campaign;
use crate::explore::lone::{SPINS, STANDS_STILL};
use crate::explore::shrink::{self, Given, Tried};
use crate::explore::worker::now;
use crate::strategy::Lanes;
use crate::words::{NONDETERMINISM, Outcome, ReplayToken};
use std::fmt;
use std::io;
use std::process::ExitStatus;
use std::sync::Arc;

/// What has come of it.
pub(in crate::explore) enum Explored {
    /// Nothing failed; or nothing could be explored, and why. A line.
    Passed(String),
    /// The report of a failure in another order than the plain one.
    Failed(String),
    /// Why it cannot be run, not even once.
    Unable(String),
}

/// Why a process has nothing to say of its iteration.
#[derive(Debug)]
pub(super) enum Lost {
    NoProcess(io::Error),
    /// For several seconds neither the world nor the test's thread did anything.
    StandsStill,
    /// For several seconds the test's thread was busy and the world made no step.
    Spins,
    /// No world was opened on the test's thread, or none was closed there.
    NoWorld(ExitStatus),
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Lost::NoProcess(error) => write!(f, "no process for it could be had ({error})"),
            Lost::StandsStill => f.write_str(
                "it waits for something outside of its world, such as a thread that it has started, which cannot \
                 use its runtime, or a channel of std by which tasks are to tell its own thread something",
            ),
            Lost::Spins => f.write_str(
                "in an order that was tried a poll spins, or has work for more than ten seconds of processor time",
            ),
            Lost::NoWorld(status) => write!(
                f,
                "its runtime is not gone when it ends, on the test's own thread ({status})"
            ),
        }
    }
}

/// Explores a test without an attribute: those of its worlds in which there is the most to choose. `campaign_of` has a
/// campaign for its world of this number.
///
/// # Errors
/// When the strategy cannot be used, or a variable does not fit.
pub(in crate::explore) fn explore_plain(
    test: &str,
    campaign_of: &dyn Fn(u32) -> io::Result<Campaign>,
) -> io::Result<Explored> {
    let first = Arc::new(campaign_of(0)?);
    first.not_systematic().map_err(io::Error::other)?;
    let decisions = match first.plain_decisions() {
        Ok(decisions) => decisions,
        // Here threads may take part, which could not there. But should it wait nevertheless, all tests of this
        // process would with it.
        Err(lost @ Lost::StandsStill) => {
            return Ok(match stands_still_with_threads(test) {
                false => unable(
                    test,
                    "it waits for threads that it has started, which nobody can repeat",
                ),
                true => Explored::Unable(format!("cct: {test} cannot be run: {lost}\n")),
            });
        }
        Err(lost) => return Ok(unable(test, &lost.to_string())),
    };
    let Some(decisions) = decisions else {
        let why =
            "where it would be explored, and threads cannot take part, it fails in that order";
        return Ok(unable(test, why));
    };
    let worlds = worth_exploring(&decisions);
    if worlds.is_empty() {
        return Ok(unable(test, "there is nothing to choose"));
    }
    let mut lines = String::new();
    for &world in &worlds {
        let mut campaign = campaign_of(world as u32)?;
        campaign.checker.share_among(worlds.len() as u32);
        match Arc::new(campaign).explore_world(decisions[world]) {
            Explored::Passed(line) => lines.push_str(&line),
            failed => return Ok(failed),
        }
    }
    Ok(Explored::Passed(lines))
}

/// Nothing could be explored, and why.
fn unable(name: &str, why: &str) -> Explored {
    Explored::Passed(format!("cct: {name} was run once, in plain order: {why}\n"))
}

impl Campaign {
    /// Explores one world of a test, which takes so many decisions in plain order.
    fn explore_world(self: &Arc<Self>, decisions: u64) -> Explored {
        let begin = now();
        let unable = |why: &str| unable(&self.checker.name, why);
        let mut done;
        let mut workers = self.worker_count(Lanes::Independent);
        loop {
            done = Done::new(Some(decisions));
            match self.in_turn(workers, &mut done) {
                Ok(None) => {}
                Ok(Some(_)) => return unable("one of its polls did not return in another order"),
                Err(why) => return unable(&why),
            }
            let Some(found) = &done.found else { break };
            if let Some(report) = self.tell(found) {
                return Explored::Failed(report);
            }
            // Two of them may have got in each other's way, in a file of a fixed name maybe.
            if workers == 1 {
                return unable(
                    "in others it fails, and not again with the same decisions: something takes part that is not \
                     under control (threads, files, the wall clock)",
                );
            }
            workers = 1;
        }
        let mut report = self.merge(vec![done.yielded], None);
        (report.search, report.elapsed) = (begin.elapsed(), begin.elapsed());
        Explored::Passed(report.text())
    }

    /// How many decisions each world of the test takes in plain order. `None` if the test does not pass in it.
    fn plain_decisions(&self) -> Result<Option<Vec<u64>>, Lost> {
        let process = self.ordered(0, &Order::Plain).map_err(Lost::NoProcess)?;
        let left = process.wait().map_err(Lost::NoProcess)?;
        let others = left.others.clone();
        let answer = Answer::of_left(left, &mut Names::default())?;
        let all = |first| std::iter::once(first).chain(others).collect();
        Ok((answer.end == End::Passed).then(|| all(answer.decisions)))
    }

    /// Whether a test comes to its world only where others have ended.
    pub(super) fn is_later_world(&self) -> bool {
        self.plain.as_ref().is_some_and(|plain| plain.world > 0)
    }

    /// A process that does as it is ordered with this campaign's world, about the iteration of this number.
    pub(super) fn ordered(&self, index: u64, order: &Order) -> io::Result<Spawned> {
        let Some(PlainWorld { test, world }) = &self.plain else {
            return Err(io::ErrorKind::Unsupported.into());
        };
        let random = Random {
            seed: self.seed,
            outside: self.world(index).noise,
        };
        Spawned::begin(test, random, *world, order)
    }

    /// The report of a failure. `None` if it does not fail again.
    fn tell(&self, found: &Found) -> Option<String> {
        let (index, world) = (found.index, self.world(found.index));
        let token_of = |trace, hash| ReplayToken::new(&self.checker.name, &world, trace, hash);
        let whole = token_of(found.trace.clone(), found.schedule_hash);
        let order = |token, shortened| Order::Tell(index, token, found.strategy.clone(), shortened);
        let as_found = self.verdict(&order(whole.clone(), None))?;
        let tries = |given| self.attempt(index, given);
        let shorter = tries(Given::along(&whole))
            .filter(|_| self.checker.shrink)
            .and_then(|tried| shrink::shorter(Box::new(tries), tried, &whole));
        let told = shorter.and_then(|(best, how)| {
            let token = token_of(best.trace, best.schedule_hash);
            self.verdict(&order(token, Some(Box::new(how))))
        });
        Some(told.unwrap_or(as_found))
    }

    /// The report that a process writes that fails as it is ordered, if it does.
    fn verdict(&self, order: &Order) -> Option<String> {
        let left = self.ordered(order.index(), order).ok()?.wait().ok()?;
        let verdict = understand(std::str::from_utf8(&left.answer).ok()?)?;
        let Says::Failed(class) = verdict.says else {
            return None;
        };
        let controlled = !["uncontrolled concurrency", NONDETERMINISM].contains(&&*class);
        (controlled && !left.status.success()).then_some(verdict.text)
    }

    /// An attempt at a shorter schedule.
    fn attempt(&self, index: u64, given: Given) -> Option<Tried> {
        let order = Order::Try(index, Box::new(given));
        let left = self.ordered(index, &order).ok()?.wait().ok()?;
        let mut tried = Tried::from_bytes(&left.answer)?;
        if left.status.success() {
            tried.outcome = Outcome::Passed;
        }
        Some(tried)
    }
}

/// Whether the test waits for something outside of its world even where threads take part.
fn stands_still_with_threads(test: &str) -> bool {
    let left = Spawned::once(test).and_then(Spawned::wait);
    left.is_ok_and(|left| left.status.code() == Some(STANDS_STILL))
}

impl Answer {
    /// What an iteration of the whole test says: whether it passes, its harness does.
    pub(super) fn of_spawned(process: Spawned, names: &mut Names) -> Result<Answer, Lost> {
        Answer::of_left(process.wait().map_err(Lost::NoProcess)?, names)
    }

    fn of_left(left: Left, names: &mut Names) -> Result<Answer, Lost> {
        match left.status.code() {
            Some(STANDS_STILL) => return Err(Lost::StandsStill),
            Some(SPINS) => return Err(Lost::Spins),
            _ => {}
        }
        let Some(mut answer) = Answer::from_bytes(&left.answer, names) else {
            return Err(Lost::NoWorld(left.status));
        };
        let passes = left.status.success();
        match answer.end {
            End::Passed if !passes => answer.end = End::Failed,
            End::Failed if passes => answer.end = End::Passed,
            _ => {}
        }
        Ok(answer)
    }
}
