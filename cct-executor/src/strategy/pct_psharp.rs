//! PCT as the P# tester has it: priorities in a list, and `d` steps at which the first goes last.
//!
//! After the strategy that stands for PCT in S. Mukherjee, P. Deligiannis, A. Biswas and A. Lal,
//! "Learning-based controlled concurrency testing", OOPSLA 2020, as its artifact implements it
//! (there named PCT-3, PCT-10 and PCT-30 by its number of changes). For comparison with the figures
//! of that paper; to find bugs with known odds use `pct`.
//!
//! Guarantee: none. The order of the changed priorities is fixed, which the theorem of the PCT
//! paper does not allow.
//!
//! How: the actions stand in a list; the first enabled one runs. A new action is put at a random
//! place behind the first, which is the main task at the beginning. Before each of `d` distinct
//! steps the enabled action that stands first is moved to the end. So, unlike in PCT, the number of
//! changes is `d` and not `d - 1`, of two actions that were moved the later one comes last, and an
//! action that comes later may stand behind moved ones.
//! - Steps are drawn below the length of the longest iteration so far, by a shuffle that is slightly
//!   biased. The first iteration has no changes, as nothing is known.
//! - All steps count, those with one enabled action and data choices too. A change before a step
//!   with one enabled action slides to the next step without a change; at a data choice it is lost.
//! - Data choices are uniform, or by weight.
//!
//! Departures: the artifact asks for no decision before the first step of all, and counts from
//! the second; so it is here. A list of all actions is searched there at each step; here the
//! places are numbers in a ranking. Iterations that are cut count for the length, in both.
//!
//! Measured by `two_moved_actions_are_in_the_order_of_their_changes`,
//! `new_actions_stand_anywhere_behind_the_first` and `changes_slide_over_lonely_steps` below, and by
//! `fibonacci_2_with_30_changes` with the bug of the published table.

