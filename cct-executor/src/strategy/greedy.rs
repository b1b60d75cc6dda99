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

use super::description::Description;
use super::draw;
use super::memory::Memory;
use super::spec::{Entry, Kind, Parameter};
use super::{Flow, Interests, Lanes, StepEvent, Strategy};
use crate::words::enabled::EnabledActions;
use crate::words::fingerprint::mix2;
use crate::words::seed::Generator;
use crate::words::{
    ActionKey, EnabledSet, Fingerprint, Iteration, IterationEnd, Pick, SchedulingPoint, Seed,
    StateParts,
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
    next_states: Memory<Choice>,
    /// The last choice, not yet in `next_states`.
    taken: Option<Taken>,
    /// The action that was picked last, for `compat=psharp`.
    acting: u64,
    /// Of this iteration, for `compat=psharp`: choices, and the states after them.
    path: Vec<(Taken, u64)>,
    best: Vec<Pick>,
    /// Enabled choices that were taken in this state before.
    tried: Vec<Pick>,
}

/// What is remembered of a state.
///
/// The choices taken in a state are a list, so that where few of many were taken, not all have to
/// be looked up. It goes by [`ActionKey::index`]: who has which number may differ from
/// iteration to iteration, but rarely does.
#[derive(Clone, Copy, Debug, Default)]
struct State {
    visits: u64,
    /// The length of the list; [`UNLISTED`] if there is none.
    tried: u32,
    /// The first of the list, as the number of the action and 1.
    first: u32,
}

const UNLISTED: u32 = u32::MAX;

/// What is remembered of a choice in a state.
#[derive(Clone, Copy, Debug, Default)]
struct Choice {
    /// The state after it.
    state: u64,
    /// The number of the action and 1; 0 for what is new, or no action.
    action: u32,
    /// The next one of the list, likewise.
    next: u32,
}

/// A choice that was taken.
#[derive(Clone, Copy, Debug)]
struct Taken {
    state: u64,
    /// Of state and choice.
    key: u64,
    /// As in [`Choice`].
    action: u32,
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
            tried: Vec::new(),
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

    /// A state is reached, by the last choice. Returns what is known of it.
    #[inline]
    fn arrive(&mut self, state: u64) -> Option<State> {
        if let Some(taken) = self.taken.take() {
            if self.psharp {
                self.path.push((taken, state));
            } else {
                self.learn(taken, state);
            }
        }
        let known = self.states.entry(state)?;
        known.visits += 1;
        Some(*known)
    }

    /// The action that was picked last is taken in this state.
    #[inline]
    fn take(&mut self, state: u64, action: Option<ActionKey>) {
        self.taken = Some(Taken {
            state,
            key: mix2(state, self.acting),
            action: action.map_or(0, |key| key.index() as u32 + 1),
        });
    }

    fn learn(&mut self, taken: Taken, state: u64) {
        let Some(choice) = self.next_states.entry(taken.key) else {
            return;
        };
        choice.state = state;
        if choice.action != 0 {
            return;
        }
        let Some(known) = self.states.get_mut(taken.state) else {
            return;
        };
        if taken.action == 0 {
            known.tried = UNLISTED;
        } else if known.tried != UNLISTED {
            choice.action = taken.action;
            choice.next = std::mem::replace(&mut known.first, taken.action);
            known.tried += 1;
        }
    }

    /// One of the choices with the least visited next state.
    #[inline]
    fn choose(&mut self, state: u64, known: Option<State>, enabled: &EnabledSet<'_>) -> Pick {
        let count = enabled.len() as u32;
        let known = known.unwrap_or_default();
        match enabled {
            EnabledSet::Actions(actions) => {
                let few = known.visits > 0 && known.tried < count / 4;
                if few && self.list_tried(state, known, actions) {
                    return self.choose_untried(enabled);
                }
                let choices = actions.iter().map(|(pick, action)| (pick, action.id.0));
                self.compare(state, choices);
            }
            EnabledSet::Values(_) => {
                let choices = enabled.iter().map(|pick| (pick, enabled.id(pick).0));
                self.compare(state, choices);
            }
        }
        match self.best.len() {
            1 => self.best[0],
            n => self.best[draw::below(&mut self.generator, n as u32) as usize],
        }
    }

    /// Finds the enabled ones of the choices that were taken in this state. Returns whether it could,
    /// as actions have the numbers that they had then.
    ///
    /// Where they have not, two choices of the list may have had the same number, and one is taken
    /// for the other. Then the list does not end when all were seen: it goes from each member to
    /// the same next one each time, so that to see one twice is to go round for ever.
    fn list_tried(&mut self, state: u64, known: State, enabled: &EnabledActions<'_>) -> bool {
        self.tried.clear();
        let mut next = known.first;
        for _ in 0..known.tried {
            let Some(index) = next.checked_sub(1) else {
                return false;
            };
            let key = ActionKey::from_index(index as usize);
            let Some(action) = enabled.actions.get(key.index()) else {
                return false;
            };
            match self.next_states.get(mix2(state, action.id.0)) {
                Some(choice) if choice.action == next => next = choice.next,
                _ => return false,
            }
            self.tried.extend(enabled.find(key));
        }
        next == 0
    }

    /// One of the others.
    fn choose_untried(&mut self, enabled: &EnabledSet<'_>) -> Pick {
        let others = enabled.len() - self.tried.len();
        let mut at = draw::below(&mut self.generator, others as u32);
        self.tried.sort_unstable_by_key(|pick| pick.0);
        for tried in &self.tried {
            at += u32::from(tried.0 <= at);
        }
        enabled.pick(at as usize)
    }

    /// Finds the choices with the least visited next state.
    #[inline]
    fn compare(&mut self, state: u64, choices: impl Iterator<Item = (Pick, u64)>) {
        let mut least = u64::MAX;
        self.best.clear();
        for (pick, choice) in choices {
            let next = self.next_states.get(mix2(state, choice));
            let visits = next.map_or(0, |next| {
                let known = self.states.get(next.state);
                known.map_or(1, |known| known.visits)
            });
            if visits < least {
                least = visits;
                self.best.clear();
            }
            if visits == least {
                self.best.push(pick);
            }
        }
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
        Description::of(Self::ENTRY.name)
            .unless("states", self.states_max, STATES)
            .given("compat", self.psharp.then_some("psharp"))
            .text()
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
        let known = self.arrive(state);
        let pick = match enabled {
            EnabledSet::Values(values) if self.psharp => {
                enabled.pick(draw::value(&mut self.generator, values))
            }
            _ => {
                let pick = self.choose(state, known, enabled);
                self.acting = enabled.id(pick).0;
                pick
            }
        };
        let actions = enabled.actions();
        self.take(state, actions.map(|actions| actions.action(pick).key()));
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
            self.take(state, None);
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
