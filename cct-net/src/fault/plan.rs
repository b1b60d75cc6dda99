//! What a plan says.

use super::error::PlanError;
use super::handle::Faults;
use super::kind::Fault;
use super::pace::Pace;
use super::source;
use cct_executor::node::Node;
use cct_executor::words::Observations;
use std::fmt;
use std::ops::Range;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

pub(super) type Predicate = Arc<dyn Fn(&Observations) -> bool + Send + Sync>;
pub(super) type Target = Arc<dyn Fn(&Node, &Observations) -> bool + Send + Sync>;
pub(super) type Deed = Arc<dyn Fn() + Send + Sync>;

/// What may go wrong, where, when and how often.
#[derive(Clone)]
#[must_use = "call start"]
pub struct FaultPlan {
    pub(super) nodes: Vec<Node>,
    pub(super) kinds: Vec<Kind>,
    pub(super) total: u32,
    pub(super) concurrent: u32,
    pub(super) per_episode: u32,
    pub(super) buggify: u32,
    pub(super) time: Range<Duration>,
    pub(super) deliveries: Range<u64>,
    pub(super) after: Option<(&'static str, Predicate)>,
    pub(super) target: Option<Target>,
    pub(super) pace: Pace,
}

/// A kind of fault in a plan.
#[derive(Clone)]
pub(super) struct Kind {
    pub(super) what: What,
    /// On which nodes; all of the plan if empty.
    pub(super) nodes: Vec<Node>,
    pub(super) limit: u32,
}

/// What a kind of fault does.
#[derive(Clone)]
pub(super) enum What {
    Known(Fault),
    Hook {
        name: &'static str,
        begin: Deed,
        end: Option<Deed>,
    },
}

impl What {
    pub(super) fn name(&self) -> &'static str {
        match self {
            What::Known(fault) => fault.name(),
            What::Hook { name, .. } => name,
        }
    }
}

impl Default for FaultPlan {
    fn default() -> Self {
        FaultPlan::new()
    }
}

impl FaultPlan {
    /// A plan without faults: at most 4 in an iteration and 2 at a time, within the first 30 seconds
    /// of virtual time.
    pub fn new() -> FaultPlan {
        FaultPlan {
            nodes: Vec::new(),
            kinds: Vec::new(),
            total: 4,
            concurrent: 2,
            per_episode: u32::MAX,
            buggify: 0,
            time: Duration::ZERO..Duration::from_secs(30),
            deliveries: 0..u64::MAX,
            after: None,
            target: None,
            pace: Pace {
                rungs: 9,
                quiet: Duration::from_millis(10),
            },
        }
    }

