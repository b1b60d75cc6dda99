//! The tables of one world: actions, tasks, the enabled set, progress.
//!
//! All tables are cleared, not freed, between iterations, so that running does not allocate after
//! warm-up.

use super::cancel::Cancels;
use super::fair::Fairness;
use super::futex::Waits;
use super::group::Group;
use super::harvest::Harvest;
use super::helpers::Helpers;
use super::machine::Machine;
use super::nodes::{Crash, NodeEntry};
use super::origins::Origins;
use super::record::Recorder;
use super::resources::ResourceEntry;
use super::rests::Rests;
use super::runtimes::Runtimes;
use super::sites::SiteTags;
use super::sketch::Sketch;
use super::sleeps::Sleeps;
use super::source::SourceEntry;
use super::spin::Spin;
use super::stands::Stands;
use super::suspend::Suspended;
use super::system::Looks;
use super::tasks::Task;
use super::thread_yield::Spinners;
use super::timers::Timers;
use super::waypoints::Waypoint;
use crate::raw::rest;
use crate::words::explanation::Explanation;
use crate::words::seed::Generator;
use crate::words::trace::TraceWriter;
use crate::words::{
    Action, ActionKey, Failure, FailureKind, Interests, IterationEnd, Limit, NodeId, Observations,
    Outcome, SchedulingPoint, Seed, WorldConfig,
};
use std::collections::BTreeMap;
use std::panic::Location;
use std::rc::Rc;
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
    /// It belongs to an affinity group, or to a node that is paused.
    pub(crate) const GROUPED: u8 = 64;
    /// Its last operation was an explicit yield.
    pub(crate) const YIELDED: u8 = 128;
}

pub(crate) struct Core {
    pub(crate) actions: Vec<Action>,
    pub(crate) tasks: Vec<Task>,
    /// By action; as long as the highest of them asks for.
    pub(super) suspended: Vec<Suspended>,
    /// How many of them are suspended now.
    pub(super) frozen: u32,
    pub(crate) enabled: Vec<u32>,
    /// The running task still stands in it, as its last; see [`sweep`](Self::sweep).
    pub(crate) lingers: bool,
    pub(crate) fresh: Vec<u32>,
    /// Who gave way for a decision last, and in which step.
    pub(super) gave_way: (u32, u64),
    pub(crate) groups: Vec<Group>,
    pub(crate) resources: Vec<ResourceEntry>,
    /// Where each of them was made: for reports only, and so apart from what every operation reads.
    pub(crate) resource_sites: Vec<&'static Location<'static>>,
    pub(crate) timers: Timers,
    pub(crate) waits: Waits,
    pub(super) spinners: Spinners,
    /// The step in which references were counted last, in code of other crates.
    pub(super) counted: u64,
    pub(super) helpers: Helpers,
    pub(super) machine: Machine,
    /// The world's number, if threads that are not its own may take part.
    pub(super) open: Option<u64>,
    pub(super) looks: Looks,
    pub(super) sleeps: Sleeps,
    pub(super) stands: Stands,
    pub(crate) cancels: Cancels,
    /// Nodes 1, 2, ...
    pub(crate) nodes: Vec<NodeEntry>,
    /// Their numbers, by name.
    pub(crate) node_names: BTreeMap<Rc<str>, NodeId>,
    pub(crate) runtimes: Runtimes,
    /// Crashes asked for, which happen before anything else.
    pub(crate) crashes: Vec<Crash>,
    /// How many things no task made, by where they came from: the last part of their identity.
    pub(crate) made_outside: Origins,
    /// Source actions that were picked and are to be applied outside.
    pub(crate) applying: Vec<SourceEntry>,
    /// How many enabled actions are optional.
    pub(crate) optional: u32,
    /// Something besides the enabled set may have to be seen to before the next decision: the end, a
    /// crash, wakers or source actions that are due, timers that changed. Set with
    /// [`alert`](Self::alert) by whoever gives cause, so that a step asks one question and not five.
    pub(crate) alerted: bool,
    pub(crate) observations: Observations,
    pub(crate) waypoints: Vec<Waypoint>,
    /// What a strategy is told at a decision, kept up to date in place: to put it together for every
    /// decision would cost more than most decisions do.
    pub(crate) point: SchedulingPoint,
    /// The state at the last step.
    last_state: u64,
    /// Rolling hash over decisions and the states they were taken in.
    pub(crate) rolling: u64,
    pub(crate) decisions: u64,
    /// The task that ran last; see [`set_last`](Self::set_last).
    pub(super) last: u32,
    /// Set once the iteration is over.
    pub(crate) end: Option<Outcome>,
    /// What counts of an iteration that goes on beyond its decisions, and its story.
    pub(super) decided: Option<Box<(IterationEnd, Option<Explanation>)>>,
    /// Panics whose join handle is alive and has not been asked yet.
    pub(crate) unobserved: Vec<(u32, FailureKind)>,
    /// Panics in the middle of what may be the last poll of the scenario's own task, and whether their join handle is
    /// alive; see [`held_back_no_more`](Self::held_back_no_more).
    pub(super) held_back: Vec<(u32, FailureKind, bool)>,
    /// Task panics that were handed to whoever joined the task.
    pub(crate) joined_panics: u64,
    pub(crate) trace: TraceWriter,
    pub(crate) config: WorldConfig,
    pub(crate) interests: Interests,
    /// Somebody wants to know of every step.
    pub(crate) watched: bool,
    /// The end of a poll concerns more than the enabled set.
    pub(crate) closely: bool,
    /// The step after which to look what the steps are spent on.
    pub(super) look_at: u64,
    /// Apart from what every step reads.
    pub(crate) spin: Box<Spin>,
    pub(super) rests: Rests,
    pub(crate) noise: Generator,
    pub(super) fairness: Fairness,
    /// Steps done, for a watchdog on another thread.
    pub(crate) heartbeat: Arc<AtomicU64>,
    /// Present while a failing trace is replayed to be explained.
    pub(crate) recorder: Option<Box<Recorder>>,

