//! POS: every pending event has a random priority, drawn anew when it races with what was done.
//!
//! X. Yuan, J. Yang and R. Gu, "Partial order aware concurrency sampling", CAV 2018.
//!
//! Guarantee: every partial order is sampled with positive probability. An event keeps its number
//! while others take steps that do not race with it, so that its odds of being last fall linearly
//! with their number, where those of a random walk fall exponentially.
//!
//! How: the pending event of highest priority is done. Then priorities are drawn for the runner's
//! next event and for each enabled event that races with the one done (same resource, one of the
//! two may change it).
//!
//! Departures:
//! - A long iteration ends in a random walk, see the module `tail`: tasks that poll for each
//!   other need lower and lower numbers to have their turns, as those of the others stand.
//! - Priorities are drawn when they are first compared, not when the event comes into being: a
//!   number that nobody has looked at is as good as a new one. Steps that had no alternative
//!   therefore cost nothing.
//! - An event that races with one done without an alternative is not drawn again; there is none,
//!   as it would have been an alternative.
//! - Events that wait for a lock or a message are not pending: they get a priority when they are
//!   enabled again.
//! - Data choices, unknown to the paper, are uniform, or by weight.
//!
//! Measured by `racing_writes_are_in_any_order_equally_often`, `closed_form_of_two_tasks` and
//! `independent_steps_do_not_dilute_a_race` below, with a false alarm in 10^9.

use super::spec::Entry;
use super::tail::Tail;
use super::tournament::Tournament;
use super::{Flow, Interests, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, EnabledSet, Iteration, Op, Pick, SchedulingPoint, Seed};
use rand::Rng;

/// End of a list.
const NONE: u32 = u32::MAX;
/// No priority is 0.
const LEAST: u64 = 1 << 32;
/// In resource indices this bit stands for a task.
const TASK: u32 = 1 << 31;

/// Partial order sampling.
#[derive(Clone, Debug)]
pub struct Pos {
    priorities: Generator,
    values: Generator,
    sampler: Sampler,
    tail: Tail,
}

/// Which event comes first: the state of POS but for its randomness.
#[derive(Clone, Debug)]
pub(super) struct Sampler {
    tree: Tournament,
    /// Pending events by resource.
    resources: Heads,
    /// The same for tasks as resources.
    tasks: Heads,
    /// By [`ActionKey::index`]: where its pending event is listed.
    links: Vec<Link>,
}

/// First members of lists, by number of the resource.
type Heads = Vec<u32>;

#[derive(Clone, Copy, Debug)]
struct Link {
    /// The resource under which it is listed; 0 for none.
    resource: u32,
    next: u32,
    previous: u32,
}

const UNLISTED: Link = Link {
    resource: 0,
    next: NONE,
    previous: NONE,
};

impl Pos {
    pub(super) const ENTRY: Entry = Entry {
        name: "pos",
        help: "random priorities, drawn anew for what races with the last step; no parameters",
        parameters: &[],
        build: |_| Box::new(Pos::new()),
    };

    /// Partial order sampling.
    pub fn new() -> Self {
        Pos {
            priorities: Seed(0).stream("pos.priorities"),
            values: Seed(0).stream("pos.values"),
            sampler: Sampler::new(),
            tail: Tail::new("pos.tail"),
        }
    }
}

impl Default for Pos {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Pos {
    fn describe(&self) -> String {
        Self::ENTRY.name.to_owned()
    }

    fn interests(&self) -> Interests {
        Sampler::INTERESTS
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.priorities = iteration.seed.stream("pos.priorities");
        self.values = iteration.seed.stream("pos.values");
        self.sampler.clear();
        self.tail.begin(iteration, 0);
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        if self.tail.has_come() {
            return self.tail.pick(enabled);
        }
        match enabled {
            EnabledSet::Actions(actions) => self.sampler.next(point, actions, &mut self.priorities),
            EnabledSet::Values(values) => enabled.pick(draw::value(&mut self.values, values)),
        }
    }
}

impl Sampler {
    /// What must be asked for so that [`next`](Self::next) works.
    pub(super) const INTERESTS: Interests = Interests {
        lifecycle: false,
        readiness: false,
        steps: false,
        observations: false,
        rewards: false,
        fresh: true,
        forced: false,
        parts: false,
    };

    pub(super) fn new() -> Self {
        Sampler {
            tree: Tournament::new(),
            resources: Vec::new(),
            tasks: Vec::new(),
            links: Vec::new(),
        }
    }

    /// Forgets all events, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.tree.clear();
        self.resources.fill(NONE);
        self.tasks.fill(NONE);
        self.links.fill(UNLISTED);
    }

    /// Picks the event to be done.
    #[inline]
    pub(super) fn next(
        &mut self,
        point: &SchedulingPoint,
        enabled: &EnabledActions<'_>,
        generator: &mut impl Rng,
    ) -> Pick {
        // Whoever has run since the last decision is fresh, or in the middle of its poll.
        for key in enabled.fresh() {
            self.admit(key, &enabled.actions[key.index()].op, generator);
        }
        if let (true, Some(key)) = (point.can_continue, point.current) {
            self.admit(key, &enabled.actions[key.index()].op, generator);
        }
        let (key, pick) = loop {
            if self.tree.is_empty() {
                self.admit_all(enabled, generator);
            }
            let key = self.tree.top();
            if let Some(pick) = enabled.find(key) {
                break (key, pick);
            }
            self.dismiss(key);
        };
        // The number of the event done stays where it is until its action is enabled again, or
        // comes to the top without being so.
        let done = &enabled.actions[key.index()].op;
        if done.resource != 0 {
            self.unlist(key);
            self.redraw(done, enabled, generator);
        }
        pick
    }

