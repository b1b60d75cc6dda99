//! Greedy: always to the abstract state that was visited least.
//!
//! The baseline of S. Mukherjee, P. Deligiannis, A. Biswas and A. Lal, "Learning-based controlled
//! concurrency testing", OOPSLA 2020, section 5.3.
//!
//! Guarantee: none. It is not fair: a choice that always leads to a new state (a timer that fills a
//! queue) can be taken for ever.
//!
//! How: for each choice in a state, the state to which it led last is remembered, and for each state
//! how often it was visited, over all iterations. A choice that was never taken in this state comes
//! first; otherwise the one whose state was visited least. Among equals the choice is random. A
//! state is, as in the artifact, what queues hold, which locks are held, and the kinds of the pending
//! operations: a finer one has too many states to come back to.
//!
//! Departures: states are seen at decisions only, and at the end of an iteration: steps with one
//! choice lead from one to the other unseen. What a choice led to is known at once, and not only in
//! the next iteration. Unlike in the artifact the values of data choices are choices like any
//! other. The weights of values mean nothing here. When [`states`](Greedy::states) are known, what
//! is new is not remembered and counts as never taken; the report says so.
//!
//! `compat=psharp` does as the artifact does: data choices are random, by weight, and what follows
//! them is remembered as if the task's step had led there from the state at the choice; choices are
//! remembered at the end of an iteration; states with one choice are seen like others, while the last
//! state is not.
//!
//! Measured by `the_least_visited_state_is_next`, `ties_are_random` (a false alarm in 10^9),
//! `data_choices_are_chosen_greedily_only_by_the_paper`,
//! `states_with_one_choice_are_seen_only_by_the_artifact`, and on programs of the paper by
//! `greedy_finds_the_bugs_of_small_programs`.

use super::draw;
use super::memory::Memory;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::fingerprint::mix2;
use crate::words::seed::Generator;
use crate::words::{
    EnabledSet, Fingerprint, Iteration, IterationEnd, Pick, SchedulingPoint, Seed, StateParts,
};

const STATES: u64 = 4_000_000;
/// Choices that are remembered, for each state.
const CHOICES: usize = 4;

/// Goes to the least visited state; see the module's documentation.
#[derive(Clone, Debug)]
pub struct Greedy {
    psharp: bool,
    states_max: u64,
    generator: Generator,
    states: Memory<State>,
    /// From state and choice to the state after it.
    next_states: Memory<u64>,
    /// The last choice, not yet in `next_states`: the key of state and choice.
    taken: Option<u64>,
    /// The action that was picked last, for `compat=psharp`.
    acting: u64,
    /// Of this iteration, for `compat=psharp`: keys, and the states after them.
    path: Vec<(u64, u64)>,
    best: Vec<Pick>,
}

/// What is remembered of a state.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    visits: u64,
    /// Which choices were taken there: a bit of each, which others may share.
    taken: u64,
}

/// The bit of a choice.
#[inline]
fn bit(choice: u64) -> u64 {
    1 << (choice >> 58)
}

impl Greedy {
    pub(super) const ENTRY: Entry = Entry {
        name: "greedy",
        help: "always to the abstract state that was visited least",
        parameters: &[
            Parameter {
                name: "states",
                help: "most states to remember (4000000)",
                kind: Kind::Number(1, 1 << 32),
            },
            Parameter {
                name: "compat",
                help: "as the paper says, or as the P# tester does (paper)",
                kind: Kind::Word(&["paper", "psharp"]),
            },
        ],
        build: |arguments| {
            Box::new(
                Greedy::new()
                    .states(arguments.number("states").unwrap_or(STATES))
                    .psharp(arguments.word("compat") == Some(1)),
            )
        },
    };

    /// As the paper describes it.
    pub fn new() -> Self {
        Greedy {
            psharp: false,
            states_max: STATES,
            generator: Seed(0).stream("greedy"),
            states: Memory::new(STATES as usize),
            next_states: Memory::new(STATES as usize * CHOICES),
            taken: None,
            acting: 0,
            path: Vec::new(),
            best: Vec::new(),
        }
    }

    /// Remembers at most so many states.
    pub fn states(self, most: u64) -> Self {
        Greedy {
            states_max: most,
            states: Memory::new(most as usize),
            next_states: Memory::new(most as usize * CHOICES),
            ..self
        }
    }

    /// Does as the P# tester does.
    pub fn psharp(self, on: bool) -> Self {
        Greedy { psharp: on, ..self }
    }

    /// A state is reached, by the last choice. Returns the bits of the choices that were taken there.
    #[inline]
    fn arrive(&mut self, state: u64) -> u64 {
        if let Some(taken) = self.taken.take() {
            if self.psharp {
                self.path.push((taken, state));
            } else {
                self.learn(taken, state);
            }
        }
        match self.states.entry(state) {
            Some(known) => {
                known.visits += 1;
                known.taken
            }
            None => u64::MAX,
        }
    }

