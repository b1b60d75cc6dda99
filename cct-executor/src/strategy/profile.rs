//! What the first iteration tells about a program: who spawns whom, and who does how much where.
//!
//! 1. Tasks are told apart by [`ActionId`], resources by their index, which is the same in every
//!    iteration only as long as resources are made in the same order.
//! 2. A task's weight is the number of its events and of those of all tasks that come from it. The
//!    events then form a forest, and a uniform interleaving is drawn by taking each event with odds
//!    proportional to what follows it in its tree.

use crate::words::{ActionId, ActionKey, Op, StepEvent};
use std::collections::BTreeMap;

/// More shared resources than this are not kept.
const RESOURCES_MAX: usize = 20;

/// No task.
const NOBODY: ActionId = ActionId(u64::MAX);

/// The profile of a program.
#[derive(Clone, Debug, Default)]
pub(super) struct Profile {
    /// By [`ActionKey::index`].
    tasks: Vec<Task>,
    /// How often a task touched a resource.
    touched: BTreeMap<(u32, u32), Touch>,
    /// Invariant: sorted. Identity, and index in `tasks`.
    known: Vec<(ActionId, u32)>,
    /// By [`ActionKey::index`]; [`NOBODY`] for what is no task.
    ids: Vec<ActionId>,
    shared: Vec<u32>,
}

#[derive(Clone, Copy, Debug)]
struct Task {
    id: Option<ActionId>,
    parent: Option<u32>,
    events: u64,
}

#[derive(Clone, Copy, Debug, Default)]
struct Touch {
    events: u64,
    writes: bool,
}

/// How many events each task of a profile has ahead when it begins, its offspring's included.
#[derive(Clone, Debug, Default)]
pub(super) struct Weights {
    of: Vec<u64>,
    /// What a task that the profile does not know has ahead.
    usual: u64,
}

impl Profile {
    pub(super) fn clear(&mut self) {
        self.tasks.clear();
        self.touched.clear();
        self.known.clear();
        self.ids.clear();
        self.shared.clear();
    }

    /// Takes in an event of the iteration that is profiled.
    pub(super) fn take_in(&mut self, event: &StepEvent<'_>) {
        match *event {
            StepEvent::Spawned {
                task, id, parent, ..
            } => {
                let known = self.task(task);
                known.id = Some(id);
                known.parent = parent.map(|parent| parent.index() as u32);
            }
            StepEvent::Step { action, op } => {
                self.task(action).events += 1;
                self.touch(action, op);
            }
            _ => {}
        }
    }

    fn task(&mut self, key: ActionKey) -> &mut Task {
        let nobody = Task {
            id: None,
            parent: None,
            events: 0,
        };
        if key.index() >= self.tasks.len() {
            self.tasks.resize(key.index() + 1, nobody);
        }
        &mut self.tasks[key.index()]
    }

    fn touch(&mut self, key: ActionKey, op: &Op) {
        if op.resource != 0 {
            let touch = self
                .touched
                .entry((op.resource, key.index() as u32))
                .or_default();
            touch.events += 1;
            touch.writes |= op.races_with(op);
        }
    }

    /// The iteration is over.
    pub(super) fn finish(&mut self) {
        let ids = self.tasks.iter().enumerate();
        self.known = ids
            .filter_map(|(index, task)| Some((task.id?, index as u32)))
            .collect();
        self.known.sort_unstable();
        let ids = self.tasks.iter().map(|task| task.id.unwrap_or(NOBODY));
        self.ids = ids.collect();
        let mut resources: Vec<u32> = self.touched.keys().map(|&(resource, _)| resource).collect();
        resources.dedup();
        resources.retain(|&resource| self.is_shared(resource));
        resources.truncate(RESOURCES_MAX);
        self.shared = resources;
    }

    fn of_resource(&self, resource: u32) -> impl Iterator<Item = (u32, Touch)> + '_ {
        self.touched
            .range((resource, 0)..=(resource, u32::MAX))
            .map(|(&(_, task), &touch)| (task, touch))
    }

    fn is_shared(&self, resource: u32) -> bool {
        let writes = self.of_resource(resource).any(|(_, touch)| touch.writes);
        writes && self.of_resource(resource).count() > 1
    }

    /// The resources that more than one task touched, one of them to change it.
    pub(super) fn shared(&self) -> &[u32] {
        &self.shared
    }

    /// Weights that count all events.
    pub(super) fn weigh_all(&self, weights: &mut Weights) {
        weights.of.clear();
        weights.of.extend(self.tasks.iter().map(|task| task.events));
        self.add_offspring(weights);
    }

    /// Weights that count events on these resources.
    pub(super) fn weigh(&self, resources: &[u32], weights: &mut Weights) {
        weights.of.clear();
        weights.of.resize(self.tasks.len(), 0);
        for &resource in resources {
            for (task, touch) in self.of_resource(resource) {
                weights.of[task as usize] += touch.events;
            }
        }
        self.add_offspring(weights);
    }

    fn add_offspring(&self, weights: &mut Weights) {
        let own: u64 = weights.of.iter().skip(1).sum();
        let others = self.tasks.len().saturating_sub(1).max(1) as u64;
        weights.usual = own.div_ceil(others);
        // A child has a greater key than its parent.
        for (index, task) in self.tasks.iter().enumerate().rev() {
            if let Some(parent) = task.parent {
                weights.of[parent as usize] += weights.of[index];
            }
        }
    }

    /// The weight of a task at its start.
    #[inline]
    pub(super) fn weight(&self, weights: &Weights, task: ActionKey, id: ActionId) -> u64 {
        // Tasks mostly come in the same order in each iteration.
        if self.ids.get(task.index()) == Some(&id) {
            return weights.of[task.index()];
        }
        self.weight_of_other(weights, id)
    }

    #[cold]
    fn weight_of_other(&self, weights: &Weights, id: ActionId) -> u64 {
        match self.known.binary_search_by_key(&id, |&(id, _)| id) {
            Ok(at) => weights.of[self.known[at].1 as usize],
            Err(_) => weights.usual,
        }
    }
}
