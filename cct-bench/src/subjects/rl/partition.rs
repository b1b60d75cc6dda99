//! An environment in which the search decides on partitions of the network, on crashes and on when
//! requests come (section 3 of the paper).
//!
//! 1. A state is a multiset of multisets of colours (who can talk to whom, without names), how
//!    often it repeated, and how many requests are left. It is published as `state`.
//! 2. Actions have the same index in equal states: stay, then partitions in the order of their
//!    hashes, then request, start and stop. Stops come last because how many crashes are left is
//!    no part of the state.
//! 3. A colour is an abstraction of one node that knows nothing of the node's identity; which of
//!    several equally coloured nodes an action hits is noise.

use super::super::{Probe, Scenario};
use cct_executor::words::Observations;
use cct_executor::words::fingerprint::{mix, mix2};
use cct_executor::words::seed::Generator;
use cct_executor::{nondet, observe, waypoint};
use rand::Rng;

/// Nodes of every system.
pub(super) const NODES: usize = 3;
/// Nodes that make a majority.
pub(super) const QUORUM: u32 = 2;

const REQUESTS: u8 = 5;
const TICKS: u32 = 4;
const REPEATS_MAX: u8 = 4;
/// The block of nodes that are down; running nodes are in blocks below it.
const DOWN: u8 = NODES as u8;

/// A message on its way.
#[derive(Clone, Copy, Debug)]
pub(super) struct Envelope<M> {
    pub(super) from: usize,
    pub(super) to: usize,
    pub(super) message: M,
}

/// What a system may do to the world around it: send, and draw noise.
#[derive(Debug)]
pub(super) struct Wire<M> {
    flying: Vec<Envelope<M>>,
    noise: Generator,
}

impl<M> Wire<M> {
    pub(super) fn send(&mut self, from: usize, to: usize, message: M) {
        self.flying.push(Envelope { from, to, message });
    }

    /// Sends to all others.
    pub(super) fn broadcast(&mut self, from: usize, message: M)
    where
        M: Copy,
    {
        for to in (0..NODES).filter(|&to| to != from) {
            self.send(from, to, message);
        }
    }

    /// Noise below `n`.
    pub(super) fn below(&mut self, n: usize) -> usize {
        ((u128::from(self.noise.next_u64()) * n as u128) >> 64) as usize
    }

    /// One of the nodes for which the condition holds.
    pub(super) fn any_node(&mut self, condition: impl Fn(usize) -> bool) -> Option<usize> {
        let count = (0..NODES).filter(|&node| condition(node)).count();
        if count == 0 {
            return None;
        }
        let nth = self.below(count);
        (0..NODES).filter(|&node| condition(node)).nth(nth)
    }

    fn shuffle<T>(&mut self, items: &mut [T]) {
        for i in (1..items.len()).rev() {
            let j = self.below(i + 1);
            items.swap(i, j);
        }
    }
}

/// A distributed system whose time and messages the environment controls.
pub(super) trait System: Sized + 'static {
    type Message: Copy;

    /// All nodes, running; what they send at once goes out.
    fn start_all(&mut self, wire: &mut Wire<Self::Message>);
    /// The abstraction of a node's state.
    fn colour(&self, node: usize) -> u64;
    fn tick(&mut self, node: usize, wire: &mut Wire<Self::Message>);
    fn deliver(&mut self, envelope: Envelope<Self::Message>, wire: &mut Wire<Self::Message>);
    /// Whether a node is there to take a request.
    fn can_request(&self) -> bool;
    fn request(&mut self, command: u8, wire: &mut Wire<Self::Message>);
    fn stop(&mut self, node: usize);
    fn start(&mut self, node: usize);
    /// Whether rounds have grown so far that the episode ends.
    fn is_out_of_bounds(&self) -> bool;
    /// Checks what must always hold.
    fn check(&mut self);
}

/// A predicate on the way to a target; the last one is the target.
pub(super) type Waypoint<S> = (&'static str, fn(&S) -> bool);

/// How an episode goes.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rules {
    /// Environment steps.
    pub(super) horizon: u32,
    /// How often nodes may be stopped; at most one is down at a time.
    pub(super) crashes: u8,
}

/// The highest waypoint that holds is published as a number. It is a function of the colours (but
/// for rounds beyond the abstraction's bounds), so learners see no state they would not see
/// without.
const LEVEL: &str = "waypoint";
const AT_LEAST: [fn(&Observations) -> bool; 4] = [
    is_at_least::<1>,
    is_at_least::<2>,
    is_at_least::<3>,
    is_at_least::<4>,
];

