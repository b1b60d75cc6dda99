//! A plan in the course of an iteration.
//!
//! 1. Draws, predicates and deeds happen while the cell is free; what is done next is read from it
//!    again afterwards.
//! 2. At most one kind of fault is offered at a time.

use super::deeds::{self, Undo};
use super::kind::does;
use super::plan::{FaultPlan, Kind};
use super::progress::{Ask, InForce, Phase, Progress};
use super::source::{self, Actions};
use cct_executor::node::NodeId;
use cct_executor::observe::sometimes;
use cct_executor::shim::{self, CrashCause, Resource, Shared, Waiter};
use cct_executor::words::Observations;
use cct_executor::words::fingerprint::mix2;
use std::panic::Location;

/// Why a plan is asked what it does now.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Cause {
    /// A packet arrived.
    Arrival,
    /// A disk has done something.
    Disk,
    /// Time has passed, or the plan begins.
    Time,
}

/// A running plan.
pub(super) struct Run {
    pub(super) plan: FaultPlan,
    pub(super) site: &'static Location<'static>,
    pub(super) resource: Resource,
    pub(super) actions: Actions,
    begin_ns: u64,
    pub(super) state: Shared<Progress>,
}

impl Run {
    pub(super) fn new(
        plan: FaultPlan,
        actions: Actions,
        resource: Resource,
        site: &'static Location<'static>,
    ) -> Run {
        let progress = Progress::new(&plan);
        let run = Run {
            plan,
            site,
            resource,
            actions,
            begin_ns: shim::world_time_ns(),
            state: Shared::new(progress),
        };
        run.report(false, None);
        run
    }

    /// For the report at the end of the run of all iterations.
    fn report(&self, opened: bool, taken: Option<usize>) {
        let (file, line) = (self.site.file(), self.site.line());
        sometimes(opened, "the window of the fault plan opens", file, line);
        if let Some((name, _)) = self.plan.after {
            sometimes(opened, name, file, line);
        }
        for (at, kind) in self.plan.kinds.iter().enumerate() {
            sometimes(taken == Some(at), does(kind.what.name()), file, line);
        }
    }

    pub(super) fn window_ns(&self) -> (u64, u64) {
        let after = |time: std::time::Duration| {
            let time_ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.begin_ns.saturating_add(time_ns)
        };
        (after(self.plan.time.start), after(self.plan.time.end))
    }

    /// The plan is asked what it does now.
    pub(super) fn tick(&self, cause: Cause) {
        self.state.with(|state| match cause {
            Cause::Arrival => {
                state.arrivals += 1;
                state.moments += 1;
            }
            Cause::Disk => state.moments += 1,
            Cause::Time => {}
        });
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
                Ask::LetBe(at) => self.let_be(at),
                Ask::PerhapsMend(at) => {
                    if shim::choose(2, "whether the fault is over now") == 1 {
                        self.mend_at(at);
                    }
                }
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
        let opens = self.state.with(|state| state.phase == Phase::Closed);
        if opens {
            self.report(true, None);
        }
        if self.plan.kinds.is_empty() {
            return self.state.with(|state| state.phase = Phase::Spent);
        }
        let mut moments = self.plan.pace.draw("~moments until a fault is offered");
        if opens && self.plan.kinds.iter().any(Kind::hits_messages) {
            // None has to arrive before the first message can be hit.
            moments -= 1;
        }
        self.state.with(|state| {
            state.phase = Phase::Gap(self.plan.pace.due(moments, state.moments));
        });
    }

    /// Chooses a kind of fault, and offers it.
    fn begin_slot(&self) {
        let kinds: Vec<usize> = (0..self.plan.kinds.len())
            .filter(|&kind| self.awaits(kind) || !self.possible(kind).is_empty())
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
        let nth = shim::choose(kinds.len() as u32, "~which kind of fault is offered");
        let kind = kinds[nth as usize];
        self.state.with(|state| {
            state.phase = Phase::Slot(kind, self.plan.pace.slot(state.moments));
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

    /// Whether the kind may become possible before the next moment: when a message is sent.
    fn awaits(&self, kind: usize) -> bool {
        let this = &self.plan.kinds[kind];
        let begins = self.state.with(|state| state.moments == 0);
        this.hits_messages()
            && (begins || deeds::have_talked(&self.plan))
            && self
                .state
                .with(|state| state.allows(&self.plan, kind))
                .is_some()
    }

    fn offer(&self, kind: usize) {
        let possible = self.possible(kind);
        self.actions.offer(kind, &possible);
        if possible.is_empty() && self.awaits(kind) {
            source::at_next_packet();
        }
    }

    /// A packet is on its way: perhaps what is to be offered is possible now.
    pub(super) fn sent(&self) {
        if let Phase::Slot(kind, _) = self.state.with(|state| state.phase) {
            if self.plan.kinds[kind].hits_messages() {
                self.offer(kind);
            }
        }
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
        let done = instance.and_then(|at| Some((at, this.perform(&self.plan, at, self.site)?)));
        let Some((instance, done)) = done else {
            self.begin_gap();
            return self.publish();
        };
        self.report(true, Some(kind));
        let moments = match (&done.undo, done.at_once) {
            (None, _) | (_, true) => 1,
            // It is mended when an operation meets it.
            (Some(Undo::Disarm(_)), _) => u64::MAX,
            _ => self
                .plan
                .pace
                .draw("~moments until the fault may be mended"),
        };
        self.state.with(|state| {
            state.count(kind);
            state.note(done.text.clone());
            let due = self.plan.pace.due(moments, state.moments);
            if let Some(undo) = done.undo {
                let landed = !undo.lands_later();
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

    /// A process that was told something goes on: nothing is to be mended, unless it ends later.
    fn let_be(&self, at: usize) {
        self.state.with(|state| {
            let fault = state.in_force.remove(at);
            state.let_be.push(fault);
        });
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
        while let Some(at) = self.state.with(|state| {
            let idle = |fault: &InForce| !fault.landed && fault.undo.may_be_idle();
            state.in_force.iter().position(idle)
        }) {
            self.let_be(at);
        }
        self.wake_if_over();
        self.publish();
    }

    /// A node is down: its restart may follow.
    pub(super) fn node_down(&self, node: NodeId) {
        let of_itself = shim::crash_cause(node) != CrashCause::Asked;
        self.state.with(|state| state.node_down(node, of_itself));
        self.publish();
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
        self.state
            .with(|state| state.next_time_ns(&self.plan, (begin, end)))
    }
}
