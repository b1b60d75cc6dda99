//! The tables of one world: actions, tasks, the enabled set, progress.
//!
//! All tables are cleared, not freed, between iterations, so that running does not allocate after
//! warm-up.

use super::cancel::Cancel;
use super::group::Group;
use super::nodes::{Crash, NodeEntry};
use super::record::Recorder;
use super::resources::ResourceEntry;
use super::sites::SiteTags;
use super::sketch::Sketch;
use super::source::SourceEntry;
use super::tasks::Task;
use super::timers::Timers;
use super::waypoints::Waypoint;
use crate::words::seed::Generator;
use crate::words::trace::TraceWriter;
use crate::words::{
    Action, ActionKey, Failure, FailureKind, Interests, Limit, Observations, Outcome, Seed,
    StateParts, WorldConfig,
};
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// "No action", for keys that may be absent.
pub(crate) const NONE: u32 = u32::MAX;

/// Bits of [`Action::state`].
pub(crate) mod state {
    /// Its poll is going on right now.
    pub(crate) const RUNNING: u8 = 1;
    /// It was woken since its last poll began.
    pub(crate) const NOTIFIED: u8 = 2;
    /// It is suspended in the middle of a poll and owns a stack.
    pub(crate) const FROZEN: u8 = 4;
    /// It is over.
    pub(crate) const DONE: u8 = 8;
    /// It would be enabled if its group were not busy or undriven.
    pub(crate) const HIDDEN: u8 = 16;
    /// It is to be dropped instead of polled.
    pub(crate) const ABORTED: u8 = 32;
    /// It belongs to an affinity group.
    pub(crate) const GROUPED: u8 = 64;
    /// Its last operation was an explicit yield.
    pub(crate) const YIELDED: u8 = 128;
}

/// A `sometimes!`: how often it was looked at and how often it was true.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Sightings {
    /// How often it was evaluated.
    pub evaluated: u64,
    /// How often it was true.
    pub reached: u64,
}

/// Name and place of a `sometimes!`.
pub(crate) type SometimesKey = (&'static str, &'static str, u32);

/// What a thread has collected over its iterations.
#[derive(Default)]
pub(crate) struct Harvest {
    /// Distinct states, by span of iterations (see [`span_of`]).
    pub(crate) states: BTreeMap<u32, Sketch>,
    pub(crate) sometimes: BTreeMap<SometimesKey, Sightings>,
    pub(crate) watermarks: BTreeMap<SometimesKey, u64>,
}

/// The span an iteration belongs to: 0, 1, 2 to 3, 4 to 7, and so on.
pub(crate) fn span_of(iteration: u64) -> u32 {
    u64::BITS - iteration.leading_zeros()
}

impl Harvest {
    /// Adds what another thread has collected.
    pub(crate) fn merge(&mut self, other: Harvest) {
        for (span, states) in other.states {
            match self.states.entry(span) {
                Entry::Occupied(mut mine) => mine.get_mut().merge(&states),
                Entry::Vacant(slot) => {
                    slot.insert(states);
                }
            }
        }
        for (key, seen) in other.sometimes {
            let total = self.sometimes.entry(key).or_default();
            total.evaluated += seen.evaluated;
            total.reached += seen.reached;
        }
        for (key, value) in other.watermarks {
            let mark = self.watermarks.entry(key).or_default();
            *mark = value.max(*mark);
        }
    }
}

pub(crate) struct Core {
    pub(crate) actions: Vec<Action>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) enabled: Vec<u32>,
    pub(crate) fresh: Vec<u32>,
    pub(crate) groups: Vec<Group>,
    pub(crate) resources: Vec<ResourceEntry>,
    pub(crate) timers: Timers,
    pub(crate) cancels: Vec<Cancel>,
    /// Nodes 1, 2, ...
    pub(crate) nodes: Vec<NodeEntry>,
    /// Crashes asked for, which happen before anything else.
    pub(crate) crashes: Vec<Crash>,
    pub(crate) source_actions: Vec<SourceEntry>,
    /// Source actions that were picked and are to be applied outside.
    pub(crate) applying: Vec<SourceEntry>,
    /// How many enabled actions are optional.
    pub(crate) optional: u32,
    pub(crate) observations: Observations,
    pub(crate) waypoints: Vec<Waypoint>,
    /// The highest waypoint that holds, counted from 1.
    pub(crate) waypoint: u32,
    /// The sum of all digests.
    pub(crate) fingerprint: u64,
    /// Parts of it.
    pub(crate) parts: StateParts,
    /// The state at the last step.
    last_state: u64,
    /// Rolling hash over decisions and the states they were taken in.
    pub(crate) rolling: u64,
    pub(crate) steps: u64,
    pub(crate) decisions: u64,
    pub(crate) now_ns: u64,
    /// The task that ran last.
    pub(crate) last: u32,
    /// Set once the iteration is over.
    pub(crate) end: Option<Outcome>,
    /// Panics whose join handle is alive and has not been asked yet.
    pub(crate) unobserved: Vec<(u32, FailureKind)>,
    /// Task panics that were handed to whoever joined the task.
    pub(crate) joined_panics: u64,
    pub(crate) trace: TraceWriter,
    pub(crate) config: WorldConfig,
    pub(crate) interests: Interests,
    pub(crate) noise: Generator,
    /// Steps done, for a watchdog on another thread.
    pub(crate) heartbeat: Arc<AtomicU64>,
    /// Present while a failing trace is replayed to be explained.
    pub(crate) recorder: Option<Box<Recorder>>,

    // What outlives the iteration.
    pub(crate) sites: SiteTags,
    /// The span of the present iteration, and its states.
    span: u32,
    pub(crate) states: Sketch,
    pub(crate) harvest: Harvest,
}

