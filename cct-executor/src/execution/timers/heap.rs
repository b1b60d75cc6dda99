//! Timers by the order in which they fire.

use super::TimerId;
use super::late::Late;
use crate::execution::core::NONE;
use crate::execution::waker::Waiter;
use crate::words::Clock;
use std::time::Duration;

/// The place of a timer that lies on a shelf, as the clock stands that it goes by.
pub(super) const SHELVED: u32 = NONE - 1;

pub(super) struct Timer {
    pub(super) deadline_ns: u64,
    /// Place in the heap, or [`NONE`] once it has fired.
    pub(super) place: u32,
    /// That of the task which has set it.
    pub(super) runtime: u16,
    /// Its action, where timers are actions.
    pub(super) action: u32,
    pub(super) waiter: Option<Waiter>,
    /// From which firing it stems that it was set, where work may be late; see [`Late`].
    pub(super) stem: u32,
}

/// An element of the heap.
#[derive(Clone, Copy)]
pub(in crate::execution) struct Due {
    pub(in crate::execution) deadline_ns: u64,
    sequence: u32,
    pub(in crate::execution) timer: TimerId,
}

impl Due {
    /// Deadline, then registration: one number, compared without a branch for each part.
    #[inline]
    fn order(self) -> u128 {
        u128::from(self.deadline_ns) << 64 | u128::from(self.sequence)
    }
}

pub(crate) struct Timers {
    pub(super) timers: Vec<Timer>,
    pub(super) free: Vec<TimerId>,
    /// A four-ary min-heap.
    heap: Vec<Due>,
    /// Where the one that fires first stands. Not at 0 where that place was left and is still to be filled: by the
    /// timer that is registered next, as whoever slept often sleeps again, or else by the last one.
    first: usize,
    sequence: u32,
    pub(super) clock: Clock,
    /// The timers whose actions are enabled.
    pub(super) eligible: Vec<TimerId>,
    /// None is eligible: they fire where nothing else can happen.
    pub(in crate::execution) fair: bool,
    /// The eligible timers may have changed.
    pub(in crate::execution) dirty: bool,
    /// What the clock showed when the world had last been idle.
    idle_ns: u64,
    pub(in crate::execution) late: Late,
    /// Wakers of foreign make that are to be woken outside the core.
    pub(crate) due: Vec<Waiter>,
    /// Up to where timers have fired. Behind the clock only from a move by hand to the end of the
    /// poll that made it; what is registered in between has not fired either.
    pub(super) elapsed_ns: u64,
}

impl Timers {
    pub(crate) fn new() -> Timers {
        Timers {
            timers: Vec::new(),
            free: Vec::new(),
            heap: Vec::new(),
            first: 0,
            sequence: 0,
            clock: Clock::Strict,
            eligible: Vec::new(),
            fair: false,
            dirty: false,
            idle_ns: 0,
            late: Late::default(),
            due: Vec::new(),
            elapsed_ns: 0,
        }
    }

    pub(crate) fn reset(&mut self, clock: Clock) {
        self.timers.clear();
        self.free.clear();
        self.heap.clear();
        self.first = 0;
        self.eligible.clear();
        self.due.clear();
        self.sequence = 0;
        self.elapsed_ns = 0;
        self.clock = clock;
        self.fair = false;
        self.dirty = false;
        self.idle_ns = 0;
        self.late.reset();
    }

    /// The world was idle, and the clock has moved to here.
    pub(super) fn was_idle(&mut self, time_ns: u64) {
        self.idle_ns = time_ns;
        self.late.clear();
        self.dirty = self.clock.offers_timers();
    }

    pub(crate) fn clock(&self) -> Clock {
        self.clock
    }

    /// Whether work may be late.
    #[inline]
    pub(in crate::execution) fn lag(&self) -> bool {
        matches!(self.clock, Clock::Lagging(_))
    }

    /// Whether no timer is running.
    pub(crate) fn is_empty(&self) -> bool {
        self.heap.len() == usize::from(self.is_hollow())
    }

    #[inline]
    fn is_hollow(&self) -> bool {
        self.first != 0
    }

    /// The one that fires first.
    #[inline]
    pub(in crate::execution) fn first(&self) -> Option<Due> {
        self.heap.get(self.first).copied()
    }

