//! Runtimes that a scenario builds: tasks that end when the runtime is dropped.
//!
//! 1. Runtime 0 is the world itself. A task belongs to the runtime that its spawner has entered, or
//!    else to that of its spawner; blocking closures too.
//! 2. The tasks of a runtime of one thread are a group (see [`group`](super::group)), driven by
//!    whoever is inside `block_on`, and not polled while nobody is. A `LocalSet` has a group of its
//!    own, there too.
//! 3. What is spawned on a runtime that is shut down is cancelled at once.
//! 4. A `LocalRuntime` is a runtime of one thread: that of the task that built it.

use super::core::{Core, NONE};
use super::decider::Decider;
use super::hooks::{Hooked, Hooks, Namer};
use super::own_clocks::OwnClock;
use super::tasks::Task;
use crate::words::NodeId;
use std::collections::{BTreeSet, VecDeque};
use std::sync::Arc;

/// A runtime that was built.
pub(crate) struct RuntimeEntry {
    pub(crate) name: Option<Arc<str>>,
    /// Of its tasks, or [`NONE`] if they may run at the same time.
    group: u32,
    /// The tasks inside `block_on`, where there is a group; the first one drives it.
    drivers: Vec<u32>,
    /// The task that built a runtime whose tasks need not be `Send`, or [`NONE`]: only on its thread
    /// may they be spawned.
    owner: u32,
    down: bool,
    /// The tasks that end with it, and have not ended. (Those of a `LocalSet` end with that.)
    alive: BTreeSet<u32>,
    /// Threads whose blocking closure has ended, and which wait for another one.
    idle_threads: u32,
    /// The closures that such a thread was told of: it looks first whether the runtime is shut down.
    /// For others a thread is started, which runs them in any case.
    told: Vec<u32>,
    /// How many closures may run besides those that do.
    threads_left: usize,
    /// Closures that wait for the thread of another, in the order in which they came.
    waiting: VecDeque<u32>,
    /// Those that waited so, and have got one.
    next: Vec<u32>,
    /// The task that waits for the last of the runtime's tasks to end, or [`NONE`].
    awaited_by: u32,
    /// How many threads were asked for.
    pub(crate) workers: usize,
    /// If anybody wants to know of its threads.
    hooked: Option<Box<Hooked>>,
    namer: Option<Namer>,
    /// Once it was paused in this runtime.
    pub(super) clock: Option<Box<OwnClock>>,
}

impl RuntimeEntry {
    pub(crate) fn has_one_thread(&self) -> bool {
        self.group != NONE
    }

    /// Whether somebody is in `block_on` there.
    pub(super) fn is_driven(&self) -> bool {
        !self.drivers.is_empty()
    }

    /// A closure has ended, or was aborted. Returns the one that its thread runs next, if one waits for that.
    fn closure_has_ended(&mut self, key: u32) -> Option<u32> {
        if let Some(at) = self.waiting.iter().position(|&waiting| waiting == key) {
            self.waiting.remove(at);
            return None;
        }
        // Its thread looks for another before it looks whether the runtime is shut down.
        let next = self.waiting.pop_front();
        if next.is_none() {
            self.threads_left += 1;
            self.idle_threads += 1;
        }
        self.next.extend(next);
        next
    }
}

/// How many threads a runtime is said to have.
#[derive(Clone, Copy)]
pub(crate) struct Threads {
    /// Its tasks share one, with who blocks on it.
    pub(crate) only_one: bool,
    pub(crate) workers: usize,
    /// For closures that may block, at most.
    pub(crate) blocking: usize,
}

/// A task has entered a runtime.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Entered {
    task: u32,
    runtime: u16,
    /// Tells it from others of the same task and runtime.
    number: u32,
}

/// The runtimes of a world, but for the world itself.
#[derive(Default)]
pub(crate) struct Runtimes {
    /// Runtimes 1, 2, ...
    entries: Vec<RuntimeEntry>,
    entered: Vec<Entered>,
    /// How often one was entered.
    entered_before: u32,
    /// The world's own runtime is said to have one thread. That it has is the business of granularity.
    world_has_one_thread: bool,
    /// The world's clock is paused, for all that have no own.
    pub(super) paused: bool,
}

impl Runtimes {
    pub(super) fn namer(&self, runtime: u16) -> Option<Namer> {
        self.entry(runtime)?.namer.clone()
    }

    pub(super) fn clear(&mut self) {
        self.entries.clear();
        self.entered.clear();
        self.entered_before = 0;
        self.world_has_one_thread = false;
        self.paused = false;
    }

    pub(super) fn entries(&self) -> impl Iterator<Item = &RuntimeEntry> {
        self.entries.iter()
    }

    /// A runtime that was built; `None` for the world itself.
    pub(crate) fn entry(&self, runtime: u16) -> Option<&RuntimeEntry> {
        self.entries.get(usize::from(runtime).checked_sub(1)?)
    }

    pub(super) fn entry_mut(&mut self, runtime: u16) -> Option<&mut RuntimeEntry> {
        self.entries.get_mut(usize::from(runtime).checked_sub(1)?)
    }

