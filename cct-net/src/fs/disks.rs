//! All disks of a world, and the work that is under way on them.
//!
//! 1. A disk is made when its node first uses it, and survives the node's crashes. A crash makes
//!    everything stale that was opened before.
//! 2. Work under way (a flush, a write that tokio does in the background) is an action. When it is
//!    picked it runs outside the cell, as no task.
//! 3. The strategy is asked while the cell is free.

use super::faults::{DiskFault, DiskFaults, FaultState, ODDS, Prospect};
use super::inspect::{inspect, losses};
use super::survive::Chooser;
use super::tree::Tree;
use crate::fabric::{CrashStyle, network, shown};
use cct_executor::node::{self, NodeId};
use cct_executor::nondet;
use cct_executor::shim::{self, ActionSource, Offer, Resource, Shared, Source, SourceAction};
use cct_executor::words::ActionKind;
use cct_executor::words::fingerprint::{mix, mix2};
use std::collections::BTreeMap;
use std::io;
use std::panic::Location;
use std::sync::Arc;

/// What happens to work that was under way.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Fate {
    /// Now is the time to do it.
    Due,
    /// The node crashed first.
    Lost,
}

type Job = Box<dyn FnOnce(Fate) + Send>;

pub(super) struct Disks {
    state: Shared<State>,
}

#[derive(Default)]
struct State {
    disks: BTreeMap<u16, Disk>,
    lanes: Vec<Lane>,
    /// Lanes by node and identity of what they work on, in order of making.
    by_identity: BTreeMap<(u16, u64), Vec<usize>>,
    /// How many faults were armed.
    tickets: u64,
    /// For disks yet to be made.
    faults: DiskFaults,
    /// Is told whenever a disk has done something.
    watcher: Option<Watcher>,
}

type Watcher = Arc<dyn Fn() + Send + Sync>;

/// One action, used by one job after the other.
struct Lane {
    node: NodeId,
    action: SourceAction,
    job: Option<Job>,
    /// A process that ends in order waits for the job.
    awaited: bool,
}

pub(super) struct Disk {
    pub(super) tree: Tree,
    /// How often the node crashed.
    epoch: u32,
    /// What crashes took, for a report.
    losses: Vec<String>,
    pub(super) faults: FaultState,
}

/// A node's disk, as what was opened before a crash of the node sees it.
#[derive(Clone)]
pub(super) struct Drive {
    disks: Source<Disks>,
    node: NodeId,
    epoch: u32,
}

fn disks() -> io::Result<Source<Disks>> {
    shim::source(|| Disks {
        state: Shared::new(State::default()),
    })
    .ok_or_else(|| {
        io::Error::new(
            io::ErrorKind::Unsupported,
            "simulated disks exist inside a scenario only, as in a test with \
             #[cct_executor::test]",
        )
    })
}

impl State {
    fn disk(&mut self, node: NodeId, site: &'static Location<'static>) -> &mut Disk {
        let faults = &self.faults;
        self.disks.entry(node.0).or_insert_with(|| Disk {
            tree: Tree::new(node, site),
            epoch: 0,
            losses: Vec::new(),
            faults: FaultState::new(faults.clone()),
        })
    }
}

impl Drive {
    /// The disk of the node that the running task lives on.
    pub(super) fn current(site: &'static Location<'static>) -> io::Result<Drive> {
        Drive::of(node::current(), site)
    }

    pub(super) fn of(node: NodeId, site: &'static Location<'static>) -> io::Result<Drive> {
        let disks = disks()?;
        let epoch = disks.state.with(|state| state.disk(node, site).epoch);
        Ok(Drive { disks, node, epoch })
    }

    pub(super) fn node(&self) -> NodeId {
        self.node
    }

    /// Looks at or changes the disk.
    ///
    /// # Errors
    /// When the node has crashed since.
    pub(super) fn with<R>(&self, f: impl FnOnce(&mut Disk) -> R) -> io::Result<R> {
        let done = self.disks.state.with(|state| {
            let disk = state.disks.get_mut(&self.node.0)?;
            (disk.epoch == self.epoch).then(|| f(disk))
        });
        done.ok_or_else(|| {
            io::Error::other(format!(
                "this was opened before node {} crashed: open it again on the restarted node",
                self.node
            ))
        })
    }

    /// Looks at or changes the file system, where that may fail.
    pub(super) fn tree<R, E: Into<io::Error>>(
        &self,
        f: impl FnOnce(&mut Tree) -> Result<R, E>,
    ) -> io::Result<R> {
        self.with(|disk| f(&mut disk.tree))?.map_err(Into::into)
    }

