//! What each kind of fault can do to which nodes, and how it is undone.
//!
//! Instances of a kind are numbered; the numbers mean the same in every iteration.

use super::kind::Fault;
use super::plan::{Deed, FaultPlan, Kind, What};
use crate::fabric::{Network, Verdict, control, network};
use crate::fs::disks::{self, Armed};
use crate::host;
use crate::node;
use crate::signal::{self, Struck};
use cct_executor::node::{Node, NodeId};
use cct_executor::shim;
use cct_executor::words::Observations;
use std::fmt::Write as _;
use std::panic::Location;
use std::time::Duration;

type Site = &'static Location<'static>;

/// Up to so many nodes, each partition is an instance.
const PARTITIONED_MAX: usize = 5;

/// How late a message is made: one of these.
const DELAYS_MS: [u64; 4] = [1, 10, 100, 1000];

/// Which nodes an instance hits, as places in the plan's list.
enum Hit {
    One(usize),
    Pair(usize, usize),
    /// Each node's group.
    Groups(Vec<u8>),
    /// Two groups that are to be drawn.
    Drawn,
    /// None in particular.
    Any,
}

/// How a lasting fault is undone.
#[derive(Clone)]
pub(super) enum Undo {
    Restart(Node),
    /// The node's process was told to do something, and may end of it.
    RestartIfItEnds(Node),
    Resume(Node),
    Links {
        pairs: Vec<(NodeId, NodeId)>,
        held: bool,
    },
    Disarm(Armed),
    Hook(Deed),
}

/// What was done.
pub(super) struct Done {
    pub(super) text: String,
    pub(super) undo: Option<Undo>,
    /// It is undone at the next moment.
    pub(super) at_once: bool,
}

impl Kind {
    pub(super) fn lasts(&self) -> bool {
        match &self.what {
            What::Known(Fault::Reset) => false,
            What::Known(_) => !self.hits_messages(),
            What::Hook { end, .. } => end.is_some(),
        }
    }

    /// Whether what it can be done to may be gone at the next moment.
    pub(super) fn is_fleeting(&self) -> bool {
        matches!(self.what, What::Known(Fault::Reset)) || self.hits_messages()
    }

    /// Whether it takes a message on its way. Where nodes send by turns there is none at any moment,
    /// as a moment begins when one has arrived.
    pub(super) fn hits_messages(&self) -> bool {
        matches!(
            self.what,
            What::Known(Fault::Drop | Fault::Duplicate | Fault::Delay)
        )
    }

    /// How many instances there are.
    pub(super) fn count(&self, plan: &FaultPlan) -> u32 {
        let n = plan.nodes.len();
        let count = match self.what {
            What::Known(
                Fault::Crash
                | Fault::Kill
                | Fault::Restart
                | Fault::Pause
                | Fault::Isolate
                | Fault::Reset
                | Fault::Disk(_)
                | Fault::Signal(_),
            ) => n,
            What::Known(Fault::Cut | Fault::Hold) => n * (n - 1),
            What::Known(Fault::Partition) if n <= PARTITIONED_MAX => partitions(n).len(),
            _ => 1,
        };
        u32::try_from(count).unwrap_or(u32::MAX - 1)
    }

    fn hit(&self, plan: &FaultPlan, instance: u32) -> Hit {
        let (i, n) = (instance as usize, plan.nodes.len());
        match self.what {
            What::Known(
                Fault::Crash
                | Fault::Kill
                | Fault::Restart
                | Fault::Pause
                | Fault::Isolate
                | Fault::Reset
                | Fault::Disk(_)
                | Fault::Signal(_),
            ) => Hit::One(i),
            What::Known(Fault::Cut | Fault::Hold) => {
                let (from, to) = (i / (n - 1), i % (n - 1));
                Hit::Pair(from, to + usize::from(to >= from))
            }
            What::Known(Fault::Partition) if n <= PARTITIONED_MAX => {
                Hit::Groups(partitions(n).swap_remove(i))
            }
            What::Known(Fault::Partition) => Hit::Drawn,
            _ => Hit::Any,
        }
    }

