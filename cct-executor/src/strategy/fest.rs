//! Fest: changes the random choices of iterations that did something new, and plays them again.
//!
//! A. Li, A. Desai and R. Padhye, "Feedback-guided adaptive testing of distributed systems designs",
//! NSDI 2026; for shared memory as in the tool Fray (see the module `surw`).
//!
//! Guarantee: none beyond that of its base while nothing is kept; a change of a choice leaves the
//! ones after it as they were, so that neighbours of what was new are tried.
//!
//! How: the random numbers behind all choices of the base strategy, data choices included, are
//! recorded on a tape. An iteration is kept if its timeline (see the module `timeline`) is new. A
//! kept tape is played several times, each time with `MUTATIONS` of its numbers drawn again. Its
//! diversity, 1 less the greatest similarity to another kept timeline, says which tape comes next
//! and how often: `BUDGET` times the diversity. When all have had their turn then with equal odds
//! they all have another, or the base strategy goes on alone for `BUDGET` iterations.
//!
//! Departures:
//! - A timeline is made of accesses that follow each other at a resource, instead of all pairs: a
//!   bounded number, linear in the steps.
//! - Resources are told apart by the order in which they are made.
//! - There are no scenarios to count towards the priority.
//! - A long iteration ends in a random walk, see the module `tail`. It is not on the tape.
//! - At most `KEPT_MAX` tapes are kept; then the least diverse one makes room. At most 2^17
//!   timelines are remembered, and 2^14 numbers of a tape.
//!
//! Measured by `feedback_finds_what_is_rare` and `kept_tapes_are_bounded` below.

use super::description::Description;
use super::draw;
use super::pos::Sampler;
use super::seen::Seen;
use super::spec::{Entry, Kind, Parameter};
use super::tail::Tail;
use super::tape::Tape;
use super::timeline::{Signature, Timeline};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

/// How many numbers of a tape are drawn again.
const MUTATIONS: u32 = 5;
/// How often the most diverse tape is played in a turn.
const BUDGET: u32 = 16;
/// How many tapes are kept.
const KEPT_MAX: usize = 64;
/// Places for hashes of timelines.
const PLACES_MAX: usize = 1 << 18;
/// Instances among which the iterations are shared.
const LANES: u32 = 4;

/// What makes the choices out of random numbers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Base {
    /// Partial order sampling.
    Pos,
    /// A uniform random walk.
    Random,
}

/// Feedback on top of a base strategy.
#[derive(Clone, Debug)]
pub struct Fest {
    base: Base,
    tape: Tape,
    /// Decides what is played next.
    power: Generator,
    sampler: Sampler,
    timeline: Timeline,
    known: Seen,
    kept: Vec<Kept>,
    /// Whose tape has its turn; none while the base goes on alone.
    turn: Option<usize>,
    /// How many iterations the turn still has.
    left: u32,
    tail: Tail,
}

/// A tape whose timeline was new.
#[derive(Clone, Debug)]
struct Kept {
    numbers: Vec<u64>,
    signature: Signature,
    diversity: f64,
    had_turn: bool,
}

impl Fest {
    pub(super) const ENTRY: Entry = Entry {
        name: "fest",
        help: "changes the choices of iterations in which tasks met in a new order",
        parameters: &[Parameter {
            name: "base",
            help: "what makes choices out of random numbers (pos)",
            kind: Kind::Word(&["pos", "random"]),
        }],
        build: |arguments| {
            Box::new(Fest::on(match arguments.word("base") {
                Some(1) => Base::Random,
                _ => Base::Pos,
            }))
        },
    };

    /// Feedback on top of this strategy.
    pub fn on(base: Base) -> Fest {
        Fest {
            base,
            tape: Tape::new(),
            power: Seed(0).stream("fest.power"),
            sampler: Sampler::new(),
            timeline: Timeline::new(),
            known: Seen::new(PLACES_MAX),
            kept: Vec::new(),
            turn: None,
            left: 0,
            tail: Tail::new("fest.tail"),
        }
    }

    /// Gives the turn to a tape, or to the base alone.
    fn next_turn(&mut self) {
        self.turn = self.most_diverse();
        if self.turn.is_none() && draw::below(&mut self.power, 2) == 0 {
            self.kept.iter_mut().for_each(|kept| kept.had_turn = false);
            self.turn = self.most_diverse();
        }
        self.left = BUDGET;
        if let Some(turn) = self.turn {
            let kept = &mut self.kept[turn];
            kept.had_turn = true;
            self.left = ((f64::from(BUDGET) * kept.diversity) as u32).max(1);
        }
    }

    /// The first of the most diverse tapes that have not had their turn.
    fn most_diverse(&self) -> Option<usize> {
        let waiting = (0..self.kept.len()).filter(|&at| !self.kept[at].had_turn);
        waiting.reduce(|best, at| {
            if self.kept[at].diversity > self.kept[best].diversity {
                at
            } else {
                best
            }
        })
    }

