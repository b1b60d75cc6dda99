//! Portfolio: several strategies take turns, and those that still find new states get more of them.
//!
//! The idea of rotating strategies is Coyote's (P. Deligiannis, A. Senthilnathan, F. Nayyar,
//! C. Lovett and A. Lal, "Industrial-strength controlled concurrency testing for C# programs with
//! Coyote", TACAS 2023). That the budget follows what is found is ours, a multi-armed bandit.
//!
//! Guarantee: of `m` members each gets at least 3 of any `10 m` consecutive iterations of a lane,
//! up to rounding, and so finds what it would find alone with at most about
//! `10 m / 3` times as many iterations, as far as it finds it before the tail (see below). The first
//! `m` iterations of a run see each member once.
//!
//! How: the first turns go round. Then a member's share is a floor of 3/10 of the
//! budget, divided equally, plus 7/10 in proportion to the new abstract states per decision that it
//! has found lately. Turns are dealt out by credit: each member is credited its share at every
//! turn, the one with most credit has the turn and pays for it. A state is new if no member of the
//! lane has been asked in it before.
//!
//! In the iterations of the last lane but one what timers set off lags up to two milliseconds behind the clock, where nobody has
//! chosen a clock: some races are between a timer and work that is slow to begin, which under clock `strict` never meet.
//!
//! A member may be unfair, so a long iteration has a tail that is a random walk (see the module
//! `tail`): it begins after ten times the decisions that an iteration of the member with the shortest
//! ones takes lately, and not before 1,000. The member is not asked in the tail, and learns from
//! what was before.
//!
//! The last lane of the usual portfolio runs at granularity `spawn`, where nobody has chosen another: some races take a
//! switch between `spawn` and what the spawner does next, or between a synchronous look and what is done upon it, and no
//! number of iterations at `op` shows them. Not at `sync`, where a switch may come in the middle of calls that set a
//! thread-local for their own length, as serializers do, and a failure may be none on threads: of 23 tests of remoc that
//! failed there and not at `op`, 13 were false alarms.
//!
//! Departures:
//! - Each lane has members and states of its own, and numbers their iterations.
//! - Where a member wants to be primed the run's iteration 0 is driven by the first such member, and
//!   the others that want it are asked as well but not obeyed. The run counts for no share.
//! - At most 2^19 states are kept; beyond that none is new and shares tend to equality.
//! - A member that has explored everything is left out.
//!
//! Measured by `no_member_starves` and `the_budget_follows_new_states` below; nothing there is random.

use super::seen::Seen;
use super::spec::{Entry, StrategyError, StrategySpec};
use super::tail::Tail;
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint};

/// Members unless others are given.
const USUAL: [&str; 8] = [
    "random",
    "urw",
    "pos",
    "ql:memory=32",
    "surw",
    "pct:d=3",
    "pctcp:d=3",
    "pct:d=2",
];
/// The part of the budget that is shared equally.
const FLOOR: f64 = 0.3;
/// How much the latest iteration of a member counts against the earlier ones.
const LATEST: f64 = 0.25;
/// Decisions of a member before the tail, at least.
const HEAD_MIN: u64 = 1_000;
/// How many times the decisions of a usual iteration.
const HEADS: f64 = 10.0;
/// Places for states.
const PLACES_MAX: usize = 1 << 20;
/// At least so many lanes.
const LANES_MIN: u32 = 4;

/// Several strategies in turn.
pub struct Portfolio {
    members: Vec<Member>,
    is_usual: bool,
    seen: Seen,
    /// Whose turn it is.
    turn: Turn,
    /// Turns that went to single members.
    turns: u64,
    /// The states in which this iteration took its decisions. Whether they are new is looked up at
    /// the end: all at once that is cheaper than one between two steps each.
    visited: Vec<u64>,
    tail: Tail,
}

struct Member {
    strategy: Box<dyn Strategy>,
    exhausted: bool,
    /// New states per decision lately; none before its first turn.
    gain: Option<f64>,
    /// Decisions of an iteration lately.
    length: f64,
    credit: f64,
    turns: u64,
    /// The number of its next iteration.
    next: u64,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Turn {
    Member(usize),
    /// All members that want it are primed; this one decides.
    Priming(usize),
}

impl Portfolio {
    pub(super) const ENTRY: Entry = Entry {
        name: "portfolio",
        help: "several strategies in turn, those that find new states more often",
        parameters: &[],
        build: |_| Box::new(Portfolio::new()),
    };

    /// The usual members: random, urw, pos, ql, surw, pctcp and two of pct.
    pub fn new() -> Portfolio {
        let members = USUAL.map(|text| StrategySpec::parse(text).expect("cct bug: a bad member"));
        Portfolio::with(&members, true)
    }

