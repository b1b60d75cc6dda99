//! Parameters that all learners have.

use super::walk::Walk;
use crate::strategy::Lanes;
use crate::strategy::description::Description;
use crate::strategy::spec::{Arguments, Kind, Parameter};
use crate::words::{Fingerprint, StateParts};

/// What a learner takes for the state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum StateView {
    /// All that is known: pending operations, locks, contents, and what user code observed.
    #[default]
    Full,
    /// As full, without what user code observed.
    Sites,
    /// As sites, with pending operations told apart by their kind only: not by where their task was
    /// spawned, nor by their resource.
    Kinds,
    /// What resources hold, the queues in particular.
    Inbox,
    /// What resources hold and what user code observed.
    Custom,
}

const VIEWS: [(StateView, &str); 5] = [
    (StateView::Full, "full"),
    (StateView::Sites, "sites"),
    (StateView::Kinds, "kinds"),
    (StateView::Inbox, "inbox"),
    (StateView::Custom, "custom"),
];

pub(in crate::strategy) const STATE: Parameter = Parameter {
    name: "state",
    help: "what tells states apart (kinds for ql, full for the others)",
    kind: Kind::Word(&["full", "sites", "kinds", "inbox", "custom"]),
};

/// When a learner learns from its decisions.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Update {
    /// At the end of the iteration, from the last decision to the first; and as soon as the
    /// iteration is back in a state in which it has been, from the decisions since then, which are
    /// done with.
    #[default]
    Circle,
    /// At the end of the iteration only.
    End,
    /// After each decision.
    Step,
}

const UPDATES: [(Update, &str); 3] = [
    (Update::Circle, "circle"),
    (Update::End, "end"),
    (Update::Step, "step"),
];

pub(in crate::strategy) const UPDATE: Parameter = Parameter {
    name: "update",
    help: "when values change: at the end of the iteration and of each circle, at the end only, or \
           after each decision (circle)",
    kind: Kind::Word(&["circle", "end", "step"]),
};

impl Update {
    pub(in crate::strategy) fn of(arguments: &Arguments<'_>) -> Update {
        let given = arguments.word(UPDATE.name);
        given.map_or(Update::default(), |i| UPDATES[i].0)
    }

    /// The first of the decisions that are to be learnt from now that this state is reached.
    #[inline]
    pub(in crate::strategy) fn since(self, walk: &mut Walk, state: u64) -> Option<usize> {
        match self {
            Update::End => None,
            Update::Circle => walk.circle(state),
            Update::Step => walk.steps.len().checked_sub(1),
        }
    }

    /// What [`UPDATE`] says in a description, unless it is the default.
    pub(in crate::strategy) fn word(self) -> Option<String> {
        let word = UPDATES.iter().find(|(update, _)| *update == self);
        let word = word.filter(|_| self != Update::default());
        word.map(|(_, word)| (*word).to_owned())
    }
}

pub(in crate::strategy) const BY_STEP: Parameter = Parameter {
    name: "update",
    help: "when values change: at the end of the iteration, or after each decision (end)",
    kind: Kind::Word(&["end", "step"]),
};

/// What [`BY_STEP`] says in a description, unless it is the default.
pub(in crate::strategy) fn by_step(on: bool) -> Option<String> {
    on.then(|| "step".to_owned())
}

pub(in crate::strategy) const LANES: Parameter = Parameter {
    name: "lanes",
    help: "tables that learn side by side, each from its share of the iterations (1)",
    kind: Kind::Number(1, 64),
};

pub(in crate::strategy) const MEMORY: Parameter = Parameter {
    name: "memory",
    help: "MiB of one table, beyond which seldom visited states are forgotten (256)",
    kind: Kind::Number(1, 65_536),
};

const MEMORY_MIB: u64 = 256;

/// The parameters that all learners have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::strategy) struct Settings {
    pub(in crate::strategy) state: StateView,
    /// What the strategy takes unless told otherwise.
    pub(in crate::strategy) usual: StateView,
    pub(in crate::strategy) lanes: u32,
    pub(in crate::strategy) memory_mib: u64,
}

impl Default for Settings {
    fn default() -> Self {
        Settings {
            state: StateView::Full,
            usual: StateView::Full,
            lanes: 1,
            memory_mib: MEMORY_MIB,
        }
    }
}

impl Settings {
    /// Those of a strategy that takes this for the state, unless the arguments say otherwise.
    pub(in crate::strategy) fn of(arguments: &Arguments<'_>, usual: StateView) -> Settings {
        Settings {
            state: arguments.word("state").map_or(usual, |i| VIEWS[i].0),
            usual,
            lanes: arguments.number("lanes").unwrap_or(1) as u32,
            memory_mib: arguments.number("memory").unwrap_or(MEMORY_MIB),
        }
    }

    pub(in crate::strategy) fn lanes(&self) -> Lanes {
        Lanes::Fixed(self.lanes)
    }

    pub(in crate::strategy) fn bytes_max(&self) -> usize {
        usize::try_from(self.memory_mib << 20).unwrap_or(usize::MAX)
    }

    /// The key of a state.
    #[inline]
    pub(in crate::strategy) fn key(&self, fingerprint: Fingerprint, parts: &StateParts) -> u64 {
        match self.state {
            StateView::Full => fingerprint.0,
            StateView::Sites => fingerprint.0.wrapping_sub(parts.observed),
            StateView::Kinds => fingerprint
                .0
                .wrapping_sub(parts.observed)
                .wrapping_sub(parts.pending)
                .wrapping_add(parts.kinds),
            StateView::Inbox => parts.contents,
            StateView::Custom => parts.contents.wrapping_add(parts.observed),
        }
    }

    /// A strategy's description: its own parameters, then these, those with defaults left out.
    pub(in crate::strategy) fn describe(
        &self,
        name: &str,
        own: &[(&str, Option<String>)],
    ) -> String {
        let view = VIEWS.iter().find(|(view, _)| *view == self.state);
        let view = view.map(|(_, word)| (*word).to_owned());
        let shared = [
            ("state", view.filter(|_| self.state != self.usual)),
            ("lanes", (self.lanes != 1).then(|| self.lanes.to_string())),
            (
                "memory",
                (self.memory_mib != MEMORY_MIB).then(|| self.memory_mib.to_string()),
            ),
        ];
        let all = own.iter().chain(&shared);
        let text = |text: Description, (key, value): &(&str, Option<String>)| {
            text.given(key, value.as_ref())
        };
        all.fold(Description::of(name), text).text()
    }
}

/// A number for a description, unless it is the default.
pub(in crate::strategy) fn unless(value: f64, default: f64) -> Option<String> {
    (value != default).then(|| value.to_string())
}

/// A switch for a description, unless it is the default.
pub(in crate::strategy) fn switch(on: bool, default: bool) -> Option<String> {
    (on != default).then(|| if on { "on" } else { "off" }.to_owned())
}