    /// Keeps the present tape, unless there is no room and all others are more diverse.
    #[cold]
    fn keep(&mut self) {
        let signature = self.timeline.signature();
        let similarities = self.kept.iter().map(|k| k.signature.similarity(&signature));
        let kept = Kept {
            numbers: self.tape.played().to_vec(),
            diversity: 1.0 - similarities.fold(0.0, f64::max),
            signature,
            had_turn: false,
        };
        if self.kept.len() < KEPT_MAX {
            return self.kept.push(kept);
        }
        let others = (0..KEPT_MAX).filter(|&at| self.turn != Some(at));
        let least = others.reduce(|least, at| {
            if self.kept[at].diversity < self.kept[least].diversity {
                at
            } else {
                least
            }
        });
        if let Some(least) = least {
            if self.kept[least].diversity <= kept.diversity {
                self.kept[least] = kept;
            }
        }
    }
}

impl Strategy for Fest {
    fn describe(&self) -> String {
        let base = matches!(self.base, Base::Random).then_some("random");
        Description::of(Self::ENTRY.name).given("base", base).text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(LANES)
    }

    fn systematic(&self) -> bool {
        true
    }

    fn interests(&self) -> Interests {
        Interests {
            lifecycle: true,
            steps: true,
            fresh: self.base == Base::Pos,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.power = iteration.seed.stream("fest.power");
        let fresh = iteration.seed.stream("fest.tape");
        self.sampler.clear();
        self.timeline.clear();
        self.tail.begin(iteration, 0);
        if self.left == 0 {
            self.next_turn();
        }
        self.left -= 1;
        match self.turn {
            Some(turn) => {
                self.tape.play(&self.kept[turn].numbers, fresh);
                self.tape.mutate(MUTATIONS);
            }
            None => self.tape.record(fresh),
        }
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        if self.tail.has_come() {
            return self.tail.pick(enabled);
        }
        match (enabled, self.base) {
            (EnabledSet::Values(values), _) => {
                let pick = enabled.pick(draw::value(&mut self.tape, values));
                self.timeline.choose(enabled, pick);
                pick
            }
            (EnabledSet::Actions(actions), Base::Pos) => {
                self.sampler.next(point, actions, &mut self.tape)
            }
            (EnabledSet::Actions(_), Base::Random) => {
                enabled.pick(draw::below(&mut self.tape, enabled.len() as u32) as usize)
            }
        }
    }

    #[inline]
    fn observe(&mut self, event: &StepEvent<'_>) {
        self.timeline.take_in(event);
    }

    fn end(&mut self, _: &IterationEnd) {
        if self.known.insert(self.timeline.hash()) {
            self.keep();
        }
    }

    fn adapted(&self) -> String {
        match self.known.len() {
            0 => String::new(),
            known => format!("timelines={known}, kept={}", self.kept.len()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::strategy::model::{Do, Toy};

    /// Task 1 comes late. That it is first at the last cell needs most of 31 coins to fall its way;
    /// that it is first at any takes fewer, and is a new timeline.
    fn race() -> Toy {
        let cells = |own: fn(usize) -> Do| (0..8).map(own);
        let late = std::iter::repeat_n(Do::Step, 16).chain(cells(Do::Read));
        Toy::new(vec![cells(Do::Write).collect(), late.collect()])
    }

    /// In how many of 1500 iterations task 1 was first at the last cell.
    fn upsets(feedback: bool, seed: u64) -> usize {
        let mut toy = race();
        let mut strategy = Fest::on(Base::Random);
        let hits = (0..1500).filter(|&index| {
            if !feedback {
                strategy.turn = None;
                strategy.left = 2;
            }
            let run = toy.run(&mut strategy, Seed(seed), index);
            run.when(1, 23) < run.when(0, 7)
        });
        hits.count()
    }

    /// A random walk has odds of 0.0017 each time, so that 25 or more are less likely than 10^-9.
    #[test]
    fn feedback_finds_what_is_rare() {
        let (with, without) = (upsets(true, 71), upsets(false, 71));
        assert!(without < 25 && with >= 25, "{without} {with}");
    }

    #[test]
    fn kept_tapes_are_bounded() {
        let mut toy = Toy::new((0..4).map(|_| (0..8).map(Do::Write).collect()).collect());
        let mut strategy = Fest::on(Base::Random);
        for index in 0..500 {
            toy.run(&mut strategy, Seed(72), index);
            assert!(strategy.kept.len() <= KEPT_MAX);
        }
        assert_eq!(strategy.kept.len(), KEPT_MAX);
    }

    #[test]
    fn the_base_is_named_unless_it_is_usual() {
        assert_eq!(Fest::on(Base::Pos).describe(), "fest");
        assert_eq!(Fest::on(Base::Random).describe(), "fest:base=random");
    }
}
