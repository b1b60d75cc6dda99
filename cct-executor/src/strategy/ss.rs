//! Stratified sampling: random schedules with a given number of delays.
//!
//! A. Desai, S. Qadeer and S. Seshia, "Systematic testing of asynchronous reactive systems",
//! ESEC/FSE 2015, section 4, figure 7.
//!
//! Guarantee: a schedule that the [explorer](super::delaying) reaches with `n` delays comes out of
//! a sample of stratum `n` with probability at least `1 / L^n`, if no schedule that was seen has more
//! than `L` decisions, and none of its delays comes after the `L`-th one. A long schedule is as likely
//! as a short one with as many delays.
//!
//! How: the places of all `n` delays are drawn at once, uniformly and independently, from as many
//! decisions as the longest schedule of the lane so far had, and the schedule with these delays is
//! run: a sample is one iteration. Different places can be drawn in `n!` orders, so that such a
//! schedule is that much likelier than promised. Iteration 0 has no delay; it shows how many
//! decisions there are. Stratum `n` has `100 + 3^n` samples, and then it is the turn of `n + 1`, for
//! ever.
//!
//! With [`one_by_one`](Ss::one_by_one) it is as in the paper: a sample begins with the schedule
//! without delays; then a place at or after the last delay is drawn uniformly, and the schedule
//! with one delay more there is run, until there are `n` delays. This takes `n + 1` iterations,
//! in any of which a bug may show, and puts most delays near the end.
//!
//! The samples of a stratum are shared by 16 lanes, each of which does its own one after the other.
//!
//! Departures:
//! - Drawing at once. The paper draws one by one, and counts a sample as one schedule.
//! - The paper's loop does not set its counter back when the stratum changes, so that only the
//!   difference to the stratum before would be sampled. Here every stratum has all its samples.
//! - As in the paper, the first stratum is that of one delay. (The authors' tool does not run what
//!   comes after the last delay. Here it is run.)
//! - Only decisions with a choice are positions; one by one, only where one more delay gives a
//!   choice that was not taken there yet. So fewer positions are drawn from, which makes `L` smaller.
//! - A sample has fewer delays if no position is left for them, or not enough choices at one.
//! - Data choices with more than two values, and sealed regions: as in [`Ses`](super::Ses).
//!
//! Measured by `every_schedule_is_as_likely_as_promised` and `strata_have_their_samples` below.

use super::delaying::guide::Guide;
use super::delaying::{self, DelayingExplorer};
use super::description::Description;
use super::draw;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::seed::Generator;
use crate::words::{EnabledSet, Iteration, IterationEnd, Pick, SchedulingPoint, Seed};

/// Lanes that share the samples of a stratum.
const LANES: u32 = 16;

/// Samples schedules by their numbers of delays.
#[derive(Clone, Debug)]
pub struct Ss<E> {
    guide: Guide<E>,
    min: u32,
    max: u32,
    /// Its lane, once the first iteration has told.
    lane: Option<u64>,
    /// The present stratum, and the sample's number in it.
    stratum: u32,
    sample: u64,
    /// Of the present sample.
    seed: Seed,
    generator: Generator,
    /// Positions at which the present schedule delays, in order, one entry a delay.
    path: Vec<u32>,
    /// Whether the present sample has been begun and goes on.
    going_on: bool,
    /// Whether places are drawn one after the other, each in the schedule with those before.
    one_by_one: bool,
    /// The greatest number of positions in an iteration so far.
    longest: u32,
    /// Decisions so far in this iteration that can be delayed, and delays made.
    position: u32,
    made: usize,
    /// Whether one delay more is possible at the last of them.
    more_there: bool,
    /// Samples that ran out of positions.
    short: u64,
    samples: u64,
}

impl Ss<Box<dyn DelayingExplorer>> {
    pub(super) const ENTRY: Entry = Entry {
        name: "ss",
        help: "random schedules with one delay, with two...; for a delaying explorer",
        parameters: &[
            delaying::PARAMETER,
            Parameter {
                name: "min",
                help: "the number of delays to begin with; 1 if not given",
                kind: Kind::Number(0, 1_000_000),
            },
            Parameter {
                name: "max",
                help: "the number of delays to end with; no end if not given",
                kind: Kind::Number(0, 1_000_000),
            },
            Parameter {
                name: "one-by-one",
                help: "as published: draw each delay in the schedule with those before it, which \
                       takes as many iterations",
                kind: Kind::Switch,
            },
        ],
        build: |arguments| {
            let number = |name| arguments.number(name).map(|number| number as u32);
            let mut ss = Ss::new(delaying::named(arguments));
            if let Some(delays) = number("min") {
                ss = ss.min_delays(delays);
            }
            if let Some(delays) = number("max") {
                ss = ss.max_delays(delays);
            }
            Box::new(ss.one_by_one(arguments.is_on("one-by-one")))
        },
    };
}

/// Samples of a stratum, over all lanes.
fn samples_of(stratum: u32) -> u64 {
    3_u64.saturating_pow(stratum).saturating_add(100)
}