    /// Whether the instance may happen now. `held` are the instances of this kind that are in force.
    pub(super) fn is_possible(
        &self,
        plan: &FaultPlan,
        instance: u32,
        held: &[u32],
        observations: &Observations,
    ) -> bool {
        let hit = self.hit(plan, instance);
        let suits = |at: usize| {
            let node = &plan.nodes[at];
            let named = self.nodes.is_empty() || self.nodes.iter().any(|n| n.id() == node.id());
            named
                && plan
                    .target
                    .as_ref()
                    .is_none_or(|target| target(node, observations))
        };
        let suitable = match hit {
            Hit::One(at) => suits(at),
            Hit::Pair(from, to) => suits(from) || suits(to),
            Hit::Groups(_) | Hit::Drawn | Hit::Any => true,
        };
        suitable
            && match (&self.what, hit) {
                (
                    What::Known(Fault::Crash | Fault::Kill | Fault::Restart | Fault::Pause),
                    Hit::One(at),
                ) => plan.nodes[at].is_up(),
                (What::Known(Fault::Signal(signal)), Hit::One(at)) => {
                    let node = &plan.nodes[at];
                    node.is_up()
                        && !held.contains(&instance)
                        && signal::would_act(node.id(), *signal)
                }
                (What::Known(Fault::Reset), Hit::One(at)) => {
                    !host::established(plan.nodes[at].id()).is_empty()
                }
                (What::Known(Fault::Partition), _) => held.is_empty(),
                (What::Known(Fault::Drop | Fault::Duplicate | Fault::Delay), _) => {
                    let net = network();
                    net.is_ok_and(|net| !Network::busy(&net, &ids(plan)).is_empty())
                }
                _ => !held.contains(&instance),
            }
    }

    /// What reports call the instance, as far as it is not drawn when it happens.
    pub(super) fn text(&self, plan: &FaultPlan, instance: u32) -> String {
        let name = self.what.name();
        match self.hit(plan, instance) {
            Hit::One(at) => {
                let to = match self.what {
                    What::Known(Fault::Signal(_)) => "to ",
                    _ => "",
                };
                format!("{name} {to}{}", quoted(&plan.nodes[at]))
            }
            Hit::Pair(from, to) => {
                let (from, to) = (&plan.nodes[from], &plan.nodes[to]);
                format!("{name} {} -> {}", quoted(from), quoted(to))
            }
            Hit::Groups(groups) => format!("{name} {}", split(plan, &groups).0),
            Hit::Any if self.hits_messages() => match &messages(plan)[..] {
                [] => name.to_owned(),
                [message] => format!("{name} {message}"),
                several => format!("{name} one of {}", several.join(", ")),
            },
            Hit::Drawn | Hit::Any => name.to_owned(),
        }
    }

