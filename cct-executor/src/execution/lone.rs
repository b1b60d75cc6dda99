//! A world around code that is no scenario's: it stands in the place of the scenario's own task, as a closure that
//! may block, while the world runs on a stack beside the code's own.
//!
//! 1. Nobody watches such a world, and panics in it are shown at once.
//! 2. What waits in that code is unwound, with the reason, when the world is over before it.

use super::core::Core;
use super::decider::Decider;
use super::record::Detail;
use super::run::{self, Finished, MAIN, Scenario};
use super::world::{Phase, WORLD, World};
use super::{paths, stacks};
use crate::raw::beside::{self, Beside};
use crate::words::{FailureKind, Outcome, WorldConfig};
use cct_interpose::Clocks;
use std::fmt::Write as _;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// How often it is looked whether what is on its way to others has left, and what time passes in between.
const SEE_OFF_ROUNDS: u32 = 100;
const SEE_OFF_ROUND: Duration = Duration::from_millis(1);

/// Tasks that are told to wait.
const WAITING_MAX: usize = 10;

/// A world around the code that runs on this thread.
pub(crate) struct LoneWorld {
    beside: Beside,
    serial: u64,
}

impl LoneWorld {
    /// Begins a world, whose scenario's own task has [`stand_in`] as its one poll, and which tells what it leaves
    /// behind before it closes. Its clocks go on from these. If it is `open`, threads that the code starts may take part,
    /// and nobody can repeat it.
    ///
    /// # Errors
    /// When the operating system has no memory for another stack.
    pub(crate) fn begin(
        config: WorldConfig,
        decider: Box<dyn Decider>,
        scenario: Arc<Scenario>,
        detail: Detail,
        open: bool,
        clocks: Clocks,
        told: impl Fn(Finished) + 'static,
    ) -> io::Result<LoneWorld> {
        let beside = Beside::begin(move || {
            WORLD.with(|world| {
                world.lone.set(true);
                world.open.set(open);
                world.clocks.set(clocks);
            });
            run::run_and_tell(&config, decider, &*scenario, detail, &told);
            WORLD.with(|world| {
                world.lone.set(false);
                world.left.set(false);
                world.open.set(false);
                world.clocks.set(Clocks::ZERO);
            });
        })?;
        Ok(LoneWorld {
            beside,
            serial: WORLD.with(|world| world.serial.get()),
        })
    }

    /// The world's number.
    pub(crate) fn serial(&self) -> u64 {
        self.serial
    }

    /// Ends it.
    pub(crate) fn end(mut self) {
        self.beside.go_on();
    }
}

/// The world around the running code goes on until what is on its way to others has left, or for so long.
pub(crate) fn see_off() {
    let leaves = || !std::thread::panicking() && WORLD.with(World::anything_leaves);
    let mut rounds = 0..SEE_OFF_ROUNDS;
    while rounds.next().is_some() && leaves() {
        WORLD.with(|world| world.sleep_for(SEE_OFF_ROUND));
    }
}

/// Leaves the thread to the code that the world is around, until that ends the world.
pub(crate) fn stand_in() {
    beside::pause();
}

/// The code of this thread has ended, around which there is a world.
pub(crate) fn has_left() {
    WORLD.with(|world| world.left.set(true));
}

/// Whether nothing goes on in the world around this code but that.
pub(crate) fn has_nobody_else() -> bool {
    WORLD.with(|world| world.with(|core, _| core.end.is_some() || core.left_alone() <= 1))
}

/// Whether this thread runs a world, and whether that is around its code.
pub(crate) fn any_here() -> Option<bool> {
    WORLD.with(|world| (world.phase.get() != Phase::Idle).then_some(world.lone.get()))
}

/// Whether the code runs that this world is around, which alone can end it.
pub(crate) fn is_around_us(serial: u64) -> bool {
    WORLD.with(|world| {
        let is_here = world.phase.get() != Phase::Idle && world.serial.get() == serial;
        is_here && world.running.key.get() == MAIN
    })
}

impl World {
    /// Why code around which there is a world waits in vain.
    pub(super) fn why_over(&self, site: &'static Location<'static>) -> String {
        let mut text = "the world of this test, which was run once, is over: ".to_owned();
        self.with(|core, _| {
            let mut waiting = Vec::new();
            match &core.end {
                Some(Outcome::Failed(failure)) => {
                    text.push_str(&failure.kind.to_string());
                    if matches!(failure.kind, FailureKind::Deadlock { .. }) {
                        waiting = core.waiting();
                    }
                }
                Some(Outcome::Cut(limit)) => text.push_str(&limit.to_string()),
                Some(Outcome::Passed) | None => text.push_str("its runtimes are gone"),
            }
            // That of an `async fn` waits as a whole.
            if !stacks::is_ours(site.file()) {
                let _ = write!(text, "\nthe test waits at {site}");
            }
            let more = waiting.len().saturating_sub(WAITING_MAX);
            for line in waiting.into_iter().take(WAITING_MAX) {
                let _ = write!(text, "\n{line}");
            }
            if more > 0 {
                let _ = write!(text, "\n... and {more} more tasks wait");
            }
            match core.helpers.started() {
                0 => {}
                started => {
                    let _ = write!(
                        text,
                        "\nit has started threads ({started}): they, and sockets of `std::net`, are not the world's"
                    );
                }
            }
        });
        text
    }
}

impl Core {
    /// Who is alive, and what each did last, as far as it can be told where nothing was recorded.
    fn waiting(&self) -> Vec<String> {
        let tasks = self.tasks.iter().filter(|task| self.is_alive(task.key));
        let told = tasks.filter_map(|task| {
            let op = &self.actions[task.key as usize].op;
            let is_known = op.resource != 0 && !stacks::is_ours(op.site.file());
            if task.key == MAIN && !is_known {
                return None;
            }
            let name = self.task_name(task.key);
            let spawned = paths::place(task.spawn_site);
            let last = match self.resource_name(op.resource).filter(|_| is_known) {
                Some(resource) => {
                    format!("{} at {} for {resource}", op.kind, paths::place(op.site))
                }
                None => "cct does not know for what".to_owned(),
            };
            Some(format!("task {name}, spawned at {spawned}, waits: {last}"))
        });
        told.collect()
    }
}