    /// Takes in a pending event.
    #[inline]
    fn admit(&mut self, key: ActionKey, op: &Op, generator: &mut impl Rng) {
        self.tree.rank(key, generator.next_u64() | LEAST);
        let index = key.index();
        if index >= self.links.len() {
            self.grow(index);
        }
        if self.links[index].resource != op.resource {
            self.move_to(key, op.resource);
        }
    }

    #[cold]
    fn grow(&mut self, index: usize) {
        self.links.resize((index + 1).next_power_of_two(), UNLISTED);
    }

    #[cold]
    fn admit_all(&mut self, enabled: &EnabledActions<'_>, generator: &mut impl Rng) {
        enabled
            .iter()
            .for_each(|(_, action)| self.admit(action.key(), action.op(), generator));
    }

    /// An event that is no longer pending.
    #[inline]
    fn dismiss(&mut self, key: ActionKey) {
        self.tree.remove(key);
        self.unlist(key);
    }

    /// Draws anew for what races with the operation.
    #[inline]
    fn redraw(&mut self, done: &Op, enabled: &EnabledActions<'_>, generator: &mut impl Rng) {
        let mut at = *self.head(done.resource);
        while at != NONE {
            let key = ActionKey::from_index(at as usize);
            at = self.links[at as usize].next;
            match enabled.find(key) {
                Some(_) if enabled.actions[key.index()].op.races_with(done) => {
                    self.tree.rank(key, generator.next_u64() | LEAST);
                }
                Some(_) => {}
                None => self.dismiss(key),
            }
        }
    }

    #[inline]
    fn head(&mut self, resource: u32) -> &mut u32 {
        let heads = if resource & TASK == 0 {
            &mut self.resources
        } else {
            &mut self.tasks
        };
        let index = (resource & !TASK) as usize;
        if index >= heads.len() {
            heads.resize((index + 1).next_power_of_two(), NONE);
        }
        &mut heads[index]
    }

    /// Lists a pending event under another resource.
    fn move_to(&mut self, key: ActionKey, resource: u32) {
        self.unlist(key);
        if resource == 0 {
            return;
        }
        let me = key.index() as u32;
        let next = std::mem::replace(self.head(resource), me);
        self.links[key.index()] = Link {
            resource,
            next,
            previous: NONE,
        };
        if next != NONE {
            self.links[next as usize].previous = me;
        }
    }

    #[inline]
    fn unlist(&mut self, key: ActionKey) {
        let link = self.links.get(key.index());
        if link.is_some_and(|link| link.resource != 0) {
            self.take_out(key);
        }
    }

    fn take_out(&mut self, key: ActionKey) {
        let link = std::mem::replace(&mut self.links[key.index()], UNLISTED);
        match link.previous {
            NONE => *self.head(link.resource) = link.next,
            previous => self.links[previous as usize].next = link.next,
        }
        if link.next != NONE {
            self.links[link.next as usize].previous = link.previous;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};
    use crate::strategy::odds::{assert_distribution, assert_exactly};

    /// How often each order of the tasks' steps came up.
    fn orders(tasks: Vec<Vec<Do>>, runs: u64) -> std::collections::BTreeMap<Vec<u32>, u64> {
        let mut toy = Toy::new(tasks);
        let mut strategy = Pos::new();
        let mut seen = std::collections::BTreeMap::new();
        for index in 0..runs {
            let run = toy.run(&mut strategy, Seed(21), index);
            *seen.entry(run.order).or_default() += 1;
        }
        seen
    }

    /// Three racing writes: after each the others are drawn again, so all six orders are alike.
    #[test]
    fn racing_writes_are_in_any_order_equally_often() {
        let seen = orders(vec![vec![Do::Write(0)]; 3], 20_000);
        let counts: Vec<u64> = seen.into_values().collect();
        assert_distribution(&counts, &[1; 6]);
    }

    /// Task 0 writes; task 1 takes 4 steps of its own and then writes. A random walk lets task 1
    /// be first once in 2^5. Here nothing draws task 0's number again before, so that it is last
    /// when its number is the least of 6.
    #[test]
    fn independent_steps_do_not_dilute_a_race() {
        let mut late = vec![Do::Step; 4];
        late.push(Do::Write(0));
        let seen = orders(vec![vec![Do::Write(0)], late], 60_000);
        let hits = seen.iter().filter(|(order, _)| order[5] == 0);
        assert_exactly(hits.map(|(_, count)| count).sum(), 60_000, 1.0 / 6.0);
    }

    /// Two tasks of a step and a write each. Say task 0 does its step first. Its write gets a new
    /// number, and task 1 has the lesser of two: the write is next with 2/3. Otherwise task 1 does
    /// its step, both writes are pending, and the number of task 0 is the least of three: the
    /// write of task 1 is first with 3/4.
    #[test]
    fn closed_form_of_two_tasks() {
        let seen = orders(vec![vec![Do::Step, Do::Write(0)]; 2], 60_000);
        let count = |order: &[u32]| seen.get(order).copied().unwrap_or(0);
        let found = [
            count(&[0, 0, 1, 1]),
            count(&[1, 1, 0, 0]),
            count(&[0, 1, 1, 0]),
            count(&[1, 0, 0, 1]),
            count(&[0, 1, 0, 1]),
            count(&[1, 0, 1, 0]),
        ];
        let second = found[2] + found[3];
        let apart = found[2..].iter().sum::<u64>();
        assert_exactly(found[0] + found[1], 60_000, 2.0 / 3.0);
        assert_exactly(apart, 60_000, 1.0 / 3.0);
        assert_exactly(second, apart, 3.0 / 4.0);
    }
}