    /// Does it. `None` if there was nothing to do it to. `site` is the plan's.
    pub(super) fn perform(&self, plan: &FaultPlan, instance: u32, site: Site) -> Option<Done> {
        let hit = self.hit(plan, instance);
        let mut done = Done {
            text: self.text(plan, instance),
            undo: None,
            at_once: false,
        };
        done.undo = match (&self.what, hit) {
            (What::Hook { begin, end, .. }, _) => {
                begin();
                end.clone().map(Undo::Hook)
            }
            (What::Known(Fault::Pause), Hit::One(at)) => {
                plan.nodes[at].pause();
                Some(Undo::Resume(plan.nodes[at].clone()))
            }
            (What::Known(Fault::Isolate), Hit::One(at)) => {
                let node = plan.nodes[at].id();
                let others = ids(plan).into_iter().filter(|&other| other != node);
                let pairs = others.flat_map(|other| [(node, other), (other, node)]);
                Some(links(pairs.collect(), false))
            }
            (What::Known(Fault::Reset), Hit::One(at)) => {
                done.text = reset(&plan.nodes[at])?;
                None
            }
            (What::Known(Fault::Signal(signal)), Hit::One(at)) => {
                let node = plan.nodes[at].clone();
                match signal::strike(node.id(), *signal, site) {
                    Struck::Ended => Some(Undo::Restart(node)),
                    Struck::Stopped => Some(Undo::Resume(node)),
                    Struck::Told => Some(Undo::RestartIfItEnds(node)),
                    Struck::Ignored => None,
                }
            }
            (What::Known(Fault::Disk(fault)), Hit::One(at)) => {
                Some(Undo::Disarm(disks::arm(plan.nodes[at].id(), *fault)?))
            }
            (What::Known(fault), Hit::One(at)) => {
                match fault {
                    Fault::Kill => node::kill(&plan.nodes[at]),
                    _ => plan.nodes[at].crash(),
                }
                done.at_once = *fault == Fault::Restart;
                Some(Undo::Restart(plan.nodes[at].clone()))
            }
            (What::Known(fault), Hit::Pair(from, to)) => {
                let pair = (plan.nodes[from].id(), plan.nodes[to].id());
                Some(links(vec![pair], *fault == Fault::Hold))
            }
            (_, Hit::Groups(groups)) => Some(links(split(plan, &groups).1, false)),
            (What::Known(fault), Hit::Drawn) => {
                let (text, pairs) = split(plan, &draw_sides(plan.nodes.len()));
                done.text = format!("{fault} {text}");
                Some(links(pairs, false))
            }
            (What::Known(fault), Hit::Any) => {
                done.text = meddle(plan, *fault)?;
                None
            }
        };
        Some(done)
    }
}

/// Cuts or holds links.
fn links(pairs: Vec<(NodeId, NodeId)>, held: bool) -> Undo {
    for &(from, to) in &pairs {
        set_link(from, to, held, true);
    }
    Undo::Links { pairs, held }
}

impl Undo {
    /// Whether it may be that there is nothing to undo.
    pub(super) fn may_be_idle(&self) -> bool {
        matches!(self, Undo::RestartIfItEnds(_))
    }

    /// Whether it comes into force at some time after the fault: when the node is down.
    pub(super) fn lands_later(&self) -> bool {
        matches!(self, Undo::Restart(_) | Undo::RestartIfItEnds(_))
    }

    /// Whether it is about this node's going down.
    pub(super) fn restarts(&self, node: NodeId) -> bool {
        matches!(self, Undo::Restart(ours) | Undo::RestartIfItEnds(ours) if ours.id() == node)
    }

    /// Whether the fault is over although nobody has undone it.
    pub(super) fn is_done(&self) -> bool {
        matches!(self, Undo::Disarm(armed) if !armed.is_waiting())
    }

    /// Undoes it. Links that others still want cut stay so.
    pub(super) fn run(self, others: &[Undo]) {
        match self {
            Undo::Restart(node) | Undo::RestartIfItEnds(node) if !node.is_up() => node.restart(),
            Undo::Restart(_) | Undo::RestartIfItEnds(_) => {}
            Undo::Resume(node) => node.resume(),
            Undo::Disarm(armed) => armed.disarm(),
            Undo::Hook(end) => end(),
            Undo::Links { pairs, held } => {
                let wanted = |pair: &(NodeId, NodeId)| {
                    others.iter().any(|other| match other {
                        Undo::Links {
                            pairs,
                            held: theirs,
                        } => *theirs == held && pairs.contains(pair),
                        _ => false,
                    })
                };
                for (from, to) in pairs.into_iter().filter(|pair| !wanted(pair)) {
                    set_link(from, to, held, false);
                }
            }
        }
    }
}

fn set_link(from: NodeId, to: NodeId, held: bool, on: bool) {
    if held {
        control::holding(from, to, on);
    } else {
        control::cut(from, to, on);
    }
}

/// Whether nodes of the plan have ever sent each other anything.
pub(super) fn have_talked(plan: &FaultPlan) -> bool {
    network().is_ok_and(|net| net.have_talked(&ids(plan)))
}

fn ids(plan: &FaultPlan) -> Vec<NodeId> {
    plan.nodes.iter().map(Node::id).collect()
}

fn quoted(node: &Node) -> String {
    format!("`{}`", node.name())
}