fn is_at_least<const N: i64>(observations: &Observations) -> bool {
    observations.number(LEVEL) >= Some(N)
}

/// One episode as the body of an iteration.
pub(super) fn episode<S: System>(
    make: impl FnOnce() -> S + 'static,
    rules: Rules,
    waypoints: &'static [Waypoint<S>],
    probe: Probe,
) -> Scenario {
    Box::pin(async move {
        for (&(name, _), holds) in waypoints.iter().zip(AT_LEAST) {
            waypoint!(name, holds);
        }
        let mut environment = Environment::new(make(), rules, probe);
        environment.publish(waypoints);
        for _ in 0..rules.horizon {
            environment.step();
            environment.system.check();
            if environment.system.is_out_of_bounds() {
                break;
            }
            environment.publish(waypoints);
        }
    })
}

/// Blocks of all nodes, and the hash of the partition they make.
#[derive(Clone, Copy)]
struct Partition {
    hash: u64,
    blocks: [u8; NODES],
}

struct Environment<S: System> {
    system: S,
    wire: Wire<S::Message>,
    /// Messages being delivered; empty between ticks.
    arriving: Vec<Envelope<S::Message>>,
    blocks: [u8; NODES],
    colours: [u64; NODES],
    /// Hash of the partition of colours.
    shape: u64,
    repeats: u8,
    requests_left: u8,
    crashes_left: u8,
    /// Partitions to choose from, by hash. Invariant: sorted between choices.
    partitions: Vec<Partition>,
    level: Option<i64>,
    reached: bool,
    probe: Probe,
}

impl<S: System> Environment<S> {
    fn new(mut system: S, rules: Rules, probe: Probe) -> Self {
        let mut wire = Wire {
            flying: Vec::with_capacity(32),
            noise: nondet::rng(),
        };
        system.start_all(&mut wire);
        let mut environment = Environment {
            system,
            wire,
            arriving: Vec::with_capacity(32),
            blocks: [0; NODES],
            colours: [0; NODES],
            shape: 0,
            repeats: 0,
            requests_left: REQUESTS,
            crashes_left: rules.crashes,
            partitions: Vec::with_capacity(8),
            level: None,
            reached: false,
            probe,
        };
        environment.paint();
        environment
    }

    fn is_up(&self, node: usize) -> bool {
        self.blocks[node] != DOWN
    }

    fn paint(&mut self) {
        for node in 0..NODES {
            let colour = self.system.colour(node);
            self.colours[node] = if self.is_up(node) {
                mix(colour)
            } else {
                mix2(colour, u64::from(DOWN))
            };
        }
        self.shape = self.shape_of(&self.blocks);
    }

    /// Sums make it independent of the names of nodes and blocks.
    fn shape_of(&self, blocks: &[u8; NODES]) -> u64 {
        let mut sums = [0_u64; NODES + 1];
        for (&block, &colour) in blocks.iter().zip(&self.colours) {
            sums[usize::from(block)] = sums[usize::from(block)].wrapping_add(colour);
        }
        let used = sums.iter().filter(|&&sum| sum != 0);
        used.fold(0, |shape, &sum| shape.wrapping_add(mix(sum)))
    }

    /// Tells the search where it is, and the probe what was covered.
    fn publish(&mut self, waypoints: &[Waypoint<S>]) {
        let counters = u64::from(self.repeats) << 8 | u64::from(self.requests_left);
        observe::observe("state", mix2(self.shape, counters));
        let covered = self.colours.iter().copied().fold(0, u64::wrapping_add);
        self.probe.visit(covered);
        if waypoints.is_empty() {
            return;
        }
        let highest = waypoints.iter().rposition(|(_, holds)| holds(&self.system));
        let level = highest.map_or(0, |index| index as i64 + 1);
        if self.level != Some(level) {
            self.level = Some(level);
            observe::number(LEVEL, level);
        }
        self.reached |= level == waypoints.len() as i64;
        if self.reached {
            self.probe.visit_target(0, covered);
        }
    }

