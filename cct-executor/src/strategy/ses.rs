//! Stratified exhaustive search: every schedule with no delay, then every one with one delay...
//!
//! A. Desai, S. Qadeer and S. Seshia, "Systematic testing of asynchronous reactive systems",
//! ESEC/FSE 2015, section 3, figure 5.
//!
//! Guarantee: without a cache, when stratum `n` is complete every schedule that the
//! [explorer](super::delaying) reaches with at most `n` delays was run exactly once, and none with
//! more. With a cache, every *state* reachable is visited in the end, if the state's hash tells
//! apart whatever matters; a state may be found in a later stratum than the one it belongs to.
//!
//! How: states are not stored but reached again, by running the program from its beginning. A
//! schedule is named by the decisions at which it delays; running it shows the decisions at or
//! after its last delay at which one more delay is possible, and each of those names a schedule
//! with one delay more. Those within the bound are run next, the others wait in the frontier for
//! the bound to rise by `delta`. With a cache, a schedule that comes to a known state is run to its
//! end, but has no further schedules from there.
//!
//! The cache asks for care. The engine's hash of a state consists of pending operations, locks,
//! what channels hold, and what the program observes by [`observe`](mod@crate::observe); it does
//! not see the variables of tasks. Two states that differ only in those look alike, and one of them is
//! not continued. So the cache is off unless asked for, and meant for programs that observe what
//! tells their states apart. Values drawn count as part of the state unless the program observes
//! something. Where a cached run ends with nothing left, no number of schedules is claimed.
//!
//! Departures:
//! - The frontier is keyed by path in any case, as the paper asks for with a bounded cache.
//! - Within one bound, schedules are visited from early delays to late ones, not depth first.
//! - Only decisions with a choice are cached and can be delayed, not every step.
//! - A data choice is a decision of which every later value costs one delay, also where there are
//!   more than two (the paper has booleans only). Weights mean nothing here.
//! - Sealed regions (see [`super::delaying`]) are from the authors' tool, not from the paper.
//!
//! Measured by `strata_are_the_paper_s_tree`, `every_explorer_runs_every_schedule_once` and
//! `with_a_cache_every_state_is_visited` below.

use super::delaying::guide::Guide;
use super::delaying::{self, DelayingExplorer};
use super::description::Description;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::{EnabledSet, Iteration, IterationEnd, Outcome, Pick, SchedulingPoint, Seed};
use cache::StateCache;

mod cache;

/// Runs schedules in the order of their numbers of delays.
#[derive(Clone, Debug)]
pub struct Ses<E> {
    guide: Guide<E>,
    delta: u32,
    max: u32,
    memory_mib: u32,
    cache: Option<StateCache>,
    /// Of the explorer, in all iterations.
    seed: Option<Seed>,
    /// Delays allowed at present.
    bound: u32,
    /// Schedules to come: within the bound, and beyond it.
    work: Vec<Branches>,
    frontier: Vec<Branches>,
    /// Bytes that the two take.
    held: usize,
    /// The present schedule: the positions at which it delays, in order, one entry a delay.
    path: Vec<u32>,
    run: Progress,
    totals: Totals,
}

/// Schedules that extend one path by one delay, at each of some consecutive positions.
#[derive(Clone, Debug)]
struct Branches {
    path: Box<[u32]>,
    next: u32,
    end: u32,
}

impl Branches {
    fn bytes(&self) -> usize {
        // The allocator's share is a guess.
        size_of::<Self>() + size_of_val(&*self.path) + 16
    }
}

/// How far this iteration is.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Decisions so far that can be delayed.
    position: u32,
    /// Delays of the path that have been made.
    made: usize,
    /// Whether one delay more is possible at the last of them.
    more_there: bool,
    /// The first position in a state that was known.
    known: Option<u32>,
    diverged: bool,
}

/// What is known about the whole run.
#[derive(Clone, Debug, Default)]
struct Totals {
    /// Schedules run, by number of delays.
    strata: Vec<u64>,
    /// How many strata were run to their ends.
    complete: usize,
    exhausted: bool,
    cut: u64,
    diverged: u64,
    /// Schedules whose continuation was left to the state being known.
    pruned: u64,
    /// Schedules whose extensions did not fit into memory.
    dropped: u64,
    sealed: bool,
    observed: bool,
}

const MEMORY_MIB: u32 = 256;

