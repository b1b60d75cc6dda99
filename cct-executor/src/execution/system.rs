//! What the thread of a world has in the place of the system.
//!
//! Does not: give random bytes; they follow from the noise seed alone.

use super::core::{Core, NONE};
use super::source::Known;
use super::suspend::INERT_POINTS_MAX;
use super::world::{Phase, WORLD, World};
use crate::raw::shared::Home;
use crate::words::{FailureKind, NodeId};
use cct_interpose::{Clocks, Moved, OnFile, OnSocket, SocketFile, System};
use std::io;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::time::Duration;

/// How much further clocks are with each look: no two looks are at one moment.
const LOOK_NS: u64 = 1;
/// The same where [timers are late](crate::words::WorldConfig::late_timers), and clocks those of a machine: a look and what is
/// done between two take some time.
const LATE_LOOK_NS: u64 = 100;
/// The same for the first look in a step: what happened since the last took more.
const LATE_STEP_NS: u64 = 1_000;
/// Looks without a step in between...
const LOOKS: u32 = 1_000;
/// ...after which it is further by this: code that spins until some time has passed would do so for ever.
const SPIN_NS: u64 = 1_000;

pub(crate) const SYSTEM: System = System {
    wait: |word, limit| WORLD.with(|world| world.wait_for(word, limit)),
    wake: |word, most| WORLD.with(|world| world.wake_waiting(word, most)),
    sleep: |time| WORLD.with(|world| world.sleep_for(time)),
    give_way: || WORLD.with(World::give_way),
    join: |has_ended| WORLD.with(|world| world.join_stranger(has_ended)),
    blocks: Home::note_blocks,
    accepts: |connects| WORLD.with(|world| world.may_accept(connects)),
    atomic: |atomic| WORLD.with(|world| world.before_atomic(atomic)),
    clock: || WORLD.with(World::system_clock),
    unlooked: || WORLD.with(World::clock_unlooked),
    start: || WORLD.with(World::clock_of_started),
    file: |path, what| WORLD.with(|world| world.on_file(path, what)),
    socket: |number, what| WORLD.with(|world| world.on_socket(number, what)),
    signal: |number, handled| WORLD.with(|world| world.signal_itself(number, handled)),
};

/// How the clock was looked at.
#[derive(Default)]
pub(crate) struct Looks {
    step: u64,
    count: u32,
    /// How much further than virtual time the system's clocks are, for having been looked at, and for those who spin.
    ahead_ns: u64,
    /// Tokio's clock is frozen. When it moves all the same, the system's do not move with it.
    pub(super) frozen: bool,
    /// How far they have stayed behind so.
    pub(super) behind_ns: u64,
    /// How far the clocks of threads that were started here are ahead of the machine's: time had passed in the world alone.
    pub(super) jumped_ns: u64,
    /// When the last decision was taken, by the machine's clock: in an open world alone.
    pub(super) decided: Duration,
    /// How often virtual time itself was looked at in the step.
    instants: u32,
    /// How often any of them was looked at.
    ever: u64,
    /// The last step in which a poll has slept while tokio's clock was frozen, and how often it has.
    slept: (u64, u32),
}

impl Looks {
    /// How often a clock was looked at in this iteration.
    pub(super) fn ever(&self) -> u64 {
        self.ever
    }

    /// The step in which a clock was looked at last.
    pub(super) fn last(&self) -> u64 {
        self.step
    }

    /// Virtual time has moved.
    pub(super) fn time_moved(&mut self, by_ns: u64) {
        if self.frozen {
            self.behind_ns += by_ns;
        }
    }

    /// A thread has waited for so long, as none does by tokio's clock.
    pub(super) fn waited(&mut self, time: Duration) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        if self.frozen {
            self.behind_ns = self.behind_ns.saturating_sub(ns);
        }
    }

    /// So much has passed on the system's clocks alone.
    pub(super) fn go_on(&mut self, by_ns: u64) {
        self.ahead_ns = self.ahead_ns.saturating_add(by_ns);
    }

    /// Somebody looks in this step. Returns whether that is the first look in it.
    fn begin(&mut self, step: u64) -> bool {
        self.ever += 1;
        let first = self.step != step;
        if first {
            (self.step, self.count, self.instants) = (step, 0, 0);
        }
        first
    }
}

