//! Threads that a scenario has started itself, and what is known of others.
//!
//! What they do is beyond control, but most often short, and somebody waits for it. Were anything else to
//! happen meanwhile, time above all, it would depend on how fast they are.
//!
//! 1. Time that passes here takes no decision and leaves no trace.
//! 2. Threads that were waited for in vain are not waited for again until there are more of them, or
//!    one acts after all: they may never end. Then it is waited less: whoever starts one for each of its runtimes,
//!    to watch over it, starts many.

use crate::raw::shared::Other;
use cct_interpose::threads_started;
use std::time::Duration;

/// How often it is looked whether they have acted.
pub(super) const LOOK: Duration = Duration::from_millis(1);
/// So many looks are in vain, the first time. After each that was, half as many are, but no fewer than these.
const LOOKS: u32 = 1_000;
const LOOKS_MIN: u32 = 125;

/// Lets threads act, for so long. In the hands of the tables this is the system's.
pub(crate) fn nap(time: Duration) {
    #[expect(
        clippy::disallowed_methods,
        reason = "waits for foreign threads, decides nothing"
    )]
    std::thread::sleep(time);
}

/// How much of the machine's time they are given in all in a replay that is to show whether they act.
const PATIENCE: Duration = Duration::from_secs(5);

/// So many looks are for those that may be about to come to their end.
const LAST_LOOKS: u32 = 50;

/// What the threads are worth waiting for. Outlives the iteration, as they may.
#[derive(Default)]
pub(crate) struct Helpers {
    /// How many there were when the iteration began.
    before: u64,
    /// How many processes were started by then.
    processes_before: u64,
    /// Others may take part that were started under control: those of pools in statics, by whatever test they were made.
    pub(super) any: bool,
    /// How many there were.
    seen: u64,
    /// How often it was looked since, in vain.
    looks: u32,
    /// How often that came to nothing, since one has acted.
    vain: u32,
    /// How often the last looks were not enough.
    outlasted: u32,
    /// How much time they are still given, where all of it is the machine's too.
    pub(super) patience: Duration,
    /// Threads that run other worlds, and took too long for a step.
    pub(super) slow: Vec<Other>,
}

impl Helpers {
    /// An iteration begins.
    pub(super) fn begin(&mut self) {
        let started = threads_started();
        (self.before, self.processes_before) = (started.ever, started.processes);
        self.any = false;
        self.patience = PATIENCE;
    }

    /// How many were started since.
    pub(super) fn started(&self) -> u64 {
        threads_started().ever - self.before
    }

    /// How many processes were started since.
    pub(super) fn processes(&self) -> u64 {
        threads_started().processes - self.processes_before
    }

    /// Whether any live that may take part.
    pub(super) fn live(&self) -> bool {
        let started = threads_started();
        started.live > 0 || self.any && started.controlled > 0
    }

    pub(super) fn is_slow(&self, other: &Other) -> bool {
        self.slow.iter().any(|slow| slow.is_still(other))
    }

    /// Whether any of them may do what somebody waits for.
    pub(super) fn may_act(&mut self) -> bool {
        let ever = threads_started().ever;
        if ever != self.seen {
            (self.seen, self.looks) = (ever, 0);
        }
        self.live() && self.looks < self.looks_max()
    }

    fn looks_max(&self) -> u32 {
        LOOKS.checked_shr(self.vain).unwrap_or(0).max(LOOKS_MIN)
    }

    fn looked(&mut self, looks: u32) {
        self.looks += looks;
        self.vain += u32::from(self.looks >= self.looks_max());
    }

    /// It was looked, in vain.
    pub(super) fn look(&mut self) {
        self.looked(1);
    }

    /// Lets them act for as long as so many looks take.
    pub(super) fn have_time(&mut self, looks: u32) {
        self.looked(looks);
        nap(LOOK * looks);
    }

    /// How often it is looked at the end of an iteration whether the threads that it has started have come to theirs: half as
    /// often after each time that this was not enough.
    pub(super) fn last_looks(&self) -> u32 {
        match self.started() {
            0 => 0,
            _ => LAST_LOOKS.checked_shr(self.outlasted).unwrap_or(0),
        }
    }

    /// That was done.
    pub(super) fn looked_last(&mut self) {
        self.outlasted += u32::from(self.started() > 0 && threads_started().live > 0);
    }

    pub(super) fn have_acted(&mut self) {
        (self.looks, self.vain) = (0, 0);
    }

    /// One of them may be woken now, and act: that it did nothing before says nothing any more.
    pub(super) fn are_asked(&mut self) {
        (self.looks, self.vain) = (0, 0);
    }
}
