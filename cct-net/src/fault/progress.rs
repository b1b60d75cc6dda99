//! How far a plan has come in an iteration, and what it does next.
//!
//! Nothing here draws, runs user code or does deeds: that is the business of [`run`](super::run).

use super::deeds::Undo;
use super::pace::Due;
use super::plan::{FaultPlan, Kind};
use super::run::Run;
use cct_executor::node::NodeId;
use cct_executor::shim::{self, Waiter};
use std::collections::BTreeMap;

/// Beyond the first ones, so many offers may pass for each fault of the total.
const OFFERS: u32 = 16;

/// A crash that has been asked for happens soon; then a restart can follow.
const SOON_NS: u64 = 1_000_000;

/// How far a plan has come.
pub(super) struct Progress {
    pub(super) phase: Phase,
    /// The predicate has held.
    pub(super) open: bool,
    pub(super) arrivals: u64,
    /// Packets that arrived, and work that disks have done.
    pub(super) moments: u64,
    pub(super) taken: u32,
    pub(super) of_episode: u32,
    pub(super) by_kind: Vec<u32>,
    pub(super) offers_left: u32,
    pub(super) in_force: Vec<InForce>,
    /// Processes that were told something, and have not ended of it so far.
    pub(super) let_be: Vec<InForce>,
    pub(super) history: Vec<String>,
    pub(super) waiters: Vec<Waiter>,
    pub(super) bugs: u32,
    /// Which points of `buggify` can say yes in this iteration.
    pub(super) live: BTreeMap<&'static str, bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Phase {
    /// The window is not open yet.
    Closed,
    /// Nothing is offered until then.
    Gap(Due),
    /// This kind is offered until then.
    Slot(usize, Due),
    /// The budget is spent.
    Spent,
    /// The window is closed again.
    Over,
}

/// A fault that lasts.
pub(super) struct InForce {
    pub(super) text: String,
    pub(super) kind: usize,
    pub(super) instance: u32,
    pub(super) undo: Undo,
    pub(super) due: Due,
    pub(super) at_once: bool,
    pub(super) offered: bool,
    /// It has come into force: a crash comes a little after it was asked for.
    pub(super) landed: bool,
}

/// What a plan has to do now.
pub(super) enum Ask {
    Rest,
    Predicate,
    Gap,
    Slot,
    Reoffer(usize),
    Mend(usize),
    /// It is due, and there is nothing to mend.
    LetBe(usize),
    /// It is due, and nothing may happen for long that it could be mended beside.
    PerhapsMend(usize),
    End,
}

impl Progress {
    pub(super) fn new(plan: &FaultPlan) -> Progress {
        Progress {
            phase: Phase::Closed,
            open: plan.after.is_none(),
            arrivals: 0,
            moments: 0,
            taken: 0,
            of_episode: 0,
            by_kind: vec![0; plan.kinds.len()],
            offers_left: plan.total.saturating_mul(OFFERS).saturating_add(OFFERS),
            in_force: Vec::new(),
            let_be: Vec::new(),
            history: Vec::new(),
            waiters: Vec::new(),
            bugs: plan.buggify,
            live: BTreeMap::new(),
        }
    }

    /// When the plan wants to be asked again at the latest.
    pub(super) fn next_time_ns(&self, plan: &FaultPlan, (begin, end): (u64, u64)) -> Option<u64> {
        let now = shim::world_time_ns();
        let faults = self.in_force.iter().filter(|fault| !fault.offered);
        let over = self.phase == Phase::Over;
        let mends = faults.map(
            |fault| match (fault.landed || fault.undo.may_be_idle()) && !over {
                true => fault.due.time_ns,
                false => now + SOON_NS,
            },
        );
        let closed = !self.open && self.arrivals >= plan.deliveries.start;
        let phase = match self.phase {
            Phase::Closed if begin > now => Some(begin),
            // To look at the predicate.
            Phase::Closed => closed.then(|| plan.pace.due(4, 0).time_ns),
            Phase::Gap(due) | Phase::Slot(_, due) => Some(due.time_ns),
            Phase::Spent | Phase::Over => None,
        };
        let waits = !(self.in_force.is_empty() && self.waiters.is_empty());
        let idle = over || self.phase == Phase::Spent && !waits;
        let end = (!idle && end > now).then_some(end);
        mends.chain(phase).chain(end).min()
    }

