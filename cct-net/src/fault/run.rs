//! A plan in the course of an iteration.
//!
//! 1. Draws, predicates and deeds happen while the cell is free; what is done next is read from it
//!    again afterwards.
//! 2. At most one kind of fault is offered at a time.

use super::deeds::Undo;
use super::pace::Due;
use super::plan::{FaultPlan, Kind};
use super::source::Actions;
use cct_executor::observe::sometimes;
use cct_executor::shim::{self, Resource, Shared, Waiter};
use cct_executor::words::Observations;
use cct_executor::words::fingerprint::mix2;
use std::collections::BTreeMap;
use std::panic::Location;

/// Beyond the first ones, so many offers may pass for each fault of the total.
const OFFERS: u32 = 16;

/// A crash that has been asked for happens soon; then a restart can follow.
const SOON_NS: u64 = 1_000_000;

/// A running plan.
pub(super) struct Run {
    pub(super) plan: FaultPlan,
    pub(super) site: &'static Location<'static>,
    pub(super) resource: Resource,
    pub(super) actions: Actions,
    begin_ns: u64,
    pub(super) state: Shared<Progress>,
}

/// How far a plan has come.
pub(super) struct Progress {
    phase: Phase,
    /// The predicate has held.
    open: bool,
    arrivals: u64,
    taken: u32,
    of_episode: u32,
    by_kind: Vec<u32>,
    offers_left: u32,
    in_force: Vec<InForce>,
    history: Vec<String>,
    pub(super) waiters: Vec<Waiter>,
    pub(super) bugs: u32,
    /// Which points of `buggify` can say yes in this iteration.
    pub(super) live: BTreeMap<&'static str, bool>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Phase {
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
struct InForce {
    text: String,
    kind: usize,
    instance: u32,
    undo: Undo,
    due: Due,
    at_once: bool,
    offered: bool,
    /// It has come into force: a crash comes a little after it was asked for.
    landed: bool,
}

/// What a plan has to do now.
enum Ask {
    Rest,
    Predicate,
    Gap,
    Slot,
    Reoffer(usize),
    Mend(usize),
    End,
}

impl Run {
    pub(super) fn new(
        plan: FaultPlan,
        actions: Actions,
        resource: Resource,
        site: &'static Location<'static>,
    ) -> Run {
        let progress = Progress {
            phase: Phase::Closed,
            open: plan.after.is_none(),
            arrivals: 0,
            taken: 0,
            of_episode: 0,
            by_kind: vec![0; plan.kinds.len()],
            offers_left: plan.total.saturating_mul(OFFERS).saturating_add(OFFERS),
            in_force: Vec::new(),
            history: Vec::new(),
            waiters: Vec::new(),
            bugs: plan.buggify,
            live: BTreeMap::new(),
        };
        let run = Run {
            plan,
            site,
            resource,
            actions,
            begin_ns: shim::world_time_ns(),
            state: Shared::new(progress),
        };
        run.report(false, false);
        run
    }

    /// For the report at the end of the run of all iterations.
    fn report(&self, opened: bool, taken: bool) {
        let (file, line) = (self.site.file(), self.site.line());
        sometimes(opened, "the window of the fault plan opens", file, line);
        if let Some((name, _)) = self.plan.after {
            sometimes(opened, name, file, line);
        }
        if !self.plan.kinds.is_empty() {
            sometimes(taken, "the fault plan does something", file, line);
        }
    }

    fn window_ns(&self) -> (u64, u64) {
        let after = |time: std::time::Duration| {
            let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.begin_ns.saturating_add(time_ns)
        };
        (after(self.plan.time.start), after(self.plan.time.end))
    }

    /// Something arrived, or time has passed.
    pub(super) fn tick(&self, arrived: bool) {
        if arrived {
            self.state.with(|state| state.arrivals += 1);
        }
        loop {
            match self.state.with(|state| state.next(self)) {
                Ask::Rest => break,
                Ask::Predicate => {
                    if !self.predicate() {
                        break;
                    }
                }
                Ask::Gap => self.begin_gap(),
                Ask::Slot => self.begin_slot(),
                Ask::Reoffer(kind) => {
                    self.offer(kind);
                    break;
                }
                Ask::Mend(at) => self.mend_at(at),
                Ask::End => self.finish(),
            }
        }
        self.publish();
    }

    fn predicate(&self) -> bool {
        let Some((_, predicate)) = &self.plan.after else {
            return true;
        };
        let held = shim::observations(|all| predicate(all)).unwrap_or(false);
        self.state.with(|state| state.open |= held);
        held
    }

    fn begin_gap(&self) {
        if self.state.with(|state| state.phase == Phase::Closed) {
            self.report(true, false);
        }
        if self.plan.kinds.is_empty() {
            return self.state.with(|state| state.phase = Phase::Spent);
        }
        let moments = self.plan.pace.draw("moments until a fault is offered");
        self.state.with(|state| {
            state.phase = Phase::Gap(self.plan.pace.due(moments, state.arrivals));
        });
    }

