//! SURW: a walk that is uniform over the orders of the events that matter, and random otherwise.
//!
//! H. Zhao, D. Wolff, U. Mathur and A. Roychoudhury, "Selectively uniform concurrency testing",
//! ASPLOS 2025; the choice of interesting resources follows A. Li, B. Kang, V. Vikram, I. Laybourn,
//! S. Dharanikota, S. Tiwari and R. Padhye, "Fray: an efficient general-purpose concurrency testing
//! platform for the JVM", OOPSLA 2025.
//!
//! Guarantee: if tasks block nowhere but for their spawning, and always do as much as in the first
//! iteration, every interleaving of the interesting events has the same probability.
//!
//! How: the run's first iteration is a random walk that is profiled; later ones draw which of the
//! resources that several tasks touched are interesting. One task is intended to do the next
//! interesting event, drawn by what interesting events each has ahead, its offspring's included. A
//! random walk goes on around it in which nobody else may do such an event. When the intended task
//! has done its event another is drawn. A spawn moves weight, and with these odds the
//! intention, from parent to child.
//!
//! Departures:
//! - Resources are told apart by the order in which they are made. Where that order depends on the
//!   schedule, what is interesting is random.
//! - At most 20 resources are considered, and [`resources`](Surw::resources) (1) of them are drawn
//!   for an iteration.
//! - A task that has interesting events ahead although the profile knew none counts as having one
//!   once it is about to do it and nothing else can go on.
//! - If all that is enabled is held back, the intention goes to one of those, drawn by weight.
//! - If the intended task is blocked for 1,000 decisions, or there is none, while others go on that need none of this, the
//!   intention goes to one that is held back: beside a task that yields for ever it would never come to its event.
//! - Data choices, unknown to the paper, are uniform, or by weight.
//!
//! Measured by `interesting_interleavings_are_uniform` and `the_intention_follows_a_spawn` below,
//! with a false alarm in 10^9.

use super::description::Description;
use super::profile::{Profile, Weights};
use super::shares::Shares;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, StepEvent, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{
    Action, ActionId, ActionKey, EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed,
};

/// How often the walk tries again before it looks at all enabled actions.
const TRIES: u32 = 4;
/// How many decisions an intention waits for a task that is blocked.
const PATIENCE: u32 = 1_000;

/// Selectively uniform random walk.
#[derive(Clone, Debug)]
pub struct Surw {
    resources: u32,
    picks: Generator,
    intentions: Generator,
    interests: Generator,
    values: Generator,
    /// This iteration is being profiled.
    profiling: bool,
    profile: Profile,
    weights: Weights,
    /// What is interesting in this iteration.
    interesting: Vec<u32>,
    /// The first of these, mostly the only one; 0 for none.
    first: u32,
    /// Interesting events ahead of all tasks that are alive.
    ahead: Shares,
    intended: Option<ActionKey>,
    /// Decisions since the intention was looked at.
    waited: u32,
}

impl Surw {
    pub(super) const ENTRY: Entry = Entry {
        name: "surw",
        help: "as urw, but for the order of what happens to a few shared resources",
        parameters: &[Parameter {
            name: "resources",
            help: "how many shared resources are interesting in an iteration (1)",
            kind: Kind::Number(1, 20),
        }],
        build: |arguments| {
            let resources = arguments.number("resources").unwrap_or(1);
            Box::new(Surw::new().resources(resources as u32))
        },
    };

    /// A walk with one interesting resource an iteration.
    pub fn new() -> Self {
        let none = Seed(0);
        Surw {
            resources: 1,
            picks: none.stream("surw.picks"),
            intentions: none.stream("surw.intentions"),
            interests: none.stream("surw.interests"),
            values: none.stream("surw.values"),
            profiling: false,
            profile: Profile::default(),
            weights: Weights::default(),
            interesting: Vec::new(),
            first: 0,
            ahead: Shares::new(),
            intended: None,
            waited: 0,
        }
    }

    /// How many resources are interesting in an iteration.
    ///
    /// # Panics
    /// If it is 0.
    #[track_caller]
    pub fn resources(self, count: u32) -> Self {
        assert!(count > 0, "surw: at least 1 resource must be interesting");
        Surw {
            resources: count,
            ..self
        }
    }