    pub(crate) fn world_has_one_thread(&self) -> bool {
        self.world_has_one_thread
    }

    pub(crate) fn give_the_world_one_thread(&mut self) {
        self.world_has_one_thread = true;
    }

    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

impl Core {
    /// A new runtime; its tasks need not be `Send` if it has an owner. `None` when there are too many.
    pub(crate) fn add_runtime(
        &mut self,
        name: Option<Arc<str>>,
        threads: Threads,
        owner: u32,
        mut hooks: Hooks,
    ) -> Option<u16> {
        let runtime = u16::try_from(self.runtimes.entries.len() + 1).ok()?;
        let group = if threads.only_one {
            self.new_runtime_group()
        } else {
            NONE
        };
        let started = if threads.only_one {
            0
        } else {
            threads.workers as u32
        };
        let namer = hooks.named.take();
        let hooked = (!hooks.are_none()).then(|| Box::new(Hooked::new(hooks, started)));
        self.runtimes.entries.push(RuntimeEntry {
            name,
            group,
            drivers: Vec::new(),
            owner,
            down: false,
            alive: BTreeSet::new(),
            idle_threads: 0,
            told: Vec::new(),
            threads_left: threads.blocking,
            waiting: VecDeque::new(),
            next: Vec::new(),
            awaited_by: NONE,
            workers: threads.workers,
            hooked,
            namer,
            clock: None,
        });
        Some(runtime)
    }

    /// The runtime that a task spawns onto: the world's for no task.
    #[inline]
    pub(crate) fn runtime_of(&self, key: u32) -> u16 {
        if self.runtimes.is_empty() || key == NONE {
            return 0;
        }
        let mut entered = self.runtimes.entered.iter().rev();
        match entered.find(|entered| entered.task == key) {
            Some(entered) => entered.runtime,
            None => self.tasks[self.actions[key as usize].subject as usize].runtime,
        }
    }

    /// The group of a new task of a runtime, or that the runtime takes no more tasks.
    pub(super) fn group_on(&self, runtime: u16) -> Result<u32, ()> {
        match self.runtimes.entry(runtime) {
            Some(entry) if entry.down => Err(()),
            Some(entry) => Ok(entry.group),
            None => Ok(NONE),
        }
    }

    /// Where a task that is in a `LocalRuntime` spawns what need not be `Send`: the group, or that the
    /// task is on another thread than the runtime's.
    pub(crate) fn local_runtime_group(&self, key: u32) -> Option<Result<u32, ()>> {
        let runtime = self.runtime_of(key);
        let entry = self.runtimes.entry(runtime)?;
        if entry.owner == NONE {
            return None;
        }
        let task = &self.tasks[self.actions[key as usize].subject as usize];
        let on_its_thread = task.runtime == runtime && !task.blocking;
        Some(if key == entry.owner || on_its_thread {
            Ok(entry.group)
        } else {
            Err(())
        })
    }

    /// A runtime of one thread takes no more tasks. Returns their group.
    pub(crate) fn close_runtime(&mut self, runtime: u16) -> u32 {
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return NONE;
        };
        entry.down = true;
        entry.group
    }

    /// Whether a task is in the context of a runtime that it has entered.
    pub(super) fn has_entered(&self, task: u32) -> bool {
        self.runtimes
            .entered
            .iter()
            .any(|entered| entered.task == task)
    }

    /// A task enters a runtime.
    pub(crate) fn enter_runtime(&mut self, task: u32, runtime: u16) -> Entered {
        let entered = Entered {
            task,
            runtime,
            number: self.runtimes.entered_before,
        };
        self.runtimes.entered_before += 1;
        self.runtimes.entered.push(entered);
        entered
    }

    /// A task leaves a runtime that it has entered. Returns whether it has entered none since.
    pub(crate) fn leave_runtime(&mut self, entered: Entered) -> bool {
        let all = &mut self.runtimes.entered;
        let mine = |other: &Entered| other.task == entered.task;
        let in_order = all.iter().rev().find(|other| mine(other)) == Some(&entered);
        all.retain(|other| *other != entered);
        in_order
    }