    /// When the timers are due that wake this task.
    pub(crate) fn deadlines_of(&self, key: u32) -> impl Iterator<Item = u64> + '_ {
        let running = self.timers.iter().filter(|timer| timer.place < SHELVED);
        let waits = move |timer: &&Timer| {
            let waiter = timer.waiter.as_ref();
            waiter.and_then(Waiter::task) == Some(key)
        };
        running.filter(waits).map(|timer| timer.deadline_ns)
    }

    /// When the last of the running timers is due; 0 if there is none.
    pub(crate) fn last_deadline_ns(&self) -> u64 {
        let running = self.timers.iter().filter(|timer| timer.place < SHELVED);
        running.map(|timer| timer.deadline_ns).max().unwrap_or(0)
    }

    /// All waiters, so that they can be dropped outside the core.
    pub(crate) fn take_waiters(&mut self) -> Vec<Waiter> {
        let mut waiters: Vec<_> = self
            .timers
            .iter_mut()
            .filter_map(|timer| timer.waiter.take())
            .collect();
        waiters.append(&mut self.due);
        waiters
    }

    fn place(&mut self, due: Due, at: usize) {
        self.heap[at] = due;
        self.timers[due.timer as usize].place = at as u32;
    }

    fn sift_up(&mut self, mut at: usize) {
        let due = self.heap[at];
        while at > 0 {
            let above = (at - 1) / 4;
            if self.heap[above].order() <= due.order() {
                break;
            }
            self.place(self.heap[above], at);
            at = above;
        }
        self.place(due, at);
    }

    fn sift_down(&mut self, at: usize) {
        let child = self.first_child(at);
        self.sift_down_by(at, child);
    }

    /// The same, where it is known which child is due first.
    fn sift_down_by(&mut self, mut at: usize, mut child: Option<usize>) {
        let due = self.heap[at];
        while let Some(next) = child {
            let least = self.heap[next];
            if due.order() <= least.order() {
                break;
            }
            self.place(least, at);
            at = next;
            child = self.first_child(at);
        }
        self.place(due, at);
    }

    /// The child that is due first.
    #[inline(always)]
    fn first_child(&self, at: usize) -> Option<usize> {
        let first = 4 * at + 1;
        let children = self.heap.get(first..)?;
        if let [a, b, c, d, ..] = children {
            // Which one it is cannot be foreseen, so that no branch asks.
            let left = usize::from(b.order() < a.order());
            let right = 2 + usize::from(d.order() < c.order());
            let is_right = usize::from(children[right].order() < children[left].order());
            return Some(first + left + (right - left) * is_right);
        }
        let (child, _) = (first..).zip(children).min_by_key(|(_, due)| due.order())?;
        Some(child)
    }

    #[inline(always)]
    pub(super) fn push(&mut self, timer: TimerId, deadline_ns: u64) {
        let due = Due {
            deadline_ns,
            sequence: self.sequence,
            timer,
        };
        self.sequence += 1;
        if self.is_hollow() {
            let child = std::mem::take(&mut self.first);
            self.heap[0] = due;
            self.sift_down_by(0, (child < self.heap.len()).then_some(child));
        } else {
            self.heap.push(due);
            self.sift_up(self.heap.len() - 1);
        }
        self.dirty = self.clock.offers_timers();
    }

    /// Takes a timer out of the heap, if it is there.
    pub(super) fn take(&mut self, timer: TimerId) {
        if self.timers[timer as usize].place >= SHELVED {
            return;
        }
        self.fill();
        let place = std::mem::replace(&mut self.timers[timer as usize].place, NONE) as usize;
        if place == 0 {
            self.first = self.first_child(0).unwrap_or(self.heap.len());
        } else {
            let last = self.heap.pop();
            let last = last.expect("cct bug: a timer's place in an empty heap");
            if place < self.heap.len() {
                self.heap[place] = last;
                self.sift_up(place);
                let place = self.timers[last.timer as usize].place as usize;
                self.sift_down(place);
            }
        }
        self.dirty = self.clock.offers_timers();
    }

    /// Takes the timers of a runtime out of the heap, until they are [taken back](Self::take_back).
    #[cold]
    pub(in crate::execution) fn shelve(&mut self, runtime: u16) -> Vec<Due> {
        self.fill();
        let is_its = |due: &&Due| self.timers[due.timer as usize].runtime == runtime;
        let shelf: Vec<Due> = self.heap.iter().filter(is_its).copied().collect();
        for due in &shelf {
            self.take(due.timer);
            self.timers[due.timer as usize].place = SHELVED;
        }
        shelf
    }

    /// One lies on a shelf no longer. Returns the runtime that it was set in.
    pub(in crate::execution) fn no_more_shelved(&mut self, timer: TimerId) -> u16 {
        let entry = &mut self.timers[timer as usize];
        entry.place = NONE;
        entry.runtime
    }

    /// The same for one that was pushed now, while the clock it goes by has stood for so long.
    #[cold]
    pub(in crate::execution) fn shelve_one(&mut self, timer: TimerId, stood_for_ns: u64) -> Due {
        let entry = &mut self.timers[timer as usize];
        entry.deadline_ns = entry.deadline_ns.saturating_sub(stood_for_ns);
        let deadline_ns = entry.deadline_ns;
        self.take(timer);
        self.timers[timer as usize].place = SHELVED;
        Due {
            deadline_ns,
            sequence: self.sequence - 1,
            timer,
        }
    }

    /// The clock goes on that these go by, having stood for so long.
    #[cold]
    pub(in crate::execution) fn take_back(&mut self, mut shelf: Vec<Due>, stood_for_ns: u64) {
        shelf.sort_unstable_by_key(|due| due.order());
        for due in shelf {
            let deadline_ns = due.deadline_ns.saturating_add(stood_for_ns);
            self.timers[due.timer as usize].deadline_ns = deadline_ns;
            self.push(due.timer, deadline_ns);
        }
    }

    /// Whether this holds of all that are due at the same time as the first one, of which there is one at least.
    pub(super) fn all_due_first(&self, holds: impl Fn(&Timer) -> bool) -> bool {
        let first = self.first();
        first.is_some_and(|first| self.all_due_from(0, first.deadline_ns, &holds))
    }

    /// The same of this place and what is below it: what is below one that is due later is due later, too.
    fn all_due_from(&self, at: usize, deadline_ns: u64, holds: &impl Fn(&Timer) -> bool) -> bool {
        let is_left = at == 0 && self.is_hollow();
        let below = 4 * at + 1..(4 * at + 5).min(self.heap.len());
        (is_left || holds(&self.timers[self.heap[at].timer as usize]))
            && below
                .filter(|&at| self.heap[at].deadline_ns == deadline_ns)
                .all(|at| self.all_due_from(at, deadline_ns, holds))
    }

    /// Fills the first place, if it is hollow.
    #[inline]
    fn fill(&mut self) {
        if std::mem::take(&mut self.first) == 0 {
            return;
        }
        let last = self.heap.pop();
        if let (Some(last), false) = (last, self.heap.is_empty()) {
            self.heap[0] = last;
            self.sift_down(0);
        }
    }

    /// Recomputes which timers may fire while work is ready, in firing order.
    pub(super) fn find_eligible(&mut self) {
        self.eligible.clear();
        self.fill();
        let Some(first) = self.heap.first().filter(|_| !self.fair) else {
            return;
        };
        match self.clock {
            Clock::Strict => {}
            Clock::Adversarial => self.eligible.push(first.timer),
            Clock::Lagging(slack) => {
                if first.deadline_ns <= self.idle_ns.saturating_add(nanos(slack)) {
                    self.eligible.push(first.timer);
                }
            }
            Clock::Racing(slack) => {
                let bound = first.deadline_ns.saturating_add(nanos(slack));
                let mut found: Vec<Due> = self
                    .heap
                    .iter()
                    .copied()
                    .filter(|due| due.deadline_ns <= bound)
                    .collect();
                found.sort_unstable_by_key(|due| due.order());
                self.eligible.extend(found.iter().map(|due| due.timer));
            }
        }
    }
}