    // What outlives the iteration.
    pub(crate) sites: SiteTags,
    /// The span of the present iteration, and its states.
    pub(super) span: u32,
    pub(crate) states: Sketch,
    pub(crate) harvest: Harvest,
}

impl Core {
    pub(crate) fn new() -> Core {
        Core {
            actions: Vec::with_capacity(64),
            tasks: Vec::with_capacity(64),
            suspended: Vec::with_capacity(64),
            frozen: 0,
            enabled: Vec::with_capacity(64),
            lingers: false,
            fresh: Vec::with_capacity(64),
            gave_way: (NONE, 0),
            groups: Vec::new(),
            resources: Vec::with_capacity(64),
            resource_sites: Vec::with_capacity(64),
            timers: Timers::new(),
            waits: Waits::default(),
            spinners: Spinners::default(),
            counted: u64::MAX,
            helpers: Helpers::default(),
            machine: Machine::default(),
            open: None,
            looks: Looks::default(),
            sleeps: Sleeps::default(),
            stands: Stands::default(),
            cancels: Cancels::default(),
            nodes: Vec::new(),
            node_names: BTreeMap::new(),
            runtimes: Runtimes::default(),
            crashes: Vec::new(),
            made_outside: Origins::default(),
            applying: Vec::new(),
            optional: 0,
            alerted: false,
            observations: Observations::default(),
            waypoints: Vec::new(),
            point: SchedulingPoint::default(),
            last_state: 0,
            rolling: 0,
            decisions: 0,
            last: NONE,
            end: None,
            decided: None,
            unobserved: Vec::new(),
            held_back: Vec::new(),
            joined_panics: 0,
            trace: TraceWriter::new(),
            config: WorldConfig::default(),
            interests: Interests::default(),
            watched: false,
            closely: false,
            look_at: 0,
            spin: Box::default(),
            rests: Rests::default(),
            noise: Seed(0).stream("noise"),
            fairness: Fairness::new(),
            heartbeat: Arc::default(),
            recorder: None,
            sites: SiteTags::new(),
            span: 0,
            states: Sketch::new(),
            harvest: Harvest::default(),
        }
    }