impl Core {
    pub(crate) fn new() -> Core {
        Core {
            actions: Vec::with_capacity(64),
            tasks: Vec::with_capacity(64),
            enabled: Vec::with_capacity(64),
            fresh: Vec::with_capacity(64),
            groups: Vec::new(),
            resources: Vec::with_capacity(64),
            timers: Timers::new(),
            cancels: Vec::new(),
            nodes: Vec::new(),
            crashes: Vec::new(),
            source_actions: Vec::new(),
            applying: Vec::new(),
            optional: 0,
            observations: Observations::default(),
            waypoints: Vec::new(),
            waypoint: 0,
            fingerprint: 0,
            parts: StateParts::default(),
            last_state: 0,
            rolling: 0,
            steps: 0,
            decisions: 0,
            now_ns: 0,
            last: NONE,
            end: None,
            unobserved: Vec::new(),
            joined_panics: 0,
            trace: TraceWriter::new(),
            config: WorldConfig::default(),
            interests: Interests::default(),
            noise: Seed(0).stream("noise"),
            heartbeat: Arc::default(),
            recorder: None,
            sites: SiteTags::new(),
            span: 0,
            states: Sketch::new(),
            harvest: Harvest::default(),
        }
    }

    /// Makes everything ready for a new iteration. The tables hold no user values by now.
    pub(crate) fn reset(&mut self, config: &WorldConfig, recorder: Option<Box<Recorder>>) {
        self.actions.clear();
        self.tasks.clear();
        self.enabled.clear();
        self.fresh.clear();
        self.groups.clear();
        self.resources.clear();
        self.timers.reset(config.clock);
        self.cancels.clear();
        self.nodes.clear();
        self.crashes.clear();
        self.source_actions.clear();
        self.applying.clear();
        self.optional = 0;
        self.observations.clear();
        self.waypoints.clear();
        self.waypoint = 0;
        self.fingerprint = 0;
        self.parts = StateParts::default();
        self.last_state = 0;
        self.rolling = 0;
        self.steps = 0;
        self.decisions = 0;
        self.now_ns = 0;
        self.last = NONE;
        self.end = None;
        self.unobserved.clear();
        self.joined_panics = 0;
        self.trace.clear();
        self.config.clone_from(config);
        self.noise = config.noise.stream("noise");
        self.recorder = recorder;
    }

    #[inline]
    pub(crate) fn action(&mut self, key: u32) -> &mut Action {
        &mut self.actions[key as usize]
    }

    /// The task behind an action of kind `Run`.
    #[inline]
    pub(crate) fn task(&mut self, key: u32) -> &mut Task {
        let subject = self.actions[key as usize].subject;
        &mut self.tasks[subject as usize]
    }

    /// Whether a key names an action of this iteration that has not ended.
    pub(crate) fn is_alive(&self, key: u32) -> bool {
        self.actions
            .get(key as usize)
            .is_some_and(|a| a.state & state::DONE == 0)
    }

    /// Counts a step: one action up to the next scheduling point. Returns false when that is one
    /// too many.
    #[inline]
    pub(crate) fn count_step(&mut self) -> bool {
        self.steps += 1;
        self.heartbeat.store(self.steps, Ordering::Relaxed);
        self.rolling = (self.rolling ^ self.fingerprint)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
            .rotate_left(29);
        if self.fingerprint != self.last_state {
            self.last_state = self.fingerprint;
            self.add_state(self.fingerprint);
        }
        if self.steps > self.config.limits.steps {
            self.cut(Limit::Steps);
            return false;
        }
        true
    }

    /// Ends the iteration because of a limit, unless it is over already.
    #[cold]
    pub(crate) fn cut(&mut self, limit: Limit) {
        let outcome = if self.config.fail_on_limit && limit != Limit::Decisions {
            let kind = FailureKind::LimitReached(limit);
            Outcome::Failed(Failure {
                kind,
                step: self.steps,
            })
        } else {
            Outcome::Cut(limit)
        };
        self.end.get_or_insert(outcome);
    }

    /// Ends the iteration with a failure, unless it is over already.
    #[cold]
    pub(crate) fn fail(&mut self, kind: FailureKind) {
        let step = self.steps;
        self.end
            .get_or_insert(Outcome::Failed(Failure { kind, step }));
    }

    /// The parts of the state, for a strategy that wants them. To read what was just written in
    /// smaller pieces would stall every decision.
    #[inline]
    pub(crate) fn parts_asked(&self) -> StateParts {
        if self.interests.parts {
            self.parts
        } else {
            StateParts::default()
        }
    }

    /// Notes a state.
    #[inline]
    pub(crate) fn add_state(&mut self, state: u64) {
        self.states.add(state);
    }

    /// The next iteration has this number.
    pub(crate) fn set_iteration(&mut self, index: u64) {
        let span = span_of(index);
        if span != self.span {
            self.file_states();
            self.span = span;
        }
    }

    /// Puts the present span's states to those collected.
    fn file_states(&mut self) {
        let states = std::mem::replace(&mut self.states, Sketch::new());
        self.harvest.merge(Harvest {
            states: BTreeMap::from([(self.span, states)]),
            ..Harvest::default()
        });
    }

    /// Hands over what was collected, and begins anew.
    pub(crate) fn take_harvest(&mut self) -> Harvest {
        self.file_states();
        std::mem::take(&mut self.harvest)
    }

    pub(crate) fn key(key: u32) -> Option<ActionKey> {
        (key != NONE).then_some(ActionKey(key))
    }
}
