//! The environment of a system that is driven by ticks.

use super::super::error::PlanError;
use super::game::{Deed, Game};
use super::noise::Noise;
use super::rules::Rules;
use super::wire::{Envelope, Wire};
use std::fmt;

/// All nodes of a protocol whose time and messages the environment controls. Nodes are numbered
/// from 0.
pub trait System {
    /// What nodes send to each other.
    type Message;

    /// How many nodes there are. Never changes.
    fn nodes(&self) -> usize;

    /// Starts all nodes; what they send at once goes out.
    fn start_all(&mut self, wire: &mut Wire<Self::Message>);

    /// The abstraction of a node's state, which knows nothing of the node's identity.
    fn colour(&self, node: usize) -> u64;

    /// Some time passes on a node that is up.
    fn tick(&mut self, node: usize, wire: &mut Wire<Self::Message>);

    /// A message arrives.
    fn deliver(&mut self, envelope: Envelope<Self::Message>, wire: &mut Wire<Self::Message>);

    /// Whether a node is there to take a request.
    fn can_request(&self) -> bool;

    /// A client makes the request of this number, from 1.
    fn request(&mut self, number: u8, wire: &mut Wire<Self::Message>);

    /// A node stops, and loses what a crash loses.
    fn stop(&mut self, node: usize);

    /// A node starts again.
    fn start(&mut self, node: usize);

    /// Checks what must always hold, after each step.
    fn check(&mut self) {}

    /// Whether the episode is over before its horizon: numbers have grown beyond what is of
    /// interest.
    fn is_over(&self) -> bool {
        false
    }
}

/// An episode of a system.
pub struct Environment<S: System> {
    system: S,
    wire: Wire<S::Message>,
    game: Game,
    rules: Rules,
}

impl<S: System> Environment<S> {
    /// Starts all nodes, in one block.
    ///
    /// # Errors
    /// If there are no nodes or more than [`NODES_MAX`](super::NODES_MAX), or the rules let nothing
    /// happen.
    pub fn new(mut system: S, rules: Rules) -> Result<Environment<S>, PlanError> {
        let nodes = system.nodes();
        let mut game = Game::new(nodes, rules)?;
        let mut wire = Wire::new(nodes, Noise::new());
        system.start_all(&mut wire);
        game.board.paint(|node| system.colour(node));
        Ok(Environment {
            system,
            wire,
            game,
            rules,
        })
    }

    /// Runs the whole episode: the body of an iteration.
    pub fn run(mut self) {
        self.observe();
        for _ in 0..self.rules.horizon {
            self.step();
            if self.system.is_over() {
                break;
            }
            self.observe();
        }
    }

    /// Tells the search which state the system is in. To be called before each step.
    pub fn observe(&self) {
        self.game.publish();
    }

    /// Lets the search choose what happens, lets it happen, and checks the system.
    pub fn step(&mut self) {
        match self
            .game
            .choose(self.system.can_request(), &mut self.wire.noise)
        {
            Deed::Run => self.pass_time(),
            Deed::Request(number) => {
                self.system.request(number, &mut self.wire);
                self.tick();
            }
            Deed::Start(node) => {
                self.system.start(node);
                self.tick();
            }
            Deed::Stop(node) => {
                self.system.stop(node);
                self.tick();
            }
        }
        let system = &self.system;
        self.game.settle(|node| system.colour(node));
        self.system.check();
    }

    /// The system in its present state.
    pub fn system(&self) -> &S {
        &self.system
    }

    /// Stands for the multiset of the nodes' colours: what the paper counts as covered.
    pub fn covered(&self) -> u64 {
        self.game.board.covered()
    }

    fn pass_time(&mut self) {
        for tick in 0..self.rules.ticks {
            let (system, board) = (&mut self.system, &self.game.board);
            self.wire.deliver(board, tick == 0, |envelope, wire| {
                system.deliver(envelope, wire);
            });
            self.tick();
        }
    }

    fn tick(&mut self) {
        for node in 0..self.game.board.nodes() {
            if self.game.board.is_up(node) {
                self.system.tick(node, &mut self.wire);
            }
        }
    }
}

impl<S: System> fmt::Debug for Environment<S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Environment")
            .field("nodes", &self.game.board.nodes())
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Nodes that all send to all others on each tick.
    #[derive(Default)]
    struct Chatter {
        delivered: usize,
    }

    impl System for Chatter {
        type Message = ();

        fn nodes(&self) -> usize {
            3
        }
        fn start_all(&mut self, _: &mut Wire<()>) {}
        fn colour(&self, node: usize) -> u64 {
            node as u64
        }
        fn tick(&mut self, node: usize, wire: &mut Wire<()>) {
            wire.broadcast(node, ());
        }
        fn deliver(&mut self, envelope: Envelope<()>, _: &mut Wire<()>) {
            assert_ne!(envelope.from, envelope.to);
            self.delivered += 1;
        }
        fn can_request(&self) -> bool {
            false
        }
        fn request(&mut self, _: u8, _: &mut Wire<()>) {}
        fn stop(&mut self, _: usize) {}
        fn start(&mut self, _: usize) {}
    }

    #[test]
    fn messages_cross_blocks_only_when_these_are_gone() {
        let mut environment = Environment::new(Chatter::default(), Rules::PAPER).unwrap();
        environment.game.board.set_blocks(&[0, 0, 1]);
        environment.pass_time();
        // Nodes 0 and 1 hear each other on all ticks but the first.
        assert_eq!(environment.system.delivered, 2 * 3);
        // What crossed stays until the next step, and is lost if it then still crosses.
        assert_eq!(environment.wire.flying(), 4 * 3 + 6);
        environment.pass_time();
        assert_eq!(environment.system.delivered, 2 * 7);
        environment.game.board.set_blocks(&[0; 3]);
        environment.pass_time();
        assert_eq!(environment.system.delivered, 2 * 7 + (4 * 3 + 6) + 3 * 6);
    }

    #[test]
    fn steps_that_change_nothing_are_counted() {
        // Outside a world every choice is to stay.
        let mut environment = Environment::new(Chatter::default(), Rules::PAPER).unwrap();
        for expected in [1, 2, 3, 4, 4, 4] {
            environment.step();
            assert_eq!(environment.game.repeats(), expected);
        }
    }
}