    /// Chooses a kind of fault, and offers it.
    fn begin_slot(&self) {
        let kinds: Vec<usize> = (0..self.plan.kinds.len())
            .filter(|&kind| !self.possible(kind).is_empty())
            .collect();
        let offers_left = self.state.with(|state| {
            state.offers_left = state.offers_left.saturating_sub(1);
            state.offers_left
        });
        if offers_left == 0 {
            return self.state.with(|state| state.phase = Phase::Spent);
        }
        if kinds.is_empty() {
            return self.begin_gap();
        }
        let nth = shim::choose(kinds.len() as u32, "which kind of fault is offered");
        let kind = kinds[nth as usize];
        self.state.with(|state| {
            state.phase = Phase::Slot(kind, self.plan.pace.slot(state.arrivals));
        });
        self.offer(kind);
    }

    /// The instances of a kind that may happen now.
    fn possible(&self, kind: usize) -> Vec<u32> {
        let this = &self.plan.kinds[kind];
        let Some(held) = self.state.with(|state| state.allows(&self.plan, kind)) else {
            return Vec::new();
        };
        let all = 0..this.count(&self.plan);
        let look = |seen: &Observations| {
            all.filter(|&instance| this.is_possible(&self.plan, instance, &held, seen))
                .collect()
        };
        shim::observations(look).unwrap_or_default()
    }

    fn offer(&self, kind: usize) {
        let possible = self.possible(kind);
        self.actions.offer(kind, &possible);
    }

    /// The strategy picked a fault. `instance` is `None` where it is still to be drawn.
    pub(super) fn begin(&self, kind: usize, instance: Option<u32>) {
        self.actions.offer(kind, &[]);
        let possible = self.possible(kind);
        let instance = match instance {
            Some(instance) => possible.contains(&instance).then_some(instance),
            None => u32::try_from(possible.len())
                .ok()
                .filter(|&count| count > 0)
                .map(|count| possible[shim::choose(count, "where the fault happens") as usize]),
        };
        let this = &self.plan.kinds[kind];
        let done = instance.and_then(|at| Some((at, this.perform(&self.plan, at)?)));
        let Some((instance, done)) = done else {
            self.begin_gap();
            return self.publish();
        };
        self.report(true, true);
        let moments = match (&done.undo, done.at_once) {
            (None, _) | (_, true) => 1,
            _ => self.plan.pace.draw("moments until the fault may be mended"),
        };
        self.state.with(|state| {
            state.count(kind);
            state.note(done.text.clone());
            let due = self.plan.pace.due(moments, state.arrivals);
            if let Some(undo) = done.undo {
                let landed = !matches!(undo, Undo::Restart(_));
                state.in_force.push(InForce {
                    text: done.text,
                    kind,
                    instance,
                    undo,
                    due,
                    at_once: done.at_once,
                    offered: false,
                    landed,
                });
            }
        });
        if self.state.with(|state| state.taken < self.plan.total) {
            self.begin_gap();
        } else {
            self.state.with(|state| state.phase = Phase::Spent);
        }
        self.publish();
    }

    /// The strategy picked the mending of a fault.
    pub(super) fn mend(&self, kind: usize, instance: u32) {
        let at = self.state.with(|state| state.position(kind, instance));
        if let Some(at) = at {
            self.mend_at(at);
            self.publish();
        }
    }

    fn mend_at(&self, at: usize) {
        let (fault, others) = self.state.with(|state| {
            let fault = state.in_force.remove(at);
            let others: Vec<Undo> = state.in_force.iter().map(|o| o.undo.clone()).collect();
            state.note(format!("{} is over", fault.text));
            (fault, others)
        });
        self.actions
            .offer_mend(self, (fault.kind, fault.instance), false);
        fault.undo.run(&others);
        self.wake_if_over();
    }

    /// What reports call an action.
    pub(super) fn describe(&self, mends: bool, kind: usize, instance: Option<u32>) -> String {
        let this = &self.plan.kinds[kind];
        match instance {
            None => this.what.name().to_owned(),
            Some(instance) if mends => format!("{} is over", this.text(&self.plan, instance)),
            Some(instance) => this.text(&self.plan, instance),
        }
    }

    /// The window is over: mends everything.
    pub(super) fn finish(&self) {
        let slot = self.state.with(|state| {
            let slot = std::mem::replace(&mut state.phase, Phase::Over);
            state.bugs = 0;
            slot
        });
        if let Phase::Slot(kind, _) = slot {
            self.actions.offer(kind, &[]);
        }
        while let Some(at) = self.state.with(|state| {
            let landed = |fault: &InForce| fault.landed;
            state.in_force.iter().position(landed)
        }) {
            self.mend_at(at);
        }
        self.wake_if_over();
        self.publish();
    }

    /// A node is down: its restart may follow.
    pub(super) fn node_down(&self, node: cct_executor::node::NodeId) {
        self.state.with(|state| {
            for fault in &mut state.in_force {
                if matches!(&fault.undo, Undo::Restart(ours) if ours.id() == node) {
                    fault.landed = true;
                }
            }
        });
    }