    /// These members, given as strategies are by name.
    ///
    /// ```
    /// use cct_executor::strategy::{Portfolio, Strategy};
    ///
    /// let portfolio = Portfolio::of(["random", "pct:d=2"]).unwrap();
    /// assert_eq!(portfolio.describe(), "portfolio of random, pct:d=2");
    /// ```
    ///
    /// # Errors
    /// If one of the texts names no strategy.
    ///
    /// # Panics
    /// If there are none.
    #[track_caller]
    pub fn of<'a>(members: impl IntoIterator<Item = &'a str>) -> Result<Portfolio, StrategyError> {
        let members: Result<Vec<_>, _> = members.into_iter().map(StrategySpec::parse).collect();
        let members = members?;
        assert!(
            !members.is_empty(),
            "portfolio: at least 1 member is needed"
        );
        Ok(Portfolio::with(&members, false))
    }

    fn with(members: &[StrategySpec], is_usual: bool) -> Portfolio {
        let member = |spec: &StrategySpec| {
            let strategy = spec.build();
            Member {
                exhausted: false,
                gain: None,
                length: 0.0,
                credit: 0.0,
                turns: 0,
                next: u64::from(strategy.primed()),
                strategy,
            }
        };
        Portfolio {
            members: members.iter().map(member).collect(),
            is_usual,
            seen: Seen::new(PLACES_MAX),
            turn: Turn::Member(0),
            turns: 0,
            visited: Vec::new(),
            tail: Tail::new("portfolio.tail"),
        }
    }

    /// After how many decisions an iteration goes on at random.
    fn head(&self) -> u64 {
        let members = self.members.iter().filter(|member| member.gain.is_some());
        let lengths = members.map(|member| member.length);
        let usual = lengths.fold(f64::INFINITY, f64::min);
        ((HEADS * usual) as u64).max(HEAD_MIN)
    }

    fn riders(&mut self) -> impl Iterator<Item = &mut Member> {
        let members = self.members.iter_mut();
        members.filter(|member| member.strategy.primed())
    }

    /// The share of each member, in the members' order; 0 for those that are exhausted.
    fn shares(&self) -> impl Iterator<Item = f64> + '_ {
        let alive = self.members.iter().filter(|member| !member.exhausted);
        let count = alive.clone().count() as f64;
        let total: f64 = alive.filter_map(|member| member.gain).sum();
        self.members.iter().map(move |member| {
            let gain = member.gain.unwrap_or(0.0);
            match member.exhausted {
                true => 0.0,
                false if total > 0.0 => FLOOR / count + (1.0 - FLOOR) * gain / total,
                false => 1.0 / count,
            }
        })
    }

    /// Deals out a turn.
    fn deal(&mut self) -> usize {
        let shares: Vec<f64> = self.shares().collect();
        let mut best = 0;
        for (index, share) in shares.into_iter().enumerate() {
            self.members[index].credit += share;
            let (member, leader) = (&self.members[index], &self.members[best]);
            if leader.exhausted || (!member.exhausted && member.credit > leader.credit) {
                best = index;
            }
        }
        self.members[best].credit -= 1.0;
        best
    }

    /// Begins the iteration of a member. Returns whether it has anything left to explore.
    fn begin_turn(&mut self, index: usize, iteration: &Iteration) -> bool {
        let member = &mut self.members[index];
        let own = Iteration {
            index: member.next,
            seed: iteration.seed,
            max_steps: iteration.max_steps,
        };
        member.exhausted = member.strategy.begin(&own) == Flow::Exhausted;
        if !member.exhausted {
            member.next += 1;
            member.turns += 1;
            self.turns += 1;
            self.turn = Turn::Member(index);
        }
        !member.exhausted
    }
}

impl Default for Portfolio {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Portfolio {
    fn describe(&self) -> String {
        if self.is_usual {
            return Self::ENTRY.name.to_owned();
        }
        let members = self.members.iter();
        let names: Vec<_> = members.map(|member| member.strategy.describe()).collect();
        format!("portfolio of {}", names.join(", "))
    }

    /// As many as have no factor in common with the number of members: then the first iterations
    /// of each lane, as of the run, see all members.
    fn lanes(&self) -> Lanes {
        let members = self.members.len() as u32;
        let is_coprime = |lanes: &u32| (2..=members).all(|f| members % f != 0 || lanes % f != 0);
        let lanes = (LANES_MIN..).find(is_coprime);
        Lanes::Fixed(lanes.expect("cct bug: no number is coprime"))
    }