/// What a partition looks like, and the links it cuts.
fn split(plan: &FaultPlan, groups: &[u8]) -> (String, Vec<(NodeId, NodeId)>) {
    let mut text = String::new();
    for group in 0..=groups.iter().copied().max().unwrap_or(0) {
        let members = plan.nodes.iter().zip(groups);
        let members = members.filter(|(_, theirs)| **theirs == group);
        let names: Vec<String> = members.map(|(node, _)| quoted(node)).collect();
        let bar = if group > 0 { " | " } else { "" };
        let _ = write!(text, "{bar}{}", names.join(" "));
    }
    let with_group: Vec<(NodeId, u8)> = ids(plan).into_iter().zip(groups.iter().copied()).collect();
    let mut pairs = Vec::new();
    for &(from, here) in &with_group {
        let apart = with_group.iter().filter(|(_, there)| *there != here);
        pairs.extend(apart.map(|&(to, _)| (from, to)));
    }
    (text, pairs)
}

/// Two groups, neither of them empty.
fn draw_sides(nodes: usize) -> Vec<u8> {
    let mut sides = vec![0];
    sides.extend((1..nodes).map(|_| shim::choose(2, "which side of the partition") as u8));
    if sides.iter().all(|&side| side == 0) {
        sides[nodes - 1] = 1;
    }
    sides
}

/// All ways to put nodes into at least two groups: each node is in the group of an earlier one or in
/// the next new group.
fn partitions(nodes: usize) -> Vec<Vec<u8>> {
    let mut all = vec![vec![0]];
    for _ in 1..nodes {
        let longer = all.into_iter().flat_map(|groups: Vec<u8>| {
            let new = groups.iter().copied().max().unwrap_or(0) + 1;
            (0..=new).map(move |group| [&groups[..], &[group]].concat())
        });
        all = longer.collect();
    }
    all.retain(|groups| groups.iter().any(|&group| group > 0));
    all
}

/// What is on its way, in the order of the choice between them.
fn messages(plan: &FaultPlan) -> Vec<String> {
    network().map_or_else(
        |_| Vec::new(),
        |net| net.describe_each(&Network::busy(&net, &ids(plan))),
    )
}

/// Does something to a message that is on its way, and says what.
fn meddle(plan: &FaultPlan, fault: Fault) -> Option<String> {
    let net = network().ok()?;
    let busy = Network::busy(&net, &ids(plan));
    let count = u32::try_from(busy.len()).ok().filter(|&count| count > 0)?;
    let flow = busy[shim::choose(count, "which message the fault hits") as usize];
    let verdict = match fault {
        Fault::Drop => Verdict::Drop,
        Fault::Duplicate => Verdict::Duplicate,
        _ => {
            let nth = shim::choose(DELAYS_MS.len() as u32, "how late the message is");
            let late_ms = DELAYS_MS[nth as usize];
            shim::tell_choice(|| format!("{late_ms} ms"));
            Verdict::DeliverAfter(Duration::from_millis(late_ms))
        }
    };
    let text = format!("{fault} {}", net.describe_first(flow));
    Network::meddle(&net, flow, verdict).then_some(text)
}

/// Resets a connection of a node, and says which.
fn reset(node: &Node) -> Option<String> {
    let conns = host::established(node.id());
    let count = u32::try_from(conns.len()).ok().filter(|&count| count > 0)?;
    let conn = &conns[shim::choose(count, "which connection is reset") as usize];
    conn.reset_both();
    Some(format!("{} {}", Fault::Reset, conn.describe()))
}

#[cfg(test)]
mod tests {
    use super::partitions;

    /// One less than the Bell numbers: the partition with one group is none.
    #[test]
    fn partitions_are_as_many_as_there_should_be() {
        let counts: Vec<usize> = (1..=5).map(|n| partitions(n).len()).collect();
        assert_eq!(counts, [0, 1, 4, 14, 51]);
        assert_eq!(partitions(3), [[0, 0, 1], [0, 1, 0], [0, 1, 1], [0, 1, 2]]);
    }
}