    pub(super) fn is_over(&self) -> bool {
        self.state
            .with(|state| state.phase == Phase::Over && state.in_force.is_empty())
    }

    pub(super) fn is_open(&self) -> bool {
        self.state
            .with(|state| !matches!(state.phase, Phase::Closed | Phase::Over))
    }

    fn wake_if_over(&self) {
        if self.is_over() {
            let waiters = self.state.with(|state| std::mem::take(&mut state.waiters));
            waiters.into_iter().for_each(Waiter::wake);
        }
    }

    pub(super) fn history(&self) -> Vec<String> {
        self.state.with(|state| state.history.clone())
    }

    pub(super) fn taken(&self) -> u32 {
        self.state.with(|state| state.taken)
    }

    /// Puts what differs from a world without faults into the abstract state.
    fn publish(&self) {
        let digest = self.state.with(|state| {
            let faults = state.in_force.iter();
            let sum = faults
                .map(|fault| mix2(fault.kind as u64 + 1, u64::from(fault.instance)))
                .fold(0, u64::wrapping_add);
            sum.wrapping_add(u64::from(state.taken))
        });
        self.resource.set_state(digest);
    }

    /// When the plan wants to be asked again at the latest.
    pub(super) fn next_time_ns(&self) -> Option<u64> {
        let (begin, end) = self.window_ns();
        let now = shim::world_time_ns();
        self.state.with(|state| {
            let faults = state.in_force.iter().filter(|fault| !fault.offered);
            let over = state.phase == Phase::Over;
            let mends = faults.map(|fault| match fault.landed && !over {
                true => fault.due.time_ns,
                false => now + SOON_NS,
            });
            let closed = !state.open && state.arrivals >= self.plan.deliveries.start;
            let phase = match state.phase {
                Phase::Closed if begin > now => Some(begin),
                // To look at the predicate.
                Phase::Closed => closed.then(|| self.plan.pace.due(4, 0).time_ns),
                Phase::Gap(due) | Phase::Slot(_, due) => Some(due.time_ns),
                Phase::Spent | Phase::Over => None,
            };
            let waits = !(state.in_force.is_empty() && state.waiters.is_empty());
            let idle = over || state.phase == Phase::Spent && !waits;
            let end = (!idle && end > now).then_some(end);
            mends.chain(phase).chain(end).min()
        })
    }
}

impl Progress {
    fn next(&mut self, run: &Run) -> Ask {
        let (begin, end) = run.window_ns();
        let now = shim::world_time_ns();
        let deliveries = &run.plan.deliveries;
        if self.phase != Phase::Over && (now >= end || self.arrivals >= deliveries.end) {
            return Ask::End;
        }
        for (at, fault) in self.in_force.iter_mut().enumerate() {
            if !fault.landed {
                continue;
            }
            if self.phase == Phase::Over {
                return Ask::Mend(at);
            }
            if fault.due.is_over(self.arrivals, now) {
                if fault.at_once {
                    return Ask::Mend(at);
                }
                if !fault.offered {
                    fault.offered = true;
                    run.actions
                        .offer_mend(run, (fault.kind, fault.instance), true);
                }
            }
        }
        match self.phase {
            Phase::Closed if now < begin || self.arrivals < deliveries.start => Ask::Rest,
            Phase::Closed if !self.open => Ask::Predicate,
            Phase::Closed => Ask::Gap,
            Phase::Gap(due) if due.is_over(self.arrivals, now) => Ask::Slot,
            Phase::Slot(kind, due) if due.is_over(self.arrivals, now) => {
                run.actions.offer(kind, &[]);
                Ask::Gap
            }
            Phase::Spent if self.in_force.is_empty() && self.bugs == 0 => Ask::End,
            Phase::Slot(kind, _) if run.plan.target.is_some() => Ask::Reoffer(kind),
            _ => Ask::Rest,
        }
    }

    /// The instances of a kind that are in force, if there is budget for another.
    fn allows(&self, plan: &FaultPlan, kind: usize) -> Option<Vec<u32>> {
        let this: &Kind = &plan.kinds[kind];
        let in_force = self.in_force.len();
        let allowed = self.taken < plan.total
            && self.by_kind[kind] < this.limit
            && (in_force == 0 || self.of_episode < plan.per_episode)
            && (!this.lasts() || in_force < plan.concurrent as usize);
        let held = self.in_force.iter().filter(|fault| fault.kind == kind);
        allowed.then(|| held.map(|fault| fault.instance).collect())
    }

    fn count(&mut self, kind: usize) {
        self.taken += 1;
        self.by_kind[kind] += 1;
        if self.in_force.is_empty() {
            self.of_episode = 0;
        }
        self.of_episode += 1;
    }

    fn position(&self, kind: usize, instance: u32) -> Option<usize> {
        let same = |fault: &InForce| fault.kind == kind && fault.instance == instance;
        self.in_force.iter().position(same)
    }

    pub(super) fn note(&mut self, what: String) {
        let millis = shim::world_time_ns() as f64 / 1e6;
        self.history.push(format!("at {millis} ms: {what}"));
    }
}