impl Ses<Box<dyn DelayingExplorer>> {
    pub(super) const ENTRY: Entry = Entry {
        name: "ses",
        help: "all schedules with no delay, with one, with two...; for a delaying explorer",
        parameters: &[
            delaying::PARAMETER,
            Parameter {
                name: "cache",
                help: "do not continue from a state that looks like a known one; see `observe`",
                kind: Kind::Switch,
            },
            Parameter {
                name: "memory",
                help: "MiB for known states, and as many for schedules to come; 256 if not given",
                kind: Kind::Number(1, 1 << 20),
            },
            Parameter {
                name: "delta",
                help: "by how much the bound on delays rises; 1 if not given",
                kind: Kind::Number(1, 1000),
            },
            Parameter {
                name: "max",
                help: "the greatest number of delays; no bound if not given",
                kind: Kind::Number(0, 1_000_000),
            },
        ],
        build: |arguments| {
            let number = |name| arguments.number(name).map(|number| number as u32);
            let mut ses = Ses::new(delaying::named(arguments));
            if let Some(mib) = number("memory") {
                ses = ses.memory_mib(mib);
            }
            if let Some(delays) = number("delta") {
                ses = ses.delta(delays);
            }
            if let Some(delays) = number("max") {
                ses = ses.max_delays(delays);
            }
            Box::new(ses.cache(arguments.is_on("cache")))
        },
    };
}

impl<E: DelayingExplorer> Ses<E> {
    /// All schedules of an explorer, without a cache.
    pub fn new(explorer: E) -> Self {
        Ses {
            guide: Guide::new(explorer),
            delta: 1,
            max: u32::MAX,
            memory_mib: MEMORY_MIB,
            cache: None,
            seed: None,
            bound: 0,
            work: Vec::new(),
            frontier: Vec::new(),
            held: 0,
            path: Vec::new(),
            run: Progress::default(),
            totals: Totals::default(),
        }
    }

    /// Whether states are remembered, and not continued from again.
    pub fn cache(mut self, on: bool) -> Self {
        self.cache = on.then(|| StateCache::new(bytes(self.memory_mib)));
        self
    }

    /// Memory for known states, and as much again for schedules to come. When the cache is full,
    /// new states are not remembered; schedules that do not fit are dropped, and the report says
    /// so.
    pub fn memory_mib(mut self, mib: u32) -> Self {
        self.memory_mib = mib.max(1);
        let on = self.cache.is_some();
        self.cache(on)
    }

    /// By how much the bound on delays rises when there is nothing left to run within it.
    pub fn delta(mut self, delays: u32) -> Self {
        self.delta = delays.max(1);
        self
    }

    /// The greatest number of delays.
    pub fn max_delays(mut self, delays: u32) -> Self {
        self.max = delays;
        self
    }

    /// Makes the next schedule the present one. Returns whether there is one.
    fn advance(&mut self) -> bool {
        loop {
            while let Some(branches) = self.work.last_mut() {
                if branches.next < branches.end {
                    self.path.clear();
                    self.path.extend_from_slice(&branches.path);
                    self.path.push(branches.next);
                    branches.next += 1;
                    return true;
                }
                self.held -= branches.bytes();
                self.work.pop();
            }
            if self.totals.dropped == 0 && self.totals.diverged == 0 {
                self.totals.complete = self.bound as usize + 1;
            }
            if self.frontier.is_empty() || self.bound >= self.max {
                return false;
            }
            self.bound = self.bound.saturating_add(self.delta).min(self.max);
            std::mem::swap(&mut self.work, &mut self.frontier);
            self.work.reverse();
        }
    }