use super::description::Description;
use super::places::{Neighbours, Places};
use super::ranking::Ranking;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, Strategy, draw};
use crate::words::enabled::EnabledActions;
use crate::words::seed::Generator;
use crate::words::{ActionKey, EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

const CHANGES: u32 = 3;
/// The place of the main task at the beginning, as a number.
const FIRST: u64 = u64::MAX;
/// Between neighbours, when there is no reason for less.
const GAP: u64 = 1 << 53;
/// In a list of this length no two numbers are too close.
const UNCROWDED: usize = 64;
/// When there is no change left.
const NEVER: u64 = u64::MAX;

/// Runs the first enabled action of a list; see the module's documentation.
#[derive(Clone, Debug)]
pub struct PctPsharp {
    changes: u32,
    /// Most steps of an iteration so far.
    length: u64,
    places: Generator,
    positions: Generator,
    values: Generator,

    list: Places,
    /// Invariant: an action's priority is above those of all that come after it in the list.
    ranking: Ranking,
    /// How long the list may get before numbers are spread anew.
    crowded: usize,
    drawn: Vec<u32>,
    /// Invariant: from `next` on sorted, without repetition: the steps before which to change.
    points: Vec<u64>,
    next: usize,
    /// The next of them, or [`NEVER`].
    upcoming: u64,
}

impl PctPsharp {
    pub(super) const ENTRY: Entry = Entry {
        name: "pct-psharp",
        help: "the PCT of the P# tester, to compare with published figures",
        parameters: &[Parameter {
            name: "d",
            help: "number of changes (3)",
            kind: Kind::Number(0, 10_000),
        }],
        build: |arguments| {
            let changes = arguments.number("d").unwrap_or(u64::from(CHANGES));
            Box::new(PctPsharp::changes(changes as u32))
        },
    };

    /// With so many changes an iteration.
    pub fn changes(d: u32) -> Self {
        let none = Seed(0);
        PctPsharp {
            changes: d,
            length: 0,
            places: none.stream("pct-psharp.places"),
            positions: none.stream("pct-psharp.positions"),
            values: none.stream("pct-psharp.values"),
            list: Places::default(),
            ranking: Ranking::default(),
            crowded: UNCROWDED,
            drawn: Vec::new(),
            points: Vec::new(),
            next: 0,
            upcoming: NEVER,
        }
    }

    fn draw_points(&mut self) {
        // There is no decision before the first step.
        let range = u32::try_from(self.length.saturating_sub(1)).unwrap_or(u32::MAX);
        draw::biased_distinct(
            &mut self.positions,
            range,
            self.changes as usize,
            &mut self.drawn,
        );
        self.points.clear();
        self.points
            .extend(self.drawn.iter().map(|&point| u64::from(point) + 1));
        self.points.sort_unstable();
        self.skip_to(0);
    }

    fn skip_to(&mut self, next: usize) {
        self.next = next;
        self.upcoming = self.points.get(next).copied().unwrap_or(NEVER);
    }

    /// Whether a change is due at this step. Those of the steps since the last decision, which had
    /// one enabled action, slide to the free steps from this one on.
    #[cold]
    fn arrive(&mut self, step: u64) -> bool {
        let late = self.points[self.next..].iter();
        let mut late = late.take_while(|&&point| point < step).count();
        // The places of the late ones in the list are free: fill up from there.
        let mut read = self.next + late;
        let mut write = self.next;
        let mut slot = step;
        while late > 0 {
            if self.points.get(read) == Some(&slot) {
                read += 1;
            } else {
                late -= 1;
            }
            self.points[write] = slot;
            write += 1;
            slot += 1;
        }
        let due = self.points.get(self.next) == Some(&step);
        self.skip_to(self.next + usize::from(due));
        due
    }

    /// Puts a new action at a random place.
    fn insert(&mut self, key: ActionKey) {
        let place = match self.list.len() {
            0 => 0,
            n => 1 + draw::below(&mut self.places, n as u32) as usize,
        };
        if self.list.len() == self.crowded {
            self.crowded *= 4;
            self.spread();
        }
        self.put(key, place);
    }

    fn put(&mut self, key: ActionKey, place: usize) {
        let neighbours = self.list.insert(place, key);
        match self.between(neighbours) {
            Some(number) => self.ranking.place(key, number),
            None => {
                self.ranking.place(key, 0);
                self.spread();
            }
        }
    }

    /// A number between those of the neighbours, if there is any.
    fn between(&self, (before, behind): Neighbours) -> Option<u64> {
        let Some(before) = before else {
            return Some(FIRST);
        };
        let upper = self.ranking.priority(before);
        let lower = behind.map_or(upper.saturating_sub(2 * GAP), |behind| {
            self.ranking.priority(behind)
        });
        (upper - lower > 1).then(|| lower + (upper - lower) / 2)
    }

    /// Gives all actions of the list numbers that are equally far apart: where they are crowded the
    /// ranking is slow, and in the end there is none left in between.
    #[cold]
    fn spread(&mut self) {
        let count = self.list.len() as u64;
        let gap = FIRST / (count + 2);
        let numbers = (0..count).rev().map(|place| FIRST - place * gap);
        self.ranking.renumber(self.list.backwards().zip(numbers));
    }

    /// Moves the enabled action that stands first to the end.
    #[cold]
    fn change(&mut self, enabled: &EnabledActions<'_>) {
        let (key, _) = self.ranking.top(enabled, &mut self.places);
        self.list.remove(key);
        let neighbours = self.list.insert(self.list.len(), key);
        match self.between(neighbours) {
            Some(number) => self.ranking.set(key, number),
            None => self.spread(),
        }
    }

    #[inline]
    fn next(&mut self, point: &SchedulingPoint, enabled: &EnabledActions<'_>) -> Pick {
        for key in enabled.fresh() {
            if self.ranking.knows(key) {
                self.ranking.admit(key, &mut self.places);
            } else {
                self.insert(key);
            }
        }
        if point.step >= self.upcoming && self.arrive(point.step) {
            self.change(enabled);
        }
        self.ranking.top(enabled, &mut self.places).1
    }
}

impl Strategy for PctPsharp {
    fn describe(&self) -> String {
        Description::of(Self::ENTRY.name)
            .unless("d", self.changes, CHANGES)
            .text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn interests(&self) -> Interests {
        Interests {
            fresh: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.places = iteration.seed.stream("pct-psharp.places");
        self.positions = iteration.seed.stream("pct-psharp.positions");
        self.values = iteration.seed.stream("pct-psharp.values");
        self.list.clear();
        self.ranking.clear();
        self.crowded = UNCROWDED;
        self.draw_points();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match enabled {
            EnabledSet::Actions(actions) => self.next(point, actions),
            EnabledSet::Values(values) => {
                // The choice is itself the last of the steps that are counted.
                let step = point.step - 1;
                if step >= self.upcoming {
                    self.arrive(step);
                }
                enabled.pick(draw::value(&mut self.values, values))
            }
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        self.length = self.length.max(end.steps);
    }

    fn adapted(&self) -> String {
        match self.length {
            0 => String::new(),
            length => format!("length={length}"),
        }
    }
}

#[cfg(test)]
#[path = "pct_psharp_tests.rs"]
mod tests;
