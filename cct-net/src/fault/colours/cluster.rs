//! The environment of real nodes.

use super::super::error::PlanError;
use super::game::{Deed, Game};
use super::noise::Noise;
use super::rules::Rules;
use crate::fabric::{control, network};
use cct_executor::node::{Node, NodeId};
use cct_executor::shim::{self, ActionSource, Shared, Source};
use cct_executor::time;
use cct_executor::words::Observations;
use std::fmt;
use std::time::Duration;

type Colour = Box<dyn Fn(&Node, &Observations) -> u64 + Send + Sync>;
type CanRequest = Box<dyn Fn(&Observations) -> bool + Send + Sync>;
type Request = Box<dyn Fn(u8) + Send + Sync>;

/// An episode of nodes.
///
/// Blocks are made of held links: what crosses blocks when time begins to pass is lost (but for
/// connections, which wait), what is sent across them later waits for the next step. A node that
/// stops crashes, and one that starts restarts into a block of its own. Links to nodes that are not
/// of the cluster, those of clients, are left alone.
#[must_use = "call run"]
pub struct Cluster {
    nodes: Vec<Node>,
    colour: Colour,
    can_request: CanRequest,
    request: Option<Request>,
    rules: Rules,
    tick: Duration,
}

impl Cluster {
    /// These nodes, with a function that says what matters of a node's state. It is looked at
    /// between steps; what the nodes observed helps, and so does memory shared with them.
    pub fn new<'a>(
        nodes: impl IntoIterator<Item = &'a Node>,
        colour: impl Fn(&Node, &Observations) -> u64 + Send + Sync + 'static,
    ) -> Cluster {
        Cluster {
            nodes: nodes.into_iter().cloned().collect(),
            colour: Box::new(colour),
            can_request: Box::new(|_| true),
            request: None,
            rules: Rules::default(),
            tick: Duration::from_millis(10),
        }
    }

    /// Plays by these rules.
    pub fn rules(mut self, rules: Rules) -> Cluster {
        self.rules = rules;
        self
    }

    /// How much virtual time is a tick: 10 ms unless said.
    pub fn tick(mut self, tick: Duration) -> Cluster {
        self.tick = tick;
        self
    }

    /// Makes a request when the search says so, numbered from 1: sends it, or spawns a client.
    /// Without it there are no requests.
    pub fn requests(mut self, request: impl Fn(u8) + Send + Sync + 'static) -> Cluster {
        self.request = Some(Box::new(request));
        self
    }

    /// Requests are possible only while this holds: there is a leader, say.
    pub fn requests_while(
        mut self,
        condition: impl Fn(&Observations) -> bool + Send + Sync + 'static,
    ) -> Cluster {
        self.can_request = Box::new(condition);
        self
    }

    /// Plays the episode. In the end all links are whole and all nodes are up.
    ///
    /// # Scheduling points
    /// Those of the time that passes, and of crashes.
    ///
    /// # Cancel safety
    /// When it is dropped, links stay as they are.
    ///
    /// # Errors
    /// If there are no nodes or more than [`NODES_MAX`](super::NODES_MAX), a node is there twice, the
    /// rules let nothing happen, a tick takes no time, or outside a world.
    pub async fn run(self) -> Result<(), PlanError> {
        network().map_err(|error| PlanError::new(error.to_string()))?;
        let mut game = Game::new(self.nodes.len(), self.rules)?;
        self.check()?;
        let mut noise = Noise::new();
        self.look(|colour| game.board.paint(colour));
        game.publish();
        for _ in 0..self.rules.horizon {
            let can_request = self.can_request();
            let ticks = match game.choose(can_request, &mut noise) {
                Deed::Run => {
                    self.part(&game, true);
                    self.rules.ticks
                }
                Deed::Request(number) => {
                    self.note(format!("request {number}"));
                    if let Some(request) = &self.request {
                        request(number);
                    }
                    1
                }
                Deed::Start(node) => {
                    self.note(format!("start `{}`", self.nodes[node].name()));
                    self.nodes[node].restart();
                    self.part(&game, false);
                    1
                }
                Deed::Stop(node) => {
                    self.note(format!("stop `{}`", self.nodes[node].name()));
                    self.nodes[node].crash();
                    1
                }
            };
            time::sleep(self.tick * ticks).await;
            self.look(|colour| game.settle(colour));
            game.publish();
        }
        self.mend();
        Ok(())
    }

    fn check(&self) -> Result<(), PlanError> {
        if self.tick.is_zero() {
            return Err(PlanError::new("an environment of colours with ticks of 0"));
        }
        for (at, node) in self.nodes.iter().enumerate() {
            if !node.is_here() {
                let name = node.name();
                return Err(PlanError::new(format!(
                    "an environment of colours has node `{name}`, which is not of this scenario"
                )));
            }
            if self.nodes[..at].iter().any(|other| other.id() == node.id()) {
                let name = node.name();
                return Err(PlanError::new(format!(
                    "an environment of colours has node `{name}` twice"
                )));
            }
        }
        Ok(())
    }

    fn can_request(&self) -> bool {
        self.request.is_some()
            && shim::observations(|seen| (self.can_request)(seen)).unwrap_or(false)
    }

    /// Colours nodes by what they observed so far.
    fn look(&self, paint: impl FnOnce(&dyn Fn(usize) -> u64)) {
        shim::observations(|seen| paint(&|node| (self.colour)(&self.nodes[node], seen)));
    }

    /// Holds the links between blocks and lets the others go. What is on its way across blocks is
    /// lost first, if it shall be.
    fn part(&self, game: &Game, lose: bool) {
        for (a, from) in self.nodes.iter().enumerate() {
            for (b, to) in self.nodes.iter().enumerate().filter(|(b, _)| *b != a) {
                let held = !game.board.together(a, b);
                if held && lose {
                    control::cut(from.id(), to.id(), true);
                }
                control::holding(from.id(), to.id(), held);
                if held && lose {
                    control::cut(from.id(), to.id(), false);
                }
            }
        }
        let quoted = |node: usize| format!("`{}`", self.nodes[node].name());
        let blocks = game.board.blocks();
        let texts = blocks.map(|block| block.map(quoted).collect::<Vec<_>>().join(" "));
        self.note(format!("blocks {}", texts.collect::<Vec<_>>().join(" | ")));
    }

    fn mend(&self) {
        for node in self.nodes.iter().filter(|node| !node.is_up()) {
            node.restart();
        }
        let ids: Vec<NodeId> = self.nodes.iter().map(Node::id).collect();
        for &from in &ids {
            for &to in ids.iter().filter(|&&to| to != from) {
                control::holding(from, to, false);
            }
        }
        self.note("over".to_owned());
    }

    fn note(&self, what: String) {
        if let Some(history) = history() {
            let millis = shim::world_time_ns() as f64 / 1e6;
            let line = format!("colours at {millis} ms: {what}");
            history.0.with(|lines| lines.push(line));
        }
    }
}

impl fmt::Debug for Cluster {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Cluster")
            .field("nodes", &self.nodes)
            .field("rules", &self.rules)
            .finish_non_exhaustive()
    }
}

/// What the clusters of a world did, for reports of failures.
#[derive(Default)]
struct History(Shared<Vec<String>>);

fn history() -> Option<Source<History>> {
    shim::source(History::default)
}

impl ActionSource for History {
    /// It has no actions: what happens is a choice of the task that plays.
    fn apply(&self, _: u64) {}

    fn node_down(&self, _: NodeId) {}

    fn snapshot(&self) -> Vec<String> {
        self.0.with(|lines| lines.clone())
    }
}