    /// A task begins a `block_on` of the runtime.
    pub(crate) fn begin_driving(&mut self, runtime: u16, key: u32) {
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return;
        };
        entry.drivers.push(key);
        let (group, first) = (entry.group, entry.drivers.len() == 1);
        if group != NONE && first {
            self.drive_group(group, key);
        }
        if first {
            self.clock_goes_on(runtime);
        }
    }

    /// Whether the task, unless it may block, runs on the thread of a runtime that has no other: it is in
    /// the world's, or inside `block_on` of one that was built, and of no other since.
    pub(crate) fn is_on_the_only_thread(&self, key: u32) -> bool {
        match self.runtimes.entry(self.runtime_of(key)) {
            Some(entry) => entry.has_one_thread() && entry.drivers.contains(&key),
            None => self.runtimes.world_has_one_thread(),
        }
    }

    /// Whether the task, which is inside `block_on`, runs the tasks of its runtime meanwhile.
    pub(crate) fn drives_its_runtime(&self, key: u32) -> bool {
        let entry = self.runtimes.entry(self.runtime_of(key));
        entry.is_some_and(|entry| entry.has_one_thread() && entry.drivers.first() == Some(&key))
    }

    /// A task ends its `block_on` of the runtime; another one may drive it from now on.
    pub(crate) fn end_driving(&mut self, runtime: u16, key: u32) {
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return;
        };
        if let Some(at) = entry.drivers.iter().rposition(|&driver| driver == key) {
            entry.drivers.remove(at);
        }
        let next = entry.drivers.first().copied().unwrap_or(NONE);
        let group = entry.group;
        if group != NONE {
            self.drive_group(group, next);
        }
        if next == NONE {
            self.clock_stands(runtime);
        }
    }

    /// A task was spawned on a runtime. For a blocking closure a thread is found: returns whether there is one.
    #[cold]
    pub(super) fn joined_runtime(&mut self, runtime: u16, key: u32) -> bool {
        let task = self.task(key);
        let (group, blocking) = (task.group, task.blocking);
        let ends_with_it = group == NONE || self.groups[group as usize].of_runtime;
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return true;
        };
        if ends_with_it {
            entry.alive.insert(key);
        }
        if !blocking {
            return true;
        }
        if entry.threads_left == 0 {
            entry.waiting.push_back(key);
            return false;
        }
        entry.threads_left -= 1;
        if entry.idle_threads > 0 {
            entry.idle_threads -= 1;
            entry.told.push(key);
        }
        true
    }

    pub(super) fn hooked(&mut self, runtime: u16) -> Option<&mut Hooked> {
        self.runtimes.entry_mut(runtime)?.hooked.as_deref_mut()
    }

    /// Whether the runtime's end finds this closure on a thread, on its way to a new one, or behind another that a
    /// thread runs.
    fn will_run(&mut self, runtime: u16, key: u32) -> bool {
        let told = |entry: &RuntimeEntry| entry.told.contains(&key);
        self.task(key).blocking && !self.runtimes.entry(runtime).is_some_and(told)
    }

    /// Whether this closure is the first that its thread runs.
    pub(super) fn has_new_thread(&mut self, runtime: u16, key: u32) -> bool {
        let is_next = |entry: &RuntimeEntry| entry.next.contains(&key);
        self.will_run(runtime, key) && !self.runtimes.entry(runtime).is_some_and(is_next)
    }

    /// Whether it is a closure that waits for another's thread.
    pub(super) fn waits_for_thread(&mut self, key: u32) -> bool {
        let task = self.task(key);
        let (runtime, blocking) = (task.runtime, task.blocking);
        let entry = self.runtimes.entry(runtime);
        blocking && entry.is_some_and(|entry| entry.waiting.contains(&key))
    }

    /// Cancels what the runtime still has, and takes nothing more. Blocking closures run, unless they
    /// wait for a thread that ran another before.
    pub(crate) fn shut_down(&mut self, runtime: u16, decider: &mut dyn Decider) {
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return;
        };
        entry.down = true;
        let group = entry.group;
        let alive: Vec<u32> = entry.alive.iter().copied().collect();
        if group != NONE {
            self.disband_group(group);
        }
        for key in alive {
            if !self.will_run(runtime, key) {
                self.abort(key, decider);
            }
        }
    }

    /// How many tasks of the runtime have not ended, on a node: neither roots nor blocking closures nor the
    /// tasks of a `LocalSet`.
    pub(crate) fn alive_tasks(&self, runtime: u16, node: NodeId) -> usize {
        let counts = |task: &&Task| {
            let of_runtime = task.group == NONE || self.groups[task.group as usize].of_runtime;
            let spawned = task.key != self.tasks[0].key && !task.blocking;
            task.runtime == runtime
                && spawned
                && of_runtime
                && self.is_alive(task.key)
                && self.node_of(task.key) == node
        };
        self.tasks.iter().filter(counts).count()
    }

    /// Whether all tasks of the runtime have ended. If not, the asking task is woken when they have.
    pub(crate) fn await_runtime(&mut self, runtime: u16, by: u32) -> bool {
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return true;
        };
        let empty = entry.alive.is_empty();
        entry.awaited_by = if empty { NONE } else { by };
        empty
    }

    /// A task has ended: tells who waits for the runtime's last one.
    #[cold]
    pub(super) fn left_runtime(&mut self, key: u32, decider: &mut dyn Decider) {
        let task = self.task(key);
        let (runtime, blocking) = (task.runtime, task.blocking);
        let Some(entry) = self.runtimes.entry_mut(runtime) else {
            return;
        };
        let next = if blocking {
            entry.closure_has_ended(key)
        } else {
            None
        };
        let waiting = entry.awaited_by;
        if entry.alive.remove(&key) && entry.alive.is_empty() && waiting != NONE {
            self.wake(waiting, decider);
        }
        if let Some(next) = next {
            self.wake(next, decider);
        }
    }
}