    /// The last: what every lane can find is found before its turn.
    fn finer_lane(&self) -> Option<u32> {
        match self.lanes() {
            Lanes::Fixed(lanes) if self.is_usual => Some(lanes - 1),
            _ => None,
        }
    }

    /// The last but one, for the same reason.
    fn lagging_lane(&self) -> Option<u32> {
        self.finer_lane().map(|lane| lane - 1)
    }

    fn primed(&self) -> bool {
        self.members.iter().any(|member| member.strategy.primed())
    }

    fn interests(&self) -> Interests {
        if let Turn::Member(index) = self.turn {
            return self.members[index].strategy.interests();
        }
        let riders = self
            .members
            .iter()
            .filter(|member| member.strategy.primed());
        riders.fold(Interests::default(), |all, member| {
            let its = member.strategy.interests();
            Interests {
                lifecycle: all.lifecycle | its.lifecycle,
                readiness: all.readiness | its.readiness,
                forced: all.forced | its.forced,
                parts: all.parts | its.parts,
                steps: all.steps | its.steps,
                observations: all.observations | its.observations,
                rewards: all.rewards | its.rewards,
                fresh: all.fresh | its.fresh,
            }
        })
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.visited.clear();
        let head = self.head();
        self.tail.begin_after(iteration, head);
        if iteration.index == 0 && self.primed() {
            for member in self.riders() {
                member.exhausted |= member.strategy.begin(iteration) == Flow::Exhausted;
            }
            let first = self.members.iter().position(|m| m.strategy.primed());
            self.turn = Turn::Priming(first.unwrap_or(0));
            return Flow::Continue;
        }
        let members = self.members.len() as u64;
        if self.turns < members {
            let index = (iteration.index % members) as usize;
            if !self.members[index].exhausted && self.begin_turn(index, iteration) {
                return Flow::Continue;
            }
        }
        while self.members.iter().any(|member| !member.exhausted) {
            let index = self.deal();
            if self.begin_turn(index, iteration) {
                return Flow::Continue;
            }
        }
        Flow::Exhausted
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match self.turn {
            Turn::Member(index) => {
                if self.tail.has_come() {
                    return self.tail.pick(enabled);
                }
                if enabled.actions().is_some() {
                    self.visited.push(point.fingerprint.0);
                }
                self.members[index].strategy.pick(point, enabled)
            }
            Turn::Priming(first) => {
                let picks = self.members.iter_mut().enumerate();
                let picks = picks.filter(|(_, member)| member.strategy.primed());
                let picks = picks.map(|(at, m)| (at, m.strategy.pick(point, enabled)));
                picks.fold(
                    enabled.pick(0),
                    |answer, (at, pick)| {
                        if at == first { pick } else { answer }
                    },
                )
            }
        }
    }

    #[inline]
    fn observe(&mut self, event: &StepEvent<'_>) {
        match self.turn {
            Turn::Member(index) => self.members[index].strategy.observe(event),
            Turn::Priming(_) => self.riders().for_each(|m| m.strategy.observe(event)),
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        let index = match self.turn {
            Turn::Member(index) => index,
            Turn::Priming(_) => return self.riders().for_each(|m| m.strategy.end(end)),
        };
        let member = &mut self.members[index];
        member.strategy.end(end);
        let seen = &mut self.seen;
        let fresh = self.visited.iter().filter(|&&state| seen.insert(state));
        let latest = fresh.count() as f64 / self.visited.len().max(1) as f64;
        let decisions = self.tail.decisions() as f64;
        (member.gain, member.length) = match member.gain {
            Some(earlier) => (
                Some((1.0 - LATEST) * earlier + LATEST * latest),
                (1.0 - LATEST) * member.length + LATEST * decisions,
            ),
            None => (Some(latest), decisions),
        };
    }

    fn expect_decisions(&mut self, decisions: u64) {
        let members = self.members.iter_mut();
        members.for_each(|member| member.strategy.expect_decisions(decisions));
    }

    fn adapted(&self) -> String {
        if self.turns == 0 {
            return String::new();
        }
        let turns: Vec<_> = self.members.iter().map(|m| m.turns.to_string()).collect();
        format!("turns={}, states={}", turns.join("/"), self.seen.len())
    }

    fn remarks(&self) -> Vec<String> {
        let of = |member: &Member| {
            let name = member.strategy.describe();
            let remarks = member.strategy.remarks();
            remarks
                .into_iter()
                .map(move |line| format!("{name}: {line}"))
        };
        self.members.iter().flat_map(of).collect()
    }
}

#[cfg(test)]
#[path = "portfolio_tests.rs"]
mod tests;