impl<E: DelayingExplorer> Ss<E> {
    /// Samples of an explorer's schedules, with one delay first.
    pub fn new(explorer: E) -> Self {
        Ss {
            guide: Guide::new(explorer),
            min: 1,
            max: u32::MAX,
            lane: None,
            stratum: 0,
            sample: 0,
            seed: Seed(0),
            generator: Seed(0).stream("ss"),
            path: Vec::new(),
            going_on: false,
            one_by_one: false,
            longest: 0,
            position: 0,
            made: 0,
            more_there: false,
            short: 0,
            samples: 0,
        }
    }

    /// The number of delays to begin with.
    pub fn min_delays(mut self, delays: u32) -> Self {
        self.min = delays;
        self
    }

    /// The number of delays to end with.
    pub fn max_delays(mut self, delays: u32) -> Self {
        self.max = delays;
        self
    }

    /// Whether each delay is drawn in the schedule that has those before it, as published. A sample
    /// of `n` delays takes `n + 1` iterations then.
    pub fn one_by_one(mut self, on: bool) -> Self {
        self.one_by_one = on;
        self
    }

    /// Draws all delays of a sample.
    fn draw_path(&mut self, positions: u32) {
        if positions == 0 {
            return;
        }
        for _ in 0..self.stratum {
            self.path.push(draw::below(&mut self.generator, positions));
        }
        self.path.sort_unstable();
    }

    /// Begins the lane's next sample. Returns whether there is one.
    fn next_sample(&mut self, iteration: &Iteration) -> bool {
        let lane = match self.lane {
            None => {
                let lane = iteration.index % u64::from(LANES);
                self.lane = Some(lane);
                (self.stratum, self.sample) = (self.min, lane);
                lane
            }
            Some(lane) => {
                self.sample = self.sample.saturating_add(u64::from(LANES));
                lane
            }
        };
        if self.sample >= samples_of(self.stratum) {
            self.stratum = self.stratum.saturating_add(1);
            self.sample = lane;
        }
        self.sow(iteration);
        if !self.one_by_one {
            self.draw_path(self.longest);
        }
        self.stratum <= self.max
    }

    /// Everything random in a sample comes from here.
    fn sow(&mut self, iteration: &Iteration) {
        self.seed = iteration.seed;
        self.generator = iteration.seed.stream("ss");
        self.path.clear();
        self.going_on = true;
    }

    /// Decides at a position that may be delayed: by how many delays.
    fn delays(&mut self, enabled: &EnabledSet<'_>) -> u32 {
        let position = self.position;
        self.position += 1;
        if self.made == self.path.len() {
            return 0;
        }
        let rest = self.path[self.made..].iter();
        let wanted = rest.take_while(|&&delayed| delayed == position).count();
        self.made += wanted;
        let most = enabled.len() - 1;
        self.more_there = wanted < most;
        wanted.min(most) as u32
    }
}

impl<E: DelayingExplorer> Strategy for Ss<E> {
    fn describe(&self) -> String {
        Description::of("ss")
            .unless("explorer", self.guide.explorer.name(), delaying::NAMES[0])
            .unless("min", self.min, 1)
            .unless("max", self.max, u32::MAX)
            .given("one-by-one", self.one_by_one.then_some("on"))
            .text()
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(LANES)
    }

    fn interests(&self) -> Interests {
        Guide::<E>::INTERESTS
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        if !self.one_by_one && iteration.index == 0 {
            self.sow(iteration);
        } else if !self.going_on && !self.next_sample(iteration) {
            return Flow::Exhausted;
        }
        self.guide.begin(self.seed);
        (self.position, self.made, self.more_there) = (0, 0, false);
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let delays = if self.guide.sealed {
            0
        } else {
            self.delays(enabled)
        };
        self.guide.choose(enabled, delays)
    }

    fn primed(&self) -> bool {
        !self.one_by_one
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.guide.observe(event);
    }

    fn end(&mut self, _: &IterationEnd) {
        if !self.one_by_one {
            self.longest = self.longest.max(self.position);
            self.going_on = false;
            self.samples += u64::from(self.lane.is_some());
            let delays = self.stratum as usize;
            self.short += u64::from(self.made < delays || self.path.len() < delays);
            return;
        }
        let from = match self.path.last() {
            None => 0,
            Some(&last) => last + u32::from(!self.more_there),
        };
        let wanted = self.path.len() < self.stratum as usize;
        let left = self.position.saturating_sub(from);
        self.going_on = wanted && left > 0;
        if self.going_on {
            self.path
                .push(from + draw::below(&mut self.generator, left));
        } else {
            self.samples += 1;
            self.short += u64::from(wanted);
        }
    }

    fn adapted(&self) -> String {
        match self.lane {
            None => String::new(),
            Some(_) => format!("now {} delays", self.stratum),
        }
    }

    fn remarks(&self) -> Vec<String> {
        if self.short == 0 {
            return Vec::new();
        }
        vec![format!(
            "{} of {} samples of one lane had no place left for all their delays",
            self.short, self.samples
        )]
    }
}

#[cfg(test)]
#[path = "ss_tests.rs"]
mod tests;
