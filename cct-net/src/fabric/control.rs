//! Partitions and the like, as plain calls. They act at once, and are no scheduling points. Those that
//! name a node panic if it is one of another scenario; outside a world they do nothing.

use super::link::{Delivery, Envelope, LinkId, Verdict};
use super::stats::Statistics;
use super::{Arrival, Network, State, Todo, network};
use cct_executor::node::{Node, NodeId};

/// Runs `change` on the running world's network; does nothing outside a world.
fn change<R: Default>(change: impl FnOnce(&mut State, &mut Todo) -> R) -> R {
    let Ok(net) = network() else {
        return R::default();
    };
    let (result, todo) = net.state.with(|state| {
        let mut todo = Todo::default();
        (change(state, &mut todo), todo)
    });
    todo.run();
    result
}

impl State {
    /// Cuts a link, or makes it whole.
    pub(crate) fn set_cut(&mut self, from: NodeId, to: NodeId, cut: bool) -> Vec<Box<dyn Arrival>> {
        let id = self.link(from, to);
        let link = self.tables.links.get_mut(id);
        let mut lost = Vec::new();
        if link.cut != cut {
            link.cut = cut;
            self.tables.link_changed(id);
            if cut {
                lost = self.lose(id);
            } else {
                self.announce(id);
            }
            self.refresh_link(id);
        }
        lost
    }

    /// What a cut loses: everything but connections, which wait for better times.
    fn lose(&mut self, link: LinkId) -> Vec<Box<dyn Arrival>> {
        let mut lost = Vec::new();
        for id in self.tables.flows_of(link) {
            let (flow, _) = self.tables.flow(id);
            if flow.kind != super::flow::FlowKind::Reliable {
                lost.extend(self.lose_all(id));
            }
        }
        lost
    }

    /// Tells those flows that want to know that they can go on.
    fn announce(&mut self, link: LinkId) {
        for id in self.tables.flows_of(link) {
            self.announce_on(id);
        }
    }

    fn set_held(&mut self, from: NodeId, to: NodeId, held: bool) {
        let id = self.link(from, to);
        self.tables.links.get_mut(id).held = held;
        self.refresh_link(id);
    }

    fn set_delivery(&mut self, link: LinkId, delivery: &Delivery) {
        self.tables.links.get_mut(link).set_delivery(delivery);
        self.tables.link_changed(link);
    }
}

/// Cuts the link from one node to another, or makes it whole.
pub(crate) fn cut(from: NodeId, to: NodeId, is_cut: bool) {
    change(|state, todo| todo.lost.extend(state.set_cut(from, to, is_cut)));
}

/// Holds what goes from one node to another, or lets it go.
pub(crate) fn holding(from: NodeId, to: NodeId, held: bool) {
    change(|state, _| state.set_held(from, to, held));
}

/// Two nodes of the running scenario.
///
/// # Panics
/// If one of them is of another scenario: its number stands for somebody else here.
#[track_caller]
fn pair(from: &Node, to: &Node) -> (NodeId, NodeId) {
    (from.expect_here(), to.expect_here())
}

/// Cuts the link from one node to another, in this direction only. [`heal`] makes it whole.
#[track_caller]
pub fn cut_one_way(from: &Node, to: &Node) {
    let (from, to) = pair(from, to);
    cut(from, to, true);
}

/// Cuts two nodes off from each other.
#[track_caller]
pub fn partition(a: &Node, b: &Node) {
    let (a, b) = pair(a, b);
    cut(a, b, true);
    cut(b, a, true);
}

/// Makes what was cut between two nodes whole again. Connections that are still alive go on.
#[track_caller]
pub fn heal(a: &Node, b: &Node) {
    let (a, b) = pair(a, b);
    cut(a, b, false);
    cut(b, a, false);
}

/// Cuts the nodes into groups: within a group all links are whole, between groups all are cut.
#[track_caller]
pub fn partition_groups(groups: &[&[&Node]]) {
    for (i, from) in groups.iter().enumerate() {
        for (j, to) in groups.iter().enumerate() {
            for (a, b) in from.iter().flat_map(|a| to.iter().map(move |b| (a, b))) {
                let (a, b) = pair(a, b);
                if a != b {
                    cut(a, b, i != j);
                }
            }
        }
    }
}

/// Cuts a node off from these others.
#[track_caller]
pub fn isolate(node: &Node, others: &[&Node]) {
    for other in others {
        let (a, b) = pair(node, other);
        if a != b {
            partition(node, other);
        }
    }
}

/// Makes all links whole, and releases all that are held.
pub fn heal_all() {
    change(|state, _| {
        let links = state.tables.links.iter();
        let links: Vec<(NodeId, NodeId)> = links.map(|(_, link)| (link.from, link.to)).collect();
        for (from, to) in links {
            drop(state.set_cut(from, to, false));
            state.set_held(from, to, false);
        }
    });
}

/// Keeps everything from one node to another on its way until it is released.
#[track_caller]
pub fn hold(from: &Node, to: &Node) {
    let (from, to) = pair(from, to);
    holding(from, to, true);
}

/// Lets go what was held.
#[track_caller]
pub fn release(from: &Node, to: &Node) {
    let (from, to) = pair(from, to);
    holding(from, to, false);
}

/// How packets from one node to another are delivered from now on.
#[track_caller]
pub fn set_delivery(from: &Node, to: &Node, delivery: Delivery) {
    let (from, to) = pair(from, to);
    change(|state, _| {
        let link = state.link(from, to);
        state.set_delivery(link, &delivery);
    });
}

/// How packets are delivered on all links, those included that exist.
pub fn set_default_delivery(delivery: Delivery) {
    change(|state, _| {
        (0..state.tables.links.len()).for_each(|link| state.set_delivery(link, &delivery));
        state.default_delivery = delivery;
    });
}

/// Looks at every packet that is sent, and says what becomes of it. Replaces an earlier rule.
///
/// The rule runs in the sender's place, whenever something is sent; it must not send anything
/// itself.
pub fn set_rule(rule: impl FnMut(&Envelope) -> Verdict + Send + 'static) {
    let old = change(|state, _| state.rule.replace(Box::new(rule)));
    drop(old);
}

/// What went over the network so far in this iteration.
pub fn statistics() -> Statistics {
    change(|state, _| state.statistics())
}

/// What the crash of a node looks like from outside.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub enum CrashStyle {
    /// The host is gone, as in a power cut: what is sent to it gets no answer, its disk keeps for
    /// certain only what was synced, and of what it has sent on each connection, or to each mailbox, any number of the last
    /// packets that are still on their way may be lost, which is a choice.
    #[default]
    Silent,
    /// The process died and its host lives on: connections are closed, new ones refused, and files
    /// keep what was written to them.
    Kill,
    /// The same, but the process ended of itself, as it does when its `main` returns: what files had still
    /// to write in the background is written.
    Exit,
}

impl Network {
    /// What crashes of the node look like from now on.
    pub(crate) fn set_crash_style(&self, node: NodeId, style: CrashStyle) {
        self.state.with(|state| state.styles.insert(node.0, style));
    }

    /// What the next crash of the node looks like, whatever it usually does.
    pub(crate) fn set_next_crash(&self, node: NodeId, style: CrashStyle) {
        self.state
            .with(|state| state.next_crash.insert(node.0, style));
    }

    /// What a crash of the node looks like.
    pub(crate) fn crash_style(&self, node: NodeId) -> CrashStyle {
        self.state.with(|state| state.crash_style(node))
    }
}
