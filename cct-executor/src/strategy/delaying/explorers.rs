//! The three explorers of section 6.2 of the paper.
//!
//! Departures: a task that yields goes to the end of the order, since it has asked others to go
//! first; without that, a task that spins until another one has done something would spin for ever
//! in stratum 0. A task that is woken by a timer, whom nobody has sent to, goes to the end too.
//! Run-to-completion puts the receiver of a message first even if it could run before, as the paper
//! has it (the authors' tool leaves it where it is); who receives from a resource is known once a
//! send to it has woken someone.

use super::{ActionOrder, DelayingExplorer};
use crate::strategy::draw;
use crate::words::seed::Generator;
use crate::words::{ActionKey, Seed};

/// Round robin: tasks in the order of spawning. The first runs until it blocks, yields or is
/// delayed; then it is the last.
#[derive(Clone, Debug, Default)]
pub struct RoundRobinExplorer {
    order: ActionOrder,
}

impl RoundRobinExplorer {
    /// The explorer `rr`.
    pub fn new() -> Self {
        Self::default()
    }
}

impl DelayingExplorer for RoundRobinExplorer {
    fn name(&self) -> &'static str {
        "rr"
    }

    fn begin(&mut self, _: Seed) {
        self.order.clear();
    }

    fn on_enabled(&mut self, task: ActionKey) {
        self.order.push_back(task);
    }

    fn on_blocked(&mut self, task: ActionKey) {
        self.order.remove(task);
    }

    fn first(&self) -> Option<ActionKey> {
        self.order.first()
    }

    fn delay(&mut self) {
        self.order.rotate();
    }
}

/// Run to completion: follows causality. A new task, and whoever was sent something, comes first.
#[derive(Clone, Debug, Default)]
pub struct RunToCompletionExplorer {
    order: ActionOrder,
}

impl RunToCompletionExplorer {
    /// The explorer `rtc`.
    pub fn new() -> Self {
        Self::default()
    }
}

impl DelayingExplorer for RunToCompletionExplorer {
    fn name(&self) -> &'static str {
        "rtc"
    }

    fn begin(&mut self, _: Seed) {
        self.order.clear();
    }

    fn start(&mut self, task: ActionKey, _: Option<ActionKey>) {
        self.order.push_front(task);
    }

    fn on_enabled(&mut self, task: ActionKey) {
        self.order.push_back(task);
    }

    fn on_blocked(&mut self, task: ActionKey) {
        self.order.remove(task);
    }

    fn sent(&mut self, to: ActionKey) {
        self.order.push_front(to);
    }

    fn first(&self) -> Option<ActionKey> {
        self.order.first()
    }

    fn delay(&mut self) {
        self.order.rotate();
    }
}

/// Probabilistic round robin: as round robin, but a new task is put at a random place.
#[derive(Clone, Debug)]
pub struct ProbabilisticRoundRobinExplorer {
    order: ActionOrder,
    generator: Generator,
}

impl ProbabilisticRoundRobinExplorer {
    /// The explorer `prr`.
    pub fn new() -> Self {
        ProbabilisticRoundRobinExplorer {
            order: ActionOrder::new(),
            generator: Seed(0).stream("prr"),
        }
    }
}

impl Default for ProbabilisticRoundRobinExplorer {
    fn default() -> Self {
        Self::new()
    }
}

impl DelayingExplorer for ProbabilisticRoundRobinExplorer {
    fn name(&self) -> &'static str {
        "prr"
    }

    fn begin(&mut self, seed: Seed) {
        self.order.clear();
        self.generator = seed.stream("prr");
    }

    fn start(&mut self, task: ActionKey, _: Option<ActionKey>) {
        let places = self.order.len() as u32 + 1;
        let place = draw::below(&mut self.generator, places);
        self.order.insert_at(place as usize, task);
    }

    fn on_enabled(&mut self, task: ActionKey) {
        self.order.push_back(task);
    }

    fn on_blocked(&mut self, task: ActionKey) {
        self.order.remove(task);
    }

    fn first(&self) -> Option<ActionKey> {
        self.order.first()
    }

    fn delay(&mut self) {
        self.order.rotate();
    }
}