    /// Draws what is interesting in this iteration.
    fn draw_interesting(&mut self) {
        self.interesting.clear();
        self.interesting.extend_from_slice(self.profile.shared());
        let wanted = (self.resources as usize).min(self.interesting.len());
        for i in 0..wanted {
            let rest = (self.interesting.len() - i) as u32;
            let other = i + draw::below(&mut self.interests, rest) as usize;
            self.interesting.swap(i, other);
        }
        self.interesting.truncate(wanted);
        self.first = self.interesting.first().copied().unwrap_or(0);
        self.profile.weigh(&self.interesting, &mut self.weights);
    }

    #[inline]
    fn is_interesting(&self, resource: u32) -> bool {
        resource != 0
            && (resource == self.first
                || self.interesting.len() > 1 && self.interesting.contains(&resource))
    }

    /// Whether the action must wait for another's interesting event.
    #[inline]
    fn is_held(&self, action: &Action) -> bool {
        self.is_interesting(action.op().resource) && self.intended != Some(action.key())
    }

    /// Draws who is to do the next interesting event.
    fn intend(&mut self) {
        let anybody = self.ahead.total() > 0;
        if anybody {
            self.intended = Some(self.ahead.draw(&mut self.intentions));
            self.waited = 0;
        }
    }

    #[inline]
    fn next(&mut self, enabled: &EnabledActions<'_>, count: u32, set: &EnabledSet<'_>) -> Pick {
        if self.intended.is_none() {
            self.intend();
        }
        self.waited += 1;
        if self.waited == PATIENCE {
            self.waited = 0;
            if let Some(pick) = self.wait_no_more(enabled) {
                return pick;
            }
        }
        for _ in 0..TRIES {
            let pick = set.pick(draw::below(&mut self.picks, count) as usize);
            if !self.is_held(enabled.action(pick)) {
                return pick;
            }
        }
        self.look_at_all(enabled)
    }

    /// Picks uniformly among what is not held back, or moves the intention.
    #[cold]
    fn look_at_all(&mut self, enabled: &EnabledActions<'_>) -> Pick {
        let (mut chosen, mut free) = (None, 0);
        for (pick, action) in enabled.iter() {
            if !self.is_held(action) {
                free += 1;
                if draw::below(&mut self.picks, free) == 0 {
                    chosen = Some(pick);
                }
            }
        }
        let held = || self.move_intention(enabled);
        chosen.or_else(held).expect("cct bug: nothing is enabled")
    }

    /// Moves the intention, if no task has it that could go on.
    #[cold]
    fn wait_no_more(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        let of_intended = |(_, action): (_, &Action)| self.intended == Some(action.key());
        match enabled.iter().any(of_intended) {
            true => None,
            false => self.move_intention(enabled),
        }
    }

    /// Gives the intention to one that is held back, drawn by weight, if there is any.
    fn move_intention(&mut self, enabled: &EnabledActions<'_>) -> Option<Pick> {
        let weight = |action: &Action| self.ahead.get(action.key()).max(1);
        let held = enabled.iter().filter(|(_, action)| self.is_held(action));
        let total: u64 = held.map(|(_, action)| weight(action)).sum();
        if total == 0 {
            return None;
        }
        let mut ticket = draw::ticket(&mut self.intentions, total);
        let weight = |action: &Action| self.ahead.get(action.key()).max(1);
        let mut held = enabled.iter().filter(|(_, action)| self.is_held(action));
        let drawn = held.find(|(_, action)| {
            let rest = ticket.checked_sub(weight(action));
            ticket = rest.unwrap_or(0);
            rest.is_none()
        });
        let (pick, action) = drawn?;
        self.intended = Some(action.key());
        Some(pick)
    }

    fn spawned(&mut self, task: ActionKey, id: ActionId, parent: Option<ActionKey>) {
        let weight = self.profile.weight(&self.weights, task, id);
        self.ahead.set(task, weight);
        let Some(parent) = parent else {
            return;
        };
        let before = self.ahead.get(parent);
        self.ahead.set(parent, before.saturating_sub(weight));
        if self.intended == Some(parent)
            && draw::ticket(&mut self.intentions, before.max(weight).max(1)) < weight
        {
            self.intended = Some(task);
        }
    }
}