    /// The nodes that faults may hit. Links are cut, and messages hit, between these nodes only: the test
    /// itself is none of them, so a client whose messages may be lost is a node of its own.
    pub fn nodes<'a>(mut self, nodes: impl IntoIterator<Item = &'a Node>) -> FaultPlan {
        self.nodes = unique(nodes);
        self
    }

    /// Allows a kind of fault, on any of the nodes.
    pub fn fault(self, fault: Fault) -> FaultPlan {
        self.with(What::Known(fault), Vec::new(), u32::MAX)
    }

    /// Allows a kind of fault on these nodes only, which have to be nodes of the plan.
    pub fn fault_on<'a>(
        self,
        fault: Fault,
        nodes: impl IntoIterator<Item = &'a Node>,
    ) -> FaultPlan {
        self.with(What::Known(fault), unique(nodes), u32::MAX)
    }

    /// Allows a kind of fault so many times in an iteration.
    pub fn fault_up_to(self, fault: Fault, times: u32) -> FaultPlan {
        self.with(What::Known(fault), Vec::new(), times)
    }

    /// Allows a fault of your own, over as soon as it has happened: a torn write, a wrong answer.
    ///
    /// `deed` runs as no task and passes no scheduling points; it may draw values.
    pub fn hook(self, name: &'static str, deed: impl Fn() + Send + Sync + 'static) -> FaultPlan {
        let begin: Deed = Arc::new(deed);
        let hook = What::Hook {
            name,
            begin,
            end: None,
        };
        self.with(hook, Vec::new(), u32::MAX)
    }

    /// Allows a fault of your own that lasts: a full disk. `end` mends it.
    pub fn lasting_hook(
        self,
        name: &'static str,
        begin: impl Fn() + Send + Sync + 'static,
        end: impl Fn() + Send + Sync + 'static,
    ) -> FaultPlan {
        let hook = What::Hook {
            name,
            begin: Arc::new(begin),
            end: Some(Arc::new(end)),
        };
        self.with(hook, Vec::new(), u32::MAX)
    }

    fn with(mut self, what: What, nodes: Vec<Node>, limit: u32) -> FaultPlan {
        self.kinds.push(Kind { what, nodes, limit });
        self
    }

    /// How often [`buggify`](super::buggify()) may say yes on nodes of the plan, or anywhere if the
    /// plan has no nodes. Not part of the total.
    pub fn buggify(mut self, times: u32) -> FaultPlan {
        self.buggify = times;
        self
    }

    /// At most so many faults in an iteration.
    pub fn total(mut self, faults: u32) -> FaultPlan {
        self.total = faults;
        self
    }

    /// At most so many lasting faults at the same time.
    pub fn concurrent(mut self, faults: u32) -> FaultPlan {
        self.concurrent = faults;
        self
    }

    /// At most so many faults in an episode, which begins with a fault while nothing is wrong and is
    /// over when everything that lasts is mended.
    pub fn per_episode(mut self, faults: u32) -> FaultPlan {
        self.per_episode = faults;
        self
    }

    /// Only between these times, from the start of the plan.
    pub fn between(mut self, time: Range<Duration>) -> FaultPlan {
        self.time = time;
        self
    }

    /// Only between these numbers of arrivals of packets, from the start of the plan.
    pub fn deliveries(mut self, arrivals: Range<u64>) -> FaultPlan {
        self.deliveries = arrivals;
        self
    }

    /// Only once the predicate has held. It is looked at whenever a packet arrives and when some
    /// time passes without; the name is what the report says if it never does.
    pub fn after(
        mut self,
        name: &'static str,
        predicate: impl Fn(&Observations) -> bool + Send + Sync + 'static,
    ) -> FaultPlan {
        self.after = Some((name, Arc::new(predicate)));
        self
    }

    /// Only faults that hit a node for which this holds at that time: the leader, say. A cut or held
    /// link hits both of its nodes; what hits no node in particular stays possible.
    pub fn target(
        mut self,
        target: impl Fn(&Node, &Observations) -> bool + Send + Sync + 'static,
    ) -> FaultPlan {
        self.target = Some(Arc::new(target));
        self
    }

    /// Fewer than `moments` pass between offers (rounded up to a power of two; 512 unless said), and
    /// `quiet` virtual time in which nothing arrives and no disk works is a moment (10 ms unless said).
    pub fn pace(mut self, moments: u32, quiet: Duration) -> FaultPlan {
        let rungs = moments.max(2).next_power_of_two().trailing_zeros();
        let quiet = quiet.max(Duration::from_millis(1));
        self.pace = Pace { rungs, quiet };
        self
    }

    /// Begins.
    ///
    /// # Errors
    /// If no fault of the plan can ever happen, or outside a world.
    #[track_caller]
    pub fn start(self) -> Result<Faults, PlanError> {
        self.check()?;
        source::start(self, Location::caller())
    }

    fn check(&self) -> Result<(), PlanError> {
        let error = |message: String| Err(PlanError::new(message));
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.what.name()).collect();
        let names = names.join(", ");
        if self.kinds.is_empty() && self.buggify == 0 {
            return error("a fault plan without faults: allow some with `fault` or `hook`".into());
        }
        let budgets = [
            ("total", self.total),
            ("concurrent", self.concurrent),
            ("per_episode", self.per_episode),
        ];
        for (budget, value) in budgets {
            if value == 0 && !self.kinds.is_empty() {
                return error(format!(
                    "a fault plan with {budget}(0) allows {names}: none of them could happen"
                ));
            }
        }
        let here = crate::fabric::network().is_ok();
        if let Some(node) = self.nodes.iter().find(|node| here && !node.is_here()) {
            return error(format!(
                "a fault plan names node `{}`, which is not of this scenario",
                node.name()
            ));
        }
        for kind in &self.kinds {
            let name = kind.what.name();
            if kind.limit == 0 {
                return error(format!("a fault plan allows {name} 0 times"));
            }
            let alien = |node: &&Node| self.nodes.iter().all(|known| known.id() != node.id());
            if let Some(node) = kind.nodes.iter().find(alien) {
                let node = node.name();
                return error(format!(
                    "a fault plan allows {name} on node `{node}`, which is not one of its nodes"
                ));
            }
            let What::Known(fault) = kind.what else {
                continue;
            };
            if let Fault::Signal(signal) = fault {
                if !signal.exists() {
                    let number = signal.as_raw_value();
                    return error(format!(
                        "a fault plan allows signal {number}, which does not exist: expected a number \
                         from 1 to 64"
                    ));
                }
            }
            let (min, has) = (fault.nodes_min(), self.nodes.len());
            if has < min {
                return error(format!(
                    "a fault plan allows {name}, which takes {min} nodes at least: it has {has}"
                ));
            }
        }
        if self.time.is_empty() {
            return error(format!(
                "the window {:?} of a fault plan never opens",
                self.time
            ));
        }
        if self.deliveries.is_empty() {
            return error(format!(
                "the window of deliveries {:?} of a fault plan never opens",
                self.deliveries
            ));
        }
        Ok(())
    }
}

fn unique<'a>(nodes: impl IntoIterator<Item = &'a Node>) -> Vec<Node> {
    let mut unique: Vec<Node> = Vec::new();
    for node in nodes {
        if unique.iter().all(|known| known.id() != node.id()) {
            unique.push(node.clone());
        }
    }
    unique
}

impl fmt::Debug for FaultPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<&str> = self.kinds.iter().map(|kind| kind.what.name()).collect();
        f.debug_struct("FaultPlan")
            .field("nodes", &self.nodes)
            .field("faults", &names)
            .field("total", &self.total)
            .finish_non_exhaustive()
    }
}