    /// Whether the operation that is about to act meets a fault.
    pub(super) fn meets(&self, fault: DiskFault) -> io::Result<bool> {
        match self.with(|disk| disk.faults.prospect(fault))? {
            Prospect::No => Ok(false),
            Prospect::Yes => Ok(true),
            Prospect::Perhaps => {
                let met = nondet::weighted(&ODDS) == 1;
                if met {
                    self.with(|disk| disk.faults.spend())?;
                }
                Ok(met)
            }
        }
    }

    /// The settings of what may go wrong.
    pub(super) fn settings(&self) -> io::Result<DiskFaults> {
        self.with(|disk| disk.faults.settings.clone())
    }

    /// Runs `f` on the tree outside the cell, so that it may ask the strategy. Nothing else may
    /// run meanwhile: for actions that are applied, and crashes.
    pub(super) fn apart<R>(
        &self,
        f: impl FnOnce(&mut Tree, &mut Chooser<'_>) -> R,
    ) -> io::Result<R> {
        let (mut tree, torn) = self.with(|disk| {
            let tree = std::mem::take(&mut disk.tree);
            (tree, disk.faults.settings.torn_sectors)
        })?;
        let result = f(&mut tree, &mut Chooser::new(torn, &mut shim::choose));
        self.with(|disk| disk.tree = tree)?;
        Ok(result)
    }

    /// The disk has done something.
    pub(super) fn has_worked(&self) {
        self.disks.tell();
    }

    /// Puts work under way: the strategy says when it is done. Work on the same thing (`identity`)
    /// may be done in any order.
    pub(super) fn start(
        &self,
        identity: u64,
        resource: &Resource,
        site: &'static Location<'static>,
        job: impl FnOnce(Fate) + Send + 'static,
    ) {
        self.put_under_way((identity, false), resource, site, Box::new(job));
    }

    /// As [`start`](Self::start), for what tokio does even when its runtime comes to its end.
    pub(super) fn start_awaited(
        &self,
        identity: u64,
        resource: &Resource,
        site: &'static Location<'static>,
        job: impl FnOnce(Fate) + Send + 'static,
    ) {
        self.put_under_way((identity, true), resource, site, Box::new(job));
    }

    fn put_under_way(
        &self,
        (identity, awaited): (u64, bool),
        resource: &Resource,
        site: &'static Location<'static>,
        job: Job,
    ) {
        let key = (self.node.0, identity);
        let action = self.disks.state.with(|state| {
            let own = state.by_identity.entry(key).or_default();
            let free = own.iter().find(|&&at| state.lanes[at].job.is_none());
            let at = free.copied().unwrap_or_else(|| {
                let pair = mix2(mix(u64::from(self.node.0) ^ 0x6469_736b), identity);
                let at = state.lanes.len();
                let action = self.disks.action(Offer {
                    kind: ActionKind::Deliver,
                    what: at as u64,
                    identity: mix2(pair, own.len() as u64),
                    node: self.node,
                    resource,
                    site,
                });
                own.push(at);
                state.lanes.push(Lane {
                    node: self.node,
                    action,
                    job: None,
                    awaited,
                });
                at
            });
            let lane = &mut state.lanes[at];
            (lane.job, lane.awaited) = (Some(job), awaited);
            lane.action
        });
        action.offer(true);
    }
}

impl Disks {
    fn tell(&self) {
        let watcher = self.state.with(|state| state.watcher.clone());
        if let Some(watcher) = watcher {
            watcher();
        }
    }

    fn crash(&self, node: NodeId, style: CrashStyle) {
        let Ok(disks) = disks() else {
            return;
        };
        let epoch = self.state.with(|state| {
            let disk = state.disks.get_mut(&node.0)?;
            disk.epoch += 1;
            Some(disk.epoch)
        });
        let Some(epoch) = epoch else {
            return;
        };
        let drive = Drive { disks, node, epoch };
        // Only a report asks what was lost; at other times it would cost too much to find out.
        let before = shim::is_recorded().then(|| inspect(node));
        let crashed = drive.apart(|tree, chooser| match style {
            CrashStyle::Silent => tree.crash(chooser),
            CrashStyle::Kill | CrashStyle::Exit => tree.outlive(),
        });
        debug_assert!(crashed.is_ok(), "cct bug: a node crashes while it crashes");
        if let Some(before) = before {
            let losses = losses(&before, &inspect(node));
            let millis = shim::world_time_ns() as f64 / 1e6;
            self.state.with(|state| {
                if let (Some(disk), false) = (state.disks.get_mut(&node.0), losses.is_empty()) {
                    disk.losses
                        .push(format!("the crash at {millis} ms: {losses}"));
                }
            });
        }
    }
}

impl ActionSource for Disks {
    fn apply(&self, what: u64) {
        let job = (self.state).with(|state| state.lanes.get_mut(what as usize)?.job.take());
        if let Some(job) = job {
            job(Fate::Due);
            self.tell();
        }
    }