    /// Whether the state of a decision was known before. It is from now on.
    fn is_known(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> bool {
        let Some(cache) = &mut self.cache else {
            return false;
        };
        let observed = point.parts.observed != 0;
        self.totals.observed |= observed;
        !cache.add(point.fingerprint, observed, enabled)
    }

    /// Decides at a position that may be delayed: by how many delays.
    fn delays(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> u32 {
        let position = self.run.position;
        self.run.position += 1;
        if self.run.made == self.path.len() {
            if self.run.known.is_none() && self.is_known(point, enabled) {
                self.run.known = Some(position);
            }
            return 0;
        }
        let rest = self.path[self.run.made..].iter();
        let wanted = rest.take_while(|&&delayed| delayed == position).count();
        self.run.made += wanted;
        let most = enabled.len() - 1;
        self.run.diverged |= wanted > most;
        self.run.more_there = wanted < most;
        wanted.min(most) as u32
    }

    /// The schedules that extend the one that has just been run.
    fn branch(&mut self) {
        let next = match self.path.last() {
            None => 0,
            Some(&last) => last + u32::from(!self.run.more_there),
        };
        let end = self.run.known.unwrap_or(self.run.position);
        if next >= end {
            return;
        }
        let path = self.path.as_slice().into();
        let branches = Branches { path, next, end };
        self.held += branches.bytes();
        if self.held > bytes(self.memory_mib) {
            self.held -= branches.bytes();
            self.totals.dropped += 1;
        } else if (self.path.len() as u32) < self.bound {
            self.work.push(branches);
        } else {
            self.frontier.push(branches);
        }
    }
}

fn bytes(mib: u32) -> usize {
    (mib as usize) << 20
}

impl<E: DelayingExplorer> Strategy for Ses<E> {
    fn describe(&self) -> String {
        Description::of("ses")
            .unless("explorer", self.guide.explorer.name(), delaying::NAMES[0])
            .given("cache", self.cache.is_some().then_some("on"))
            .unless("memory", self.memory_mib, MEMORY_MIB)
            .unless("delta", self.delta, 1)
            .unless("max", self.max, u32::MAX)
            .text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn systematic(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            parts: true,
            ..Guide::<E>::INTERESTS
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        if self.seed.is_some() && !self.advance() {
            self.totals.exhausted = true;
            return Flow::Exhausted;
        }
        let seed = *self.seed.get_or_insert(iteration.seed);
        self.guide.begin(seed);
        self.run = Progress::default();
        if let Some(cache) = &mut self.cache {
            cache.begin();
        }
        Flow::Continue
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let delays = if self.guide.sealed {
            self.totals.sealed = true;
            0
        } else {
            self.delays(point, enabled)
        };
        let pick = self.guide.choose(enabled, delays);
        if let Some(cache) = &mut self.cache {
            cache.picked(enabled, pick, self.guide.running);
        }
        pick
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.guide.observe(event);
    }

    fn end(&mut self, end: &IterationEnd) {
        let delays = self.path.len();
        if self.totals.strata.len() <= delays {
            self.totals.strata.resize(delays + 1, 0);
        }
        self.totals.strata[delays] += 1;
        self.totals.cut += u64::from(matches!(end.outcome, Outcome::Cut(_)));
        self.totals.pruned += u64::from(self.run.known.is_some());
        if self.run.diverged || self.run.made < delays {
            self.totals.diverged += 1;
        } else {
            self.branch();
        }
    }

    fn explored_all(&self) -> Option<u64> {
        let totals = &self.totals;
        let whole = totals.exhausted && self.frontier.is_empty() && !totals.sealed;
        let losses = totals.cut + totals.diverged + totals.pruned + totals.dropped;
        (whole && losses == 0).then(|| totals.strata.iter().sum())
    }

    fn remarks(&self) -> Vec<String> {
        let totals = &self.totals;
        let mut remarks = Vec::new();
        let counts = |strata: &[u64]| {
            let counts: Vec<String> = strata.iter().map(u64::to_string).collect();
            counts.join(" + ")
        };
        let complete = totals.complete.min(totals.strata.len());
        let (done, begun) = totals.strata.split_at(complete);
        if let [_, ..] = done {
            remarks.push(format!(
                "complete up to {} delays: {} schedules{}",
                done.len() - 1,
                counts(done),
                if totals.pruned > 0 {
                    ", those from known states left out"
                } else {
                    ""
                },
            ));
        }
        if let [_, ..] = begun {
            let first = done.len();
            remarks.push(format!(
                "begun at {first} delays: {} schedules",
                counts(begun)
            ));
        }
        if totals.exhausted && !self.frontier.is_empty() {
            remarks.push(format!("more schedules have over {} delays", self.max));
        }
        if let Some(cache) = &self.cache {
            let by = if totals.observed {
                "what the program observes"
            } else {
                "pending operations and contents only; variables of tasks are not seen, so \
                 schedules that matter may have been left out: use `observe`, or no cache"
            };
            let full = if cache.is_full() {
                ", the cache is full"
            } else {
                ""
            };
            remarks.push(format!(
                "{} states known, {} schedules not continued{full}; states told apart by {by}",
                cache.len(),
                totals.pruned
            ));
        }
        if totals.dropped > 0 {
            remarks.push(format!(
                "memory is full: the extensions of {} schedules were dropped",
                totals.dropped
            ));
        }
        if totals.diverged > 0 {
            remarks.push(format!(
                "{} schedules did not repeat what they extend: the program is not determined by \
                 its decisions",
                totals.diverged
            ));
        }
        if totals.sealed {
            remarks.push("sealed regions were run in one way only".to_owned());
        }
        remarks
    }
}

#[cfg(test)]
#[path = "ses_tests.rs"]
mod tests;