fn nanos(slack: Duration) -> u64 {
    u64::try_from(slack.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Seed;
    use crate::words::seed::Generator;
    use rand::Rng as _;
    use std::collections::BTreeMap;

    fn below(random: &mut Generator, bound: usize) -> usize {
        (random.next_u64() % bound as u64) as usize
    }

    /// Registers, takes and looks at random, beside a sorted map.
    fn at_random(seed: u64, steps: usize, most: usize) {
        let mut random = Seed(seed).stream("timers");
        let (mut timers, mut model) = (Timers::new(), BTreeMap::new());
        let mut idle: Vec<TimerId> = (0..most as TimerId).collect();
        timers.timers.extend(idle.iter().map(|_| Timer {
            deadline_ns: 0,
            place: NONE,
            action: NONE,
            waiter: None,
            stem: 0,
            runtime: 0,
        }));
        for step in 0..steps {
            let (first, all) = (model.first_key_value(), model.len());
            assert_eq!(
                timers.first().map(|due| due.timer),
                first.map(|(_, timer)| *timer)
            );
            assert_eq!(timers.is_empty(), all == 0);
            let least = first.map(|((deadline_ns, _), _)| *deadline_ns);
            let at_once = model.keys().filter(|key| Some(key.0) == least).count();
            let seen = std::cell::Cell::new(0);
            timers.all_due_first(|timer| {
                assert_eq!(Some(timer.deadline_ns), least);
                seen.set(seen.get() + 1);
                true
            });
            assert_eq!(seen.get(), at_once);
            let taken = match below(&mut random, 4) {
                0 if all > 0 => *model.keys().nth(below(&mut random, all)).unwrap(),
                1 if all > 0 => *first.unwrap().0,
                2 => {
                    timers.find_eligible();
                    continue;
                }
                _ => {
                    let Some(timer) = idle.pop() else {
                        continue;
                    };
                    let deadline_ns = below(&mut random, 20) as u64;
                    timers.timers[timer as usize].deadline_ns = deadline_ns;
                    timers.push(timer, deadline_ns);
                    model.insert((deadline_ns, step), timer);
                    continue;
                }
            };
            let timer = model.remove(&taken).unwrap();
            timers.take(timer);
            timers.take(timer);
            idle.push(timer);
        }
    }

    #[test]
    fn the_first_is_that_of_a_sorted_map() {
        for most in [1, 2, 5, 40] {
            (0..20).for_each(|seed| at_random(seed, 500, most));
        }
    }
}
