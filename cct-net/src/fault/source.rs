//! The plans of a world, and the actions they offer.

use super::error::PlanError;
use super::handle::Faults;
use super::plan::FaultPlan;
use super::run::{Cause, Run};
use crate::fabric::network;
use crate::fs::disks;
use cct_executor::node::NodeId;
use cct_executor::shim::{
    self, ActionSource, Alarm, Offer, Resource, ResourceKind, Shared, Source, SourceAction,
};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{hash_of, mix2};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Wake, Waker};

/// Up to so many instances of a kind, each is an action of its own; beyond, there is one action, and
/// the instance is drawn.
const ACTIONS_MAX: u32 = 64;

/// Stands for the instance that is drawn.
const DRAWN: u64 = u32::MAX as u64;

/// All plans of a world.
#[derive(Default)]
pub(super) struct Plans {
    runs: Shared<Vec<Arc<Run>>>,
    alarm: Shared<Alarm>,
}

/// What `apply` is called with: plan, whether it mends, kind, instance.
fn what(plan: u64, mends: bool, kind: usize, instance: u64) -> u64 {
    plan << 48 | u64::from(mends) << 47 | (kind as u64) << 32 | instance
}

/// The actions of a plan.
pub(super) struct Actions {
    plan: u64,
    /// By kind: an action for each instance, or one for all.
    kinds: Vec<Vec<SourceAction>>,
    /// Those that mend, made when they are first needed.
    mends: Shared<BTreeMap<(usize, u32), SourceAction>>,
}

impl Actions {
    fn new(
        source: &Source<Plans>,
        number: u64,
        plan: &FaultPlan,
        resource: &Resource,
        site: &'static Location<'static>,
    ) -> Actions {
        let kinds = plan.kinds.iter().enumerate().map(|(at, kind)| {
            let name = hash_of(kind.what.name());
            let count = kind.count(plan);
            let instances = if count > ACTIONS_MAX {
                vec![DRAWN]
            } else {
                (0..u64::from(count)).collect()
            };
            let action = |instance: u64| {
                source.action(Offer {
                    kind: ActionKind::Fault,
                    what: what(number, false, at, instance),
                    identity: mix2(name, what(number, false, at, instance)),
                    node: NodeId(0),
                    resource,
                    site,
                })
            };
            instances.into_iter().map(action).collect()
        });
        Actions {
            plan: number,
            kinds: kinds.collect(),
            mends: Shared::new(BTreeMap::new()),
        }
    }

    /// Offers these instances of a kind, and no others.
    pub(super) fn offer(&self, kind: usize, instances: &[u32]) {
        let actions = &self.kinds[kind];
        for (at, action) in (0_u32..).zip(actions) {
            let offered = match actions.len() {
                1 => !instances.is_empty(),
                _ => instances.contains(&at),
            };
            action.offer(offered);
        }
    }

    /// Offers to mend a fault, or not.
    pub(super) fn offer_mend(&self, run: &Run, fault: (usize, u32), offered: bool) {
        let known = self.mends.with(|mends| mends.get(&fault).copied());
        let action = known.or_else(|| {
            let (kind, instance) = fault;
            let action = plans()?.action(Offer {
                kind: ActionKind::Fault,
                what: what(self.plan, true, kind, u64::from(instance)),
                identity: mix2(
                    hash_of(run.plan.kinds[kind].what.name()),
                    what(self.plan, true, kind, u64::from(instance)),
                ),
                node: NodeId(0),
                resource: &run.resource,
                site: run.site,
            });
            self.mends.with(|mends| mends.insert(fault, action));
            Some(action)
        });
        if let Some(action) = action {
            action.offer(offered);
        }
    }
}

fn plans() -> Option<Source<Plans>> {
    shim::source(Plans::default)
}

/// Starts a plan in the running world.
pub(super) fn start(
    plan: FaultPlan,
    site: &'static Location<'static>,
) -> Result<Faults, PlanError> {
    let net = network().map_err(|error| PlanError::new(error.to_string()))?;
    let source = plans().expect("cct bug: a network without a world");
    let number = source.runs.with(|runs| runs.len()) as u64;
    let resource = Resource::at(ResourceKind::Node, site);
    let actions = Actions::new(&source, number, &plan, &resource, site);
    let run = Arc::new(Run::new(plan, actions, resource, site));
    source.runs.with(|runs| runs.push(run.clone()));
    if number == 0 {
        let watcher = |cause| {
            move || {
                if let Some(plans) = plans() {
                    plans.tick(cause);
                }
            }
        };
        net.watch(Arc::new(watcher(Cause::Arrival)));
        disks::watch(Arc::new(watcher(Cause::Disk)));
    }
    source.tick(Cause::Time);
    Ok(Faults::new(source, run))
}

impl Plans {
    pub(super) fn runs(&self) -> Vec<Arc<Run>> {
        self.runs.with(|runs| runs.clone())
    }

    fn tick(&self, cause: Cause) {
        self.runs().iter().for_each(|run| run.tick(cause));
        self.set_alarm();
    }

    pub(super) fn set_alarm(&self) {
        struct Due;

        impl Wake for Due {
            fn wake(self: Arc<Self>) {
                if let Some(plans) = plans() {
                    plans.tick(Cause::Time);
                }
            }
        }

        let runs = self.runs();
        let next = runs.iter().filter_map(|run| run.next_time_ns()).min();
        self.alarm.with(|alarm| match next {
            None => alarm.clear(),
            Some(time) if alarm.time_ns() == Some(time) => {}
            Some(time) => {
                alarm.set(time, &Waker::from(Arc::new(Due)));
            }
        });
    }
}

/// Has plans look again when the next packet is on its way.
pub(super) fn at_next_packet() {
    if let Ok(net) = network() {
        net.at_next_packet(Arc::new(|| running().iter().for_each(|run| run.sent())));
    }
}

/// The plans of the running world, if it has any.
pub(super) fn running() -> Vec<Arc<Run>> {
    plans().map_or_else(Vec::new, |plans| plans.runs())
}

/// What is in the number that `apply` is called with.
struct Picked {
    run: Arc<Run>,
    mends: bool,
    kind: usize,
    /// `None` if it is to be drawn.
    instance: Option<u32>,
}

impl Plans {
    fn picked(&self, what: u64) -> Option<Picked> {
        let (plan, instance) = ((what >> 48) as usize, what & DRAWN);
        Some(Picked {
            run: self.runs.with(|runs| runs.get(plan).cloned())?,
            mends: what >> 47 & 1 == 1,
            kind: (what >> 32 & 0x7fff) as usize,
            instance: (instance != DRAWN).then_some(instance as u32),
        })
    }
}

impl ActionSource for Plans {
    /// A fault happens, or is mended.
    fn apply(&self, what: u64) {
        let Some(Picked {
            run,
            mends,
            kind,
            instance,
        }) = self.picked(what)
        else {
            return;
        };
        match (mends, instance) {
            (true, Some(instance)) => run.mend(kind, instance),
            (_, instance) => run.begin(kind, instance),
        }
        self.set_alarm();
    }

    fn describe(&self, what: u64) -> Option<String> {
        let picked = self.picked(what)?;
        let Picked { mends, kind, .. } = picked;
        Some(picked.run.describe(mends, kind, picked.instance))
    }

    fn node_down(&self, node: NodeId) {
        self.runs().iter().for_each(|run| run.node_down(node));
        self.set_alarm();
    }

    fn snapshot(&self) -> Vec<String> {
        let runs = self.runs();
        runs.iter()
            .flat_map(|run| run.history())
            .map(|line| format!("fault {line}"))
            .collect()
    }
}
