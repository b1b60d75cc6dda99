//! How an episode goes.

use super::super::error::PlanError;
use super::board::NODES_MAX;

/// How an episode goes; by default [as in the paper](Rules::PAPER).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rules {
    /// Steps of the environment.
    pub horizon: u32,
    /// Ticks that pass in a step in which the nodes stay as they are or fall into other blocks. In
    /// any other step one passes.
    pub ticks: u32,
    /// How often a request may be made.
    pub requests: u8,
    /// How often a node may be stopped. At most one is down at a time.
    pub stops: u8,
    /// How far steps that change nothing are counted.
    pub repeats_max: u8,
}

impl Default for Rules {
    fn default() -> Self {
        Rules::PAPER
    }
}

impl Rules {
    /// Those of the paper's shorter episodes, but without stops.
    pub const PAPER: Rules = Rules {
        horizon: 25,
        ticks: 4,
        requests: 5,
        stops: 0,
        repeats_max: 4,
    };

    /// # Errors
    /// If nothing could happen by these rules, or to so many nodes.
    pub(super) fn check(&self, nodes: usize) -> Result<(), PlanError> {
        let error = |message: String| Err(PlanError::new(message));
        if nodes == 0 || nodes > NODES_MAX {
            return error(format!(
                "an environment of colours has 1 to {NODES_MAX} nodes, not {nodes}"
            ));
        }
        let numbers = [("horizon", self.horizon), ("ticks", self.ticks)];
        match numbers.iter().find(|(_, number)| *number == 0) {
            Some((name, _)) => error(format!(
                "an environment of colours with {name} 0: nothing could happen"
            )),
            None => Ok(()),
        }
    }
}