    fn node_down(&self, node: NodeId) {
        let lost: Vec<(SourceAction, Job, bool)> = self.state.with(|state| {
            let lanes = state.lanes.iter_mut().filter(|lane| lane.node == node);
            lanes
                .filter_map(|lane| Some((lane.action, lane.job.take()?, lane.awaited)))
                .collect()
        });
        let style = network().map_or(CrashStyle::Silent, |net| net.crash_style(node));
        let mut undone = Vec::new();
        for (action, job, awaited) in lost {
            action.offer(false);
            // A thread of the process may just have done it.
            let label = "what the killed process has done";
            let is_done = match style {
                CrashStyle::Silent => false,
                CrashStyle::Exit if awaited => true,
                CrashStyle::Exit | CrashStyle::Kill => shim::choose(2, label) == 1,
            };
            if is_done {
                job(Fate::Due);
            } else {
                undone.push(job);
            }
        }
        self.crash(node, style);
        for job in undone {
            job(Fate::Lost);
        }
    }

    fn snapshot(&self) -> Vec<String> {
        let disks: Vec<_> = self.state.with(|state| {
            let lines = state.disks.iter().map(|(&node, disk)| {
                let under_way = (state.lanes.iter())
                    .filter(|lane| lane.node.0 == node && lane.job.is_some())
                    .count();
                let text = format!("{}, {under_way} under way", disk.tree.summary());
                let lost = disk.losses.iter().cloned();
                lost.chain([text]).map(move |text| (NodeId(node), text))
            });
            lines.flatten().collect()
        });
        let line = |(node, text)| format!("disk of {}: {text}", shown(node));
        disks.into_iter().map(line).collect()
    }
}

/// Has `watcher` called whenever a disk of this world has done something.
pub(crate) fn watch(watcher: Watcher) {
    if let Ok(disks) = disks() {
        let old = disks.state.with(|state| state.watcher.replace(watcher));
        drop(old);
    }
}

/// What may go wrong with the disks of all nodes from now on, those included that do not exist
/// yet. Takes the place of earlier settings, and of faults that were injected and not yet met. Does
/// nothing outside a scenario.
pub fn set_faults(faults: DiskFaults) {
    let Ok(disks) = disks() else {
        return;
    };
    disks.state.with(|state| {
        for disk in state.disks.values_mut() {
            disk.faults = FaultState::new(faults.clone());
        }
        state.faults = faults;
    });
}

/// As [`set_faults`], for one node only.
#[track_caller]
pub fn set_faults_on(node: NodeId, faults: DiskFaults) {
    let site = Location::caller();
    if let Ok(disks) = disks() {
        (disks.state).with(|state| state.disk(node, site).faults = FaultState::new(faults));
    }
}

/// The next operation of its kind on the node's disk meets this fault, whatever the settings and
/// budgets are. Does nothing outside a scenario.
#[track_caller]
pub fn inject(node: NodeId, fault: DiskFault) {
    arm(node, fault);
}

/// A fault that waits for the operation that meets it.
#[derive(Clone, Copy)]
pub(crate) struct Armed {
    node: NodeId,
    ticket: u64,
}

/// As [`inject`], of which one may hear again. `None` outside a scenario.
#[track_caller]
pub(crate) fn arm(node: NodeId, fault: DiskFault) -> Option<Armed> {
    let site = Location::caller();
    let ticket = disks().ok()?.state.with(|state| {
        state.tickets += 1;
        let ticket = state.tickets;
        state.disk(node, site).faults.arm(ticket, fault);
        ticket
    });
    Some(Armed { node, ticket })
}

impl Armed {
    /// Whether no operation has met it yet.
    pub(crate) fn is_waiting(self) -> bool {
        let waiting = |faults: &mut FaultState| faults.is_armed(self.ticket);
        self.with(waiting).unwrap_or(false)
    }

    /// Takes it back.
    pub(crate) fn disarm(self) {
        self.with(|faults| faults.disarm(self.ticket));
    }

    fn with<R>(self, f: impl FnOnce(&mut FaultState) -> R) -> Option<R> {
        let disks = disks().ok()?;
        disks.state.with(|state| {
            let disk = state.disks.get_mut(&self.node.0)?;
            Some(f(&mut disk.faults))
        })
    }
}