impl Core {
    /// Whether whoever looks at virtual time spins until it has passed.
    fn look_at_time(&mut self) -> bool {
        let first = self.looks.begin(self.point.step);
        self.looks.instants = self.looks.instants.saturating_add(1);
        if self.config.late_timers {
            self.creep(self.look_ns(first));
        }
        self.looks.instants > LOOKS
    }

    /// What a look takes.
    fn look_ns(&self, first: bool) -> u64 {
        match (self.config.late_timers, first) {
            (false, _) => LOOK_NS,
            (true, false) => LATE_LOOK_NS,
            (true, true) => LATE_STEP_NS,
        }
    }

    /// Whether whoever looks at a clock of the system spins until time has passed.
    fn look_at_clock(&mut self) -> bool {
        let first = self.looks.begin(self.point.step);
        // These alone: a subscriber that notes the time is heard in some runs, and must not change what happens.
        self.looks.ahead_ns += self.look_ns(first);
        self.looks.count = self.looks.count.saturating_add(1);
        self.looks.count > LOOKS
    }

    /// What the system's clocks of a node show. Who asks does not look: files have their times from here.
    pub(crate) fn system_clock_of(&self, node: NodeId) -> u64 {
        let time_ns = self.point.time_ns.saturating_sub(self.looks.behind_ns);
        let shown = self.node_clock(node).shown(time_ns);
        shown.saturating_add(self.looks.ahead_ns)
    }

    /// A poll blocks its thread for so long while tokio's clock is frozen, and with it the one thread of its runtime:
    /// only the system's clocks go on. Not for a closure that has a thread for itself, nor where that is done so often
    /// that it waits for others.
    pub(super) fn sleeps_in_frozen_time(&mut self, key: u32, time: Duration) -> bool {
        if !self.looks.frozen || self.task(key).blocking {
            return false;
        }
        let (step, times) = self.looks.slept;
        let times = if step == self.point.step { times } else { 0 };
        self.looks.slept = (self.point.step, times.saturating_add(1));
        let blocks = times < LOOKS;
        if blocks {
            let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
            self.looks.ahead_ns = self.looks.ahead_ns.saturating_add(ns);
        }
        blocks
    }

    /// When so much time will have passed on the clock of a task.
    pub(super) fn deadline_after(&self, key: u32, time: Duration) -> u64 {
        let clock = self.clock_of(key);
        let time = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        clock.reached(clock.shown(self.point.time_ns).saturating_add(time))
    }
}

impl World {
    /// As [`freeze_clock`](Self::freeze_clock), in the middle of a program: time has passed since it was looked at.
    pub(crate) fn pause_clock(&self) -> bool {
        self.with(|core, _| {
            if core.config.late_timers && !core.looks.frozen {
                core.creep(LATE_STEP_NS);
            }
        });
        self.freeze_clock(true)
    }

    /// A clock begins that does not go on by itself.
    pub(crate) fn clock_begins(&self) {
        self.with(|core, _| core.round_time());
    }

    /// The running task looks at virtual time. That stands still in a poll, but real time does not, for which tokio's
    /// stands unless it is frozen.
    pub(crate) fn look(&self) {
        let Some(key) = self.current().filter(|_| self.is_running()) else {
            return;
        };
        if self.with(|core, _| !core.looks.frozen && core.look_at_time()) {
            self.move_clock(key, Duration::from_nanos(SPIN_NS));
        }
    }

    /// In the place of a signal that the process sends itself. A real one would end the test's process, with all its
    /// worlds, unless that has a handler. Returns whether it need not be sent.
    fn signal_itself(&self, number: i32, handled: bool) -> bool {
        let key = self.running.get().key;
        if key == NONE || !self.is_free() || self.phase.get() == Phase::Idle {
            return false;
        }
        // What destructors send is inert, as all they do.
        if !self.is_running() {
            return true;
        }
        let site = self.with(|core, _| core.actions[key as usize].op.site);
        let sources = self.sources.borrow().clone();
        let taken = (sources.iter()).any(|known| known.0.raised(number, handled, site));
        if taken || handled {
            return taken;
        }
        let message = format!(
            "the test sent itself signal {number} by `kill` or `raise`, and has not begun to listen for signals"
        );
        let location = site.to_string();
        self.with(|core, _| core.fail(FailureKind::Broken { message, location }));
        self.stop_here();
        true
    }

