//! What may happen next, and the counters.

use super::super::error::PlanError;
use super::board::Board;
use super::noise::Noise;
use super::rules::Rules;
use cct_executor::words::fingerprint::mix2;
use cct_executor::{observe, shim};

/// What the choices of an environment are called in traces.
pub const LABEL: &str = "what the environment does";

/// The key of what an environment observes.
pub const STATE: &str = "colours";

/// What happens in a step.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Deed {
    /// Time passes; the blocks are the same, or others.
    Run,
    /// The request of this number, from 1.
    Request(u8),
    Start(usize),
    Stop(usize),
}

/// An episode.
pub(super) struct Game {
    pub(super) board: Board,
    rules: Rules,
    repeats: u8,
    requests_left: u8,
    stops_left: u8,
    /// The shape to compare with after the step.
    expected: u64,
}

impl Game {
    /// # Errors
    /// As for [`Rules::check`].
    pub(super) fn new(nodes: usize, rules: Rules) -> Result<Game, PlanError> {
        rules.check(nodes)?;
        Ok(Game {
            board: Board::new(nodes),
            rules,
            repeats: 0,
            requests_left: rules.requests,
            stops_left: rules.stops,
            expected: 0,
        })
    }

    /// Lets the search choose what happens. Whether a request could be taken now is the caller's
    /// knowledge.
    ///
    /// Stops come last: how many of them are left is no part of the state, and what comes before
    /// them keeps its number.
    pub(super) fn choose(&mut self, can_request: bool, noise: &mut Noise) -> Deed {
        let all_up = self.board.are_all_up();
        let partitions = self.board.list();
        let requests = u32::from(self.requests_left > 0 && can_request);
        let starts = u32::from(!all_up);
        let (colours, distinct) = self.board.distinct();
        let stops = if self.stops_left > 0 && all_up {
            distinct as u32
        } else {
            0
        };
        self.expected = self.board.shape();
        let mut action = shim::choose(1 + partitions + requests + starts + stops, LABEL);
        if action == 0 {
            return Deed::Run;
        }
        action -= 1;
        if action < partitions {
            self.expected = self.board.take(action, noise);
            return Deed::Run;
        }
        action -= partitions;
        if action < requests {
            let number = self.rules.requests - self.requests_left + 1;
            self.requests_left -= 1;
            return Deed::Request(number);
        }
        action -= requests;
        if action < starts {
            return self.board.start(noise).map_or(Deed::Run, Deed::Start);
        }
        let colour = colours[(action - starts) as usize];
        match self.board.stop(colour, noise) {
            None => Deed::Run,
            Some(node) => {
                self.stops_left -= 1;
                Deed::Stop(node)
            }
        }
    }

    /// Paints the nodes after a step, and counts if nothing changed.
    pub(super) fn settle(&mut self, colour: impl Fn(usize) -> u64) {
        self.board.paint(colour);
        self.repeats = match self.board.shape() == self.expected {
            true => (self.repeats + 1).min(self.rules.repeats_max),
            false => 0,
        };
    }

    #[cfg(test)]
    pub(super) fn repeats(&self) -> u8 {
        self.repeats
    }

    /// Tells the search where it is.
    pub(super) fn publish(&self) {
        let counters = u64::from(self.repeats) << 8 | u64::from(self.requests_left);
        observe::observe(STATE, mix2(self.board.shape(), counters));
    }
}