impl Default for Surw {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Surw {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .unless("resources", self.resources, 1)
            .text()
    }

    fn primed(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            steps: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.picks = iteration.seed.stream("surw.picks");
        self.intentions = iteration.seed.stream("surw.intentions");
        self.interests = iteration.seed.stream("surw.interests");
        self.values = iteration.seed.stream("surw.values");
        self.ahead.clear();
        self.intended = None;
        self.waited = 0;
        self.profiling = iteration.index == 0;
        if self.profiling {
            self.profile.clear();
        }
        self.draw_interesting();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match enabled {
            EnabledSet::Actions(actions) => self.next(actions, enabled.len() as u32, enabled),
            EnabledSet::Values(values) => enabled.pick(draw::value(&mut self.values, values)),
        }
    }

    #[inline]
    fn observe(&mut self, event: &StepEvent<'_>) {
        if self.profiling {
            return self.profile.take_in(event);
        }
        match *event {
            StepEvent::Step { action, op } if self.is_interesting(op.resource) => {
                let ahead = self.ahead.get(action);
                self.ahead.set(action, ahead.saturating_sub(1));
                self.intended = None;
            }
            StepEvent::Spawned {
                task, id, parent, ..
            } => self.spawned(task, id, parent),
            StepEvent::Exited(task) => {
                self.ahead.set(task, 0);
                if self.intended == Some(task) {
                    self.intended = None;
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _: &IterationEnd) {
        if self.profiling {
            self.profile.finish();
        }
    }

    fn adapted(&self) -> String {
        match self.profile.shared().len() {
            0 => String::new(),
            shared => format!("shared resources={shared}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::assert_distribution;
    use std::collections::BTreeMap;

    /// Asserts that the writes come in so many orders, all alike.
    fn assert_uniform(tasks: Vec<Vec<Do>>, interleavings: usize) {
        let mut toy = Toy::new(tasks.clone());
        let mut strategy = Surw::new();
        toy.run(&mut strategy, Seed(41), 0);
        assert_eq!(strategy.profile.shared().len(), 1);
        let mut seen = BTreeMap::<_, u64>::new();
        for index in 1..20_001 {
            let mut next = vec![0; tasks.len()];
            let mut order = toy.run(&mut strategy, Seed(41), index).order;
            order.retain(|&task| {
                let at = &mut next[task as usize];
                *at += 1;
                matches!(tasks[task as usize][*at - 1], Do::Write(_))
            });
            *seen.entry(order).or_default() += 1;
        }
        assert_eq!(seen.len(), interleavings);
        let counts: Vec<u64> = seen.into_values().collect();
        assert_distribution(&counts, &vec![1; interleavings]);
    }

    /// Of 2 + 1 + 3 writes, 6! / (2! 1! 3!) orders; steps of their own lie in between.
    #[test]
    fn interesting_interleavings_are_uniform() {
        let late = [Do::Step, Do::Step, Do::Step, Do::Step, Do::Write(0)];
        let pair = [Do::Write(0), Do::Yield, Do::Write(0)];
        let triple = [Do::Write(0), Do::Step, Do::Write(0), Do::Write(0), Do::Step];
        assert_uniform(vec![late.to_vec(), pair.to_vec(), triple.to_vec()], 60);
    }

    /// Task 0 writes, spawns, and writes again; its second write
    /// is anywhere among the three of the child.
    #[test]
    fn the_intention_follows_a_spawn() {
        let main = [Do::Write(0), Do::Spawn(1), Do::Step, Do::Write(0)];
        let child = [Do::Step, Do::Write(0), Do::Step, Do::Write(0), Do::Write(0)];
        assert_uniform(vec![main.to_vec(), child.to_vec()], 4);
    }

    #[test]
    fn the_description_names_what_is_not_usual() {
        assert_eq!(Surw::new().resources(3).describe(), "surw:resources=3");
        assert_eq!(Surw::new().describe(), "surw");
    }
}