    /// The world's sources, none where somebody is changing them. They may be added to meanwhile.
    fn each_source(&self) -> impl Iterator<Item = Known> {
        (0..).map_while(|at: usize| Some(self.sources.try_borrow().ok()?.get(at)?.clone()))
    }

    /// Whether something is on its way to another world.
    pub(super) fn anything_leaves(&self) -> bool {
        self.each_source().any(|known| known.0.is_leaving())
    }

    /// In the place of what the system does with a file, where that is a socket's of this world.
    fn on_file(&self, path: &Path, what: OnFile<'_>) -> Option<SocketFile> {
        let is_asked = self.running.get().key != NONE && self.is_free() && self.is_running();
        if !is_asked {
            return None;
        }
        self.each_source()
            .find_map(|known| known.0.file(path, what))
    }

    /// In the place of what the system does with a socket, where that is one of this world's.
    fn on_socket(&self, number: u64, mut what: OnSocket<'_>) -> Option<io::Result<Moved>> {
        let key = self.running.get().key;
        if key == NONE || !self.is_free() || self.phase.get() == Phase::Idle {
            return None;
        }
        let site = self.with(|core, _| core.actions[key as usize].op.site);
        if self.phase.get() == Phase::Closing {
            what.waits_no_longer();
        }
        let before = self.inert_points.get();
        let done = catch_unwind(AssertUnwindSafe(|| {
            self.each_source()
                .find_map(|known| known.0.socket(number, &mut what, site))
        }));
        // Nothing unwinds through C, where the call comes from.
        done.unwrap_or_else(|_| {
            self.asks_in_vain(key, before.saturating_add(1));
            Some(Err(io::ErrorKind::ConnectionAborted.into()))
        })
    }

    /// The running poll is to come to its end, and has called C for something that is no more, as one of so many operations.
    /// One that spins is left where it is.
    #[cold]
    fn asks_in_vain(&self, key: u32, passed: u32) {
        self.inert_points.set(passed);
        while passed > INERT_POINTS_MAX && self.may_stand_aside() && !self.is_alone_around(key) {
            self.stand_aside(key, NONE);
        }
    }

    /// What the clocks show in the world's end.
    pub(super) fn clocks_at_end(&self) -> Clocks {
        let zero = cct_interpose::clocks_at_zero();
        let ns = self.with(|core, _| core.system_clock_of(NodeId(0)));
        let passed = Duration::from_nanos(ns);
        Clocks {
            monotonic: zero.monotonic.saturating_add(passed),
            wall: zero.wall.saturating_add(passed),
        }
    }

    /// The running task looks at a clock of the system. Who spins by one sees virtual time pass, too, as all clocks
    /// go on in reality; where that is frozen, the system's alone.
    pub(super) fn system_clock(&self) -> Duration {
        let key = self.running.get().key;
        // The engine itself may look, through `tracing` for one.
        if self.phase.get() != Phase::Idle && self.is_free() {
            self.keep_up();
            if self.with(|core, _| core.look_at_clock()) {
                let moves = self.is_running() && self.current() == Some(key);
                if moves && !self.with(|core, _| core.looks.frozen) {
                    self.move_clock(key, Duration::from_nanos(SPIN_NS));
                } else {
                    self.with(|core, _| core.looks.ahead_ns += SPIN_NS);
                }
            }
            let shown = self.with(|core, _| core.system_clock_of(core.node_of(key)));
            self.clock_ns.set(shown);
        }
        Duration::from_nanos(self.clock_ns.get())
    }

    /// What the clocks show, without a look at them: for the times of files.
    fn clock_unlooked(&self) -> Duration {
        let is_there = self.phase.get() != Phase::Idle && self.is_free();
        let shown = |core: &mut Core| core.system_clock_of(core.node_of(self.running.get().key));
        let shown = is_there.then(|| self.with(|core, _| shown(core)));
        Duration::from_nanos(shown.unwrap_or(self.clock_ns.get()))
    }
}