    /// Lets the search choose an action, and does it.
    fn step(&mut self) {
        self.list_partitions();
        let partitions = self.count_partitions();
        let requests = u32::from(self.requests_left > 0 && self.system.can_request());
        let starts = u32::from((0..NODES).any(|node| !self.is_up(node)));
        let mut stops = [0; NODES];
        let stop_count = self.list_stops(&mut stops);

        let mut action = nondet::choose(1 + partitions + requests + starts + stop_count);
        let before = self.shape;
        if action == 0 {
            self.run(before);
            return;
        }
        action -= 1;
        if action < partitions {
            self.blocks = self.partition_at(action);
            self.run(self.shape_of(&self.blocks));
            return;
        }
        action -= partitions;
        if action < requests {
            let command = REQUESTS - self.requests_left + 1;
            self.requests_left -= 1;
            self.system.request(command, &mut self.wire);
        } else if action < requests + starts {
            self.start_any();
        } else {
            self.stop_any(stops[(action - requests - starts) as usize]);
        }
        self.tick();
        self.settle(before);
    }

    fn start_any(&mut self) {
        let blocks = self.blocks;
        if let Some(node) = self.wire.any_node(|node| blocks[node] == DOWN) {
            let free = (0..DOWN).find(|block| !blocks.contains(block));
            self.blocks[node] = free.unwrap_or(0);
            self.system.start(node);
        }
    }

    fn stop_any(&mut self, colour: u64) {
        let colours = self.colours;
        if let Some(node) = self.wire.any_node(|node| colours[node] == colour) {
            self.crashes_left -= 1;
            self.blocks[node] = DOWN;
            self.system.stop(node);
        }
    }

    /// Time passes under the present partition. What crosses blocks is lost on the first tick;
    /// later it waits for the next step.
    fn run(&mut self, before: u64) {
        for tick in 0..TICKS {
            std::mem::swap(&mut self.arriving, &mut self.wire.flying);
            self.wire.shuffle(&mut self.arriving);
            for envelope in self.arriving.drain(..) {
                let (from, to) = (self.blocks[envelope.from], self.blocks[envelope.to]);
                if from == to && to != DOWN {
                    self.system.deliver(envelope, &mut self.wire);
                } else if tick > 0 {
                    self.wire.flying.push(envelope);
                }
            }
            self.tick();
        }
        self.settle(before);
    }

    fn tick(&mut self) {
        for node in 0..NODES {
            if self.is_up(node) {
                self.system.tick(node, &mut self.wire);
            }
        }
    }

    /// Compares with what was before, under the partition chosen.
    fn settle(&mut self, before: u64) {
        self.paint();
        self.repeats = match self.shape == before {
            true => (self.repeats + 1).min(REPEATS_MAX),
            false => 0,
        };
    }

    /// All ways to put the running nodes into blocks, those that look alike side by side.
    fn list_partitions(&mut self) {
        self.partitions.clear();
        let mut blocks = [0; NODES];
        self.assign(0, 0, &mut blocks);
        self.partitions
            .sort_unstable_by_key(|partition| (partition.hash, partition.blocks));
    }

    /// Each node joins a block that has one already, or opens the next one.
    fn assign(&mut self, node: usize, used: u8, blocks: &mut [u8; NODES]) {
        if node == NODES {
            let hash = self.shape_of(blocks);
            let blocks = *blocks;
            self.partitions.push(Partition { hash, blocks });
        } else if self.is_up(node) {
            for block in 0..=used {
                blocks[node] = block;
                self.assign(node + 1, used.max(block + 1), blocks);
            }
        } else {
            blocks[node] = DOWN;
            self.assign(node + 1, used, blocks);
        }
    }

    /// How many partitions differ in what they look like.
    fn count_partitions(&self) -> u32 {
        let groups = self.partitions.chunk_by(|a, b| a.hash == b.hash);
        groups.count() as u32
    }

    fn partition_at(&mut self, index: u32) -> [u8; NODES] {
        let mut groups = self.partitions.chunk_by(|a, b| a.hash == b.hash);
        let group = groups.nth(index as usize).unwrap_or_default();
        group[self.wire.below(group.len())].blocks
    }

    /// Puts the colours that may be stopped into the list; returns how many there are.
    fn list_stops(&self, stops: &mut [u64; NODES]) -> u32 {
        if self.crashes_left == 0 || (0..NODES).any(|node| !self.is_up(node)) {
            return 0;
        }
        *stops = self.colours;
        stops.sort_unstable();
        let mut count = 1;
        for i in 1..NODES {
            if stops[i] != stops[count - 1] {
                stops[count] = stops[i];
                count += 1;
            }
        }
        count as u32
    }
}

#[cfg(test)]
#[path = "partition_tests.rs"]
mod tests;