    pub(super) fn next(&mut self, run: &Run) -> Ask {
        let (begin, end) = run.window_ns();
        let now = shim::world_time_ns();
        let deliveries = &run.plan.deliveries;
        if self.phase != Phase::Over && (now >= end || self.arrivals >= deliveries.end) {
            return Ask::End;
        }
        let over = self.phase == Phase::Over;
        for (at, fault) in self.in_force.iter_mut().enumerate() {
            if !fault.landed {
                if fault.undo.may_be_idle() && (over || fault.due.is_over(self.moments, now)) {
                    return Ask::LetBe(at);
                }
                continue;
            }
            if over || fault.undo.is_done() {
                return Ask::Mend(at);
            }
            if fault.due.is_over(self.moments, now) {
                if fault.at_once {
                    return Ask::Mend(at);
                }
                if !fault.offered {
                    fault.offered = true;
                    run.actions
                        .offer_mend(run, (fault.kind, fault.instance), true);
                    if fault.due.time_ns <= now {
                        return Ask::PerhapsMend(at);
                    }
                }
            }
        }
        match self.phase {
            Phase::Closed if now < begin || self.arrivals < deliveries.start => Ask::Rest,
            Phase::Closed if !self.open => Ask::Predicate,
            Phase::Closed => Ask::Gap,
            Phase::Gap(due) if due.is_over(self.moments, now) => Ask::Slot,
            Phase::Slot(kind, due) if due.is_over(self.moments, now) => {
                run.actions.offer(kind, &[]);
                Ask::Gap
            }
            Phase::Spent if self.in_force.is_empty() && self.bugs == 0 => Ask::End,
            Phase::Slot(kind, _)
                if run.plan.target.is_some() || run.plan.kinds[kind].is_fleeting() =>
            {
                Ask::Reoffer(kind)
            }
            _ => Ask::Rest,
        }
    }

    /// The instances of a kind that are in force, if there is budget for another.
    pub(super) fn allows(&self, plan: &FaultPlan, kind: usize) -> Option<Vec<u32>> {
        let this: &Kind = &plan.kinds[kind];
        let in_force = self.in_force.len();
        let allowed = self.taken < plan.total
            && self.by_kind[kind] < this.limit
            && (in_force == 0 || self.of_episode < plan.per_episode)
            && (!this.lasts() || in_force < plan.concurrent as usize);
        let held = self.in_force.iter().filter(|fault| fault.kind == kind);
        allowed.then(|| held.map(|fault| fault.instance).collect())
    }

    /// A node is down; `of_itself` says that nobody asked for it, so that a process may have ended of what
    /// it was told.
    pub(super) fn node_down(&mut self, node: NodeId, of_itself: bool) {
        let told = |fault: &InForce| fault.undo.may_be_idle() && fault.undo.restarts(node);
        let let_be = std::mem::take(&mut self.let_be);
        let (gone, others): (Vec<InForce>, Vec<InForce>) = let_be.into_iter().partition(told);
        self.let_be = others;
        if !of_itself {
            self.in_force.retain(|fault| fault.landed || !told(fault));
        } else if !self.in_force.iter().any(|fault| fault.undo.restarts(node)) {
            self.in_force.extend(gone.into_iter().take(1));
        }
        for fault in &mut self.in_force {
            fault.landed |= fault.undo.restarts(node);
        }
    }

    pub(super) fn count(&mut self, kind: usize) {
        self.taken += 1;
        self.by_kind[kind] += 1;
        if self.in_force.is_empty() {
            self.of_episode = 0;
        }
        self.of_episode += 1;
    }

    pub(super) fn position(&self, kind: usize, instance: u32) -> Option<usize> {
        let same = |fault: &InForce| fault.kind == kind && fault.instance == instance;
        self.in_force.iter().position(same)
    }

    pub(super) fn note(&mut self, what: String) {
        let millis = shim::world_time_ns() as f64 / 1e6;
        self.history.push(format!("at {millis} ms: {what}"));
    }
}
