//! Messages between the nodes of a system that is driven by ticks.

use super::board::Board;
use super::noise::Noise;

/// A message on its way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Envelope<M> {
    /// Who sent it.
    pub from: usize,
    /// Whom it is for.
    pub to: usize,
    /// What was sent.
    pub message: M,
}

/// What a system may do to the world around it: send, and draw noise.
#[derive(Debug)]
pub struct Wire<M> {
    nodes: usize,
    flying: Vec<Envelope<M>>,
    /// Messages that are being delivered; empty between ticks.
    arriving: Vec<Envelope<M>>,
    pub(super) noise: Noise,
}

impl<M> Wire<M> {
    pub(super) fn new(nodes: usize, noise: Noise) -> Wire<M> {
        Wire {
            nodes,
            flying: Vec::with_capacity(32),
            arriving: Vec::with_capacity(32),
            noise,
        }
    }

    /// Sends to one node. It arrives on the next tick, if the two are in one block then.
    pub fn send(&mut self, from: usize, to: usize, message: M) {
        self.flying.push(Envelope { from, to, message });
    }

    /// Sends to all others.
    pub fn broadcast(&mut self, from: usize, message: M)
    where
        M: Clone,
    {
        for to in (0..self.nodes).filter(|&to| to != from) {
            self.send(from, to, message.clone());
        }
    }

    /// Noise below `n`, which the search does not choose: the length of a time-out.
    pub fn below(&mut self, n: usize) -> usize {
        self.noise.below(n)
    }

    /// One of the nodes for which the condition holds; which one is noise.
    pub fn any_node(&mut self, condition: impl Fn(usize) -> bool) -> Option<usize> {
        self.noise.any(self.nodes, condition)
    }

    /// How many messages are on their way.
    pub fn flying(&self) -> usize {
        self.flying.len()
    }

    /// Hands over what is on its way, in any order. What crosses blocks is lost on the first tick of
    /// a step; later it waits for the next step.
    pub(super) fn deliver(
        &mut self,
        board: &Board,
        first_tick: bool,
        mut arrive: impl FnMut(Envelope<M>, &mut Wire<M>),
    ) {
        std::mem::swap(&mut self.arriving, &mut self.flying);
        let mut arriving = std::mem::take(&mut self.arriving);
        self.noise.shuffle(&mut arriving);
        for envelope in arriving.drain(..) {
            if board.together(envelope.from, envelope.to) {
                arrive(envelope, self);
            } else if !first_tick {
                self.flying.push(envelope);
            }
        }
        self.arriving = arriving;
    }
}