    /// The action that was picked last is taken in this state.
    #[inline]
    fn take(&mut self, state: u64) {
        self.taken = Some(mix2(state, self.acting));
        if let Some(known) = self.states.get_mut(state) {
            known.taken |= bit(self.acting);
        }
    }

    fn learn(&mut self, taken: u64, state: u64) {
        if let Some(next) = self.next_states.entry(taken) {
            *next = state;
        }
    }

    /// One of the choices with the least visited next state.
    #[inline]
    fn choose(&mut self, state: u64, taken: u64, enabled: &EnabledSet<'_>) -> Pick {
        let count = enabled.len() as u32;
        if taken == 0 {
            return enabled.pick(draw::below(&mut self.generator, count) as usize);
        }
        match enabled {
            EnabledSet::Actions(actions) => {
                let choices = actions.iter().map(|(pick, action)| (pick, action.id.0));
                self.compare(state, taken, choices);
            }
            EnabledSet::Values(_) => {
                let choices = enabled.iter().map(|pick| (pick, enabled.id(pick).0));
                self.compare(state, taken, choices);
            }
        }
        match self.best.len() {
            1 => self.best[0],
            n => self.best[draw::below(&mut self.generator, n as u32) as usize],
        }
    }

    /// Finds the choices with the least visited next state.
    #[inline]
    fn compare(&mut self, state: u64, taken: u64, choices: impl Iterator<Item = (Pick, u64)>) {
        let mut least = u64::MAX;
        self.best.clear();
        for (pick, choice) in choices {
            let visits = if taken & bit(choice) == 0 {
                0
            } else {
                self.visits_after(state, choice)
            };
            if visits < least {
                least = visits;
                self.best.clear();
            }
            if visits == least {
                self.best.push(pick);
            }
        }
    }

    /// How often the state was visited to which the choice led last.
    #[inline]
    fn visits_after(&self, state: u64, choice: u64) -> u64 {
        let next = self.next_states.get(mix2(state, choice));
        next.map_or(0, |next| {
            self.states.get(next).map_or(1, |known| known.visits)
        })
    }
}

/// The state, with pending operations told apart by their kind only.
#[inline]
fn state(fingerprint: Fingerprint, parts: &StateParts) -> u64 {
    let rest = fingerprint.0.wrapping_sub(parts.observed);
    rest.wrapping_sub(parts.pending).wrapping_add(parts.kinds)
}

impl Default for Greedy {
    fn default() -> Self {
        Self::new()
    }
}

impl Strategy for Greedy {
    fn describe(&self) -> String {
        let mut text = Self::ENTRY.name.to_owned();
        if self.states_max != STATES {
            text += &format!(":states={}", self.states_max);
        }
        if self.psharp {
            text += if text.contains(':') { "," } else { ":" };
            text += "compat=psharp";
        }
        text
    }

    fn lanes(&self) -> Lanes {
        Lanes::Fixed(1)
    }

    fn interests(&self) -> Interests {
        Interests {
            parts: true,
            forced: self.psharp,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.generator = iteration.seed.stream("greedy");
        self.taken = None;
        self.acting = 0;
        self.path.clear();
        Flow::Continue
    }

    #[inline]
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let state = state(point.fingerprint, &point.parts);
        let taken = self.arrive(state);
        let pick = match enabled {
            EnabledSet::Values(values) if self.psharp => {
                enabled.pick(draw::value(&mut self.generator, values))
            }
            _ => {
                let pick = self.choose(state, taken, enabled);
                self.acting = enabled.id(pick).0;
                pick
            }
        };
        self.take(state);
        pick
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        if let StepEvent::Forced {
            id,
            fingerprint,
            parts,
        } = event
        {
            let state = state(*fingerprint, parts);
            self.arrive(state);
            self.acting = id.0;
            self.take(state);
        }
    }

    fn end(&mut self, end: &IterationEnd) {
        if self.psharp {
            for index in 0..self.path.len() {
                let (taken, state) = self.path[index];
                self.learn(taken, state);
            }
        } else {
            self.arrive(state(end.fingerprint, &end.parts));
        }
    }

    fn adapted(&self) -> String {
        format!("states={}", self.states.len())
    }

    fn remarks(&self) -> Vec<String> {
        let refused = self.states.refused() + self.next_states.refused();
        if refused == 0 {
            return Vec::new();
        }
        vec![format!(
            "the memory was full (states={}): {refused} visits and choices were not remembered",
            self.states_max
        )]
    }
}

#[cfg(test)]
#[path = "greedy_tests.rs"]
mod tests;