    /// Makes everything ready for a new iteration. The tables hold no user values by now.
    pub(crate) fn reset(
        &mut self,
        config: &WorldConfig,
        interests: Interests,
        recorder: Option<Box<Recorder>>,
    ) {
        self.actions.clear();
        self.tasks.clear();
        self.suspended.clear();
        self.frozen = 0;
        self.enabled.clear();
        self.lingers = false;
        self.fresh.clear();
        self.gave_way = (NONE, 0);
        self.groups.clear();
        self.resources.clear();
        self.resource_sites.clear();
        self.timers.reset(config.clock);
        self.waits.reset();
        self.spinners.reset();
        self.counted = u64::MAX;
        self.looks = Looks::default();
        self.sleeps.reset();
        self.stands.reset();
        self.cancels.reset();
        self.nodes.clear();
        if !self.node_names.is_empty() {
            self.node_names.clear();
        }
        self.runtimes.clear();
        self.crashes.clear();
        self.made_outside.clear();
        self.applying.clear();
        self.optional = 0;
        self.alerted = false;
        self.observations.clear();
        self.waypoints.clear();
        self.point = SchedulingPoint::default();
        self.last_state = 0;
        self.rolling = 0;
        self.decisions = 0;
        self.last = NONE;
        self.end = None;
        self.decided = None;
        self.unobserved.clear();
        self.held_back.clear();
        self.joined_panics = 0;
        self.trace.clear();
        self.config.clone_from(config);
        self.noise = config.noise.stream("noise");
        self.fairness = Fairness::new();
        self.interests = interests;
        self.watched = interests.steps || recorder.is_some();
        self.closely = self.looks_closely();
        self.spin.reset();
        self.rests.clear();
        self.helpers.begin();
        self.machine = Machine::default();
        self.look_at = self.next_look();
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
        rest::between_steps();
        self.point.step += 1;
        self.heartbeat.store(self.point.step, Ordering::Relaxed);
        let state = self.point.fingerprint.0;
        self.rolling = (self.rolling ^ state)
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
            .rotate_left(29);
        if state != self.last_state {
            self.last_state = state;
            self.add_state(state);
        }
        if self.point.step > self.look_at {
            return self.may_go_on();
        }
        true
    }

    /// The step limit is reached, or it is time to look what the steps are spent on.
    #[cold]
    fn may_go_on(&mut self) -> bool {
        if self.point.step > self.last_step() {
            self.cut(Limit::Steps);
            return false;
        }
        self.look_for_spinning();
        self.look_at = self.next_look();
        true
    }

    /// Whether the end of a poll always concerns more than the enabled set.
    pub(crate) fn looks_closely(&self) -> bool {
        self.interests.readiness
            || self.config.spurious_polls
            || self.config.lasting_yields
            || !self.held_back.is_empty()
    }

    /// Ends the iteration because of a limit, unless it is over already.
    #[cold]
    pub(crate) fn cut(&mut self, limit: Limit) {
        let outcome = if self.config.fail_on_limit && limit != Limit::Decisions {
            let kind = FailureKind::LimitReached(limit);
            Outcome::Failed(Failure {
                kind,
                step: self.point.step,
            })
        } else {
            Outcome::Cut(limit)
        };
        self.conclude(outcome);
    }

    /// What the iteration has come to, if it ends so.
    pub(super) fn so_far(&self, outcome: Outcome) -> IterationEnd {
        IterationEnd {
            outcome,
            steps: self.point.step,
            decisions: self.decisions,
            schedule_hash: self.rolling,
            fingerprint: self.point.fingerprint,
            parts: self.point.parts,
            waypoint: self.point.waypoint,
            waypoints: self.point.waypoints,
        }
    }

    /// Ends the iteration with a failure, unless it is over already.
    #[cold]
    pub(crate) fn fail(&mut self, kind: FailureKind) {
        let step = self.point.step;
        self.conclude(Outcome::Failed(Failure { kind, step }));
    }

    /// Ends the iteration, unless it is over already.
    pub(crate) fn conclude(&mut self, outcome: Outcome) {
        self.end.get_or_insert(outcome);
        self.alert();
    }

    /// Makes the next decision look for what else is to be done; see [`alerted`](Self::alerted).
    #[inline]
    pub(crate) fn alert(&mut self) {
        self.alerted = true;
    }

    /// The task that ran last, or [`NONE`].
    #[inline]
    pub(crate) fn last(&self) -> u32 {
        self.last
    }

    /// Notes which task ran last, [`NONE`] when it is gone.
    pub(crate) fn set_last(&mut self, key: u32) {
        self.begins(key);
        self.point.current = Self::key(key);
    }

    /// A task begins to run.
    #[inline]
    pub(crate) fn begins(&mut self, key: u32) {
        self.last = key;
        self.point.current = Some(ActionKey(key));
        self.point.yielded = false;
    }

    pub(crate) fn key(key: u32) -> Option<ActionKey> {
        (key != NONE).then_some(ActionKey(key))
    }
}
