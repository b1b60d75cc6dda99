//! Actions of other crates: what a simulated network or disk is built from.

pub use crate::execution::nodes::{CrashCause, NodeState};
pub use crate::execution::source::ActionSource;
pub use cct_interpose::{Moved, OnFile, OnSocket, Sending, SocketFile};

use crate::execution::source::SourceEntry;
use crate::execution::timers::TimerId;
use crate::execution::waker::Waiter;
use crate::execution::world::{Phase, WORLD, World};
use crate::words::{Access, ActionKind, NodeId, Op, OpKind};
use std::panic::Location;
use std::sync::Arc;
use std::task::Waker;
use std::time::Duration;

use super::Resource;

/// A source of actions in the world that runs.
#[derive(Debug)]
pub struct Source<S> {
    source: Arc<S>,
    index: u16,
    serial: u64,
}

impl<S> Clone for Source<S> {
    fn clone(&self) -> Self {
        Source {
            source: self.source.clone(),
            ..*self
        }
    }
}

/// An action that a source may offer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SourceAction {
    /// Serial of its world and key, packed: there are as many as links.
    packed: u64,
}

/// Bits of [`SourceAction::packed`] that hold the key.
const KEY_BITS: u32 = 28;
/// The key of no action.
const NO_KEY: u32 = (1 << KEY_BITS) - 1;

/// What an action of a source is.
#[derive(Clone, Copy, Debug)]
pub struct Offer<'a> {
    /// `Deliver` or `Fault`. With nothing but faults enabled the world is idle: they never are the
    /// reason that something happens.
    pub kind: ActionKind,
    /// What [`ActionSource::apply`] is called with.
    pub what: u64,
    /// Tells the action from all others, and is the same in every iteration.
    pub identity: u64,
    /// Where it happens.
    pub node: NodeId,
    /// What it acts on.
    pub resource: &'a Resource,
    /// Where user code brought it about.
    pub site: &'static Location<'static>,
}

/// The source of this type in the world that runs, made when it is first asked for; `None` outside
/// a world. It is dropped when the world ends.
pub fn source<S: ActionSource>(make: impl FnOnce() -> S) -> Option<Source<S>> {
    WORLD.with(|world| {
        (world.phase.get() != Phase::Idle).then(|| {
            let (index, source) = world.source(make);
            let serial = world.serial.get();
            Source {
                source,
                index,
                serial,
            }
        })
    })
}

/// What brought about the latest crash of the node; for a source that is told that it goes down, of this
/// one.
pub fn crash_cause(node: NodeId) -> CrashCause {
    WORLD.with(|world| world.with(|core, _| core.crash_cause(node)))
}

/// Ends a node's process from outside, and not its host: as [`Node::crash`](crate::node::Node::crash),
/// with the cause [`CrashCause::Killed`].
pub fn kill_process(node: NodeId) {
    in_running_world(|world| world.crash_now(node, CrashCause::Killed));
}

/// As [`Node::pause`](crate::node::Node::pause), or [`Node::resume`](crate::node::Node::resume).
pub fn pause_node(node: NodeId, pause: bool) {
    in_running_world(|world| world.pause_now(node, pause));
}

/// Whether a node is up, stands still, or is down.
pub fn node_state(node: NodeId) -> NodeState {
    WORLD.with(|world| world.with(|core, _| core.node_state(node)))
}

fn in_running_world(f: impl FnOnce(&World)) {
    WORLD.with(|world| {
        if world.is_running() {
            f(world);
        }
    });
}

impl<S> std::ops::Deref for Source<S> {
    type Target = Arc<S>;

    fn deref(&self) -> &Arc<S> {
        &self.source
    }
}

impl<S> Source<S> {
    /// Adds an action; it is not offered yet.
    pub fn action(&self, offer: Offer<'_>) -> SourceAction {
        let (kind, access) = match offer.kind {
            ActionKind::Fault => (OpKind::Fault, Access::Write),
            _ => (OpKind::Deliver, Access::Write),
        };
        let key = offer.resource.in_world(|world, resource| {
            let op = Op {
                kind,
                access,
                resource,
                site: offer.site,
            };
            let entry = SourceEntry {
                source: self.index,
                what: offer.what,
            };
            world.with(|core, _| {
                core.add_source_action(entry, offer.kind, offer.identity, offer.node, op)
            })
        });
        let key = key.unwrap_or(NO_KEY);
        assert!(
            key <= NO_KEY,
            "more than 2^28 tasks, timers and messages in one iteration"
        );
        SourceAction {
            packed: self.serial << KEY_BITS | u64::from(key),
        }
    }
}

impl SourceAction {
    fn serial(self) -> u64 {
        self.packed >> KEY_BITS
    }

    fn key(self) -> u32 {
        self.packed as u32 & NO_KEY
    }

    /// Offers the action to the strategy, or takes the offer back. One that was picked is no longer
    /// offered.
    #[inline]
    pub fn offer(self, offered: bool) {
        in_live_world(self.serial(), |world| {
            world.with(|core, _| core.offer(self.key(), offered));
        });
    }

    /// Sets the abstract state of the resource that the action acts on, and [`offer`](Self::offer)s
    /// it or not.
    ///
    /// For an action whose resource is its own: it takes the place of
    /// [`Resource::set_state`], and the two would add up.
    #[inline]
    pub fn offer_in_state(self, offered: bool, state: u64) {
        in_live_world(self.serial(), |world| {
            world.with(|core, _| {
                core.set_source_state(self.key(), state);
                core.offer(self.key(), offered);
            });
        });
    }
}

fn in_live_world<R>(serial: u64, f: impl FnOnce(&World) -> R) -> Option<R> {
    WORLD.with(|world| (world.is_live() && world.serial.get() == serial).then(|| f(world)))
}

/// Wakes a waker at a time of the world, whatever the clocks of nodes show.
#[derive(Debug, Default)]
pub struct Alarm {
    serial: u64,
    timer: Option<TimerId>,
    time_ns: u64,
}

impl Alarm {
    /// An alarm that is not set.
    pub const fn new() -> Alarm {
        Alarm {
            serial: 0,
            timer: None,
            time_ns: 0,
        }
    }

    /// The time it was last set to, until it is unset.
    pub fn time_ns(&self) -> Option<u64> {
        self.timer.map(|_| self.time_ns)
    }

    /// Sets it to this time, in nanoseconds since the world began and rounded up to milliseconds.
    /// Returns whether that time is still to come; if not, nobody is woken.
    #[track_caller]
    pub fn set(&mut self, time_ns: u64, waker: &Waker) -> bool {
        self.clear();
        let site = Location::caller();
        let timer = WORLD.with(|world| {
            if !world.is_live() {
                return None;
            }
            self.serial = world.serial.get();
            world.with(|core, _| {
                let timer = core.add_timer(time_ns, crate::execution::core::NONE, site)?;
                let (_, none) = core.poll_timer(timer, |_| Some(Waiter::of(waker.clone())));
                debug_assert!(none.is_none(), "a new timer has no waiter");
                Some(timer)
            })
        });
        self.timer = timer;
        self.time_ns = time_ns;
        self.timer.is_some()
    }

    /// Unsets it.
    pub fn clear(&mut self) {
        if let Some(timer) = self.timer.take() {
            let waiter = in_live_world(self.serial, |world| {
                world.with(|core, _| core.drop_timer(timer))
            });
            drop(waiter);
        }
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.clear();
    }
}

/// Nanoseconds of virtual time since the world began; 0 outside a world.
pub fn world_time_ns() -> u64 {
    let time = WORLD.with(|world| {
        (world.phase.get() != Phase::Idle).then(|| world.with(|core, _| core.point.time_ns))
    });
    time.unwrap_or(0)
}

/// What the wall clock of a node shows, since 1970: that of `SystemTime::now` in its tasks, where the
/// clocks of the standard library are virtual.
pub fn wall_clock(node: NodeId) -> Duration {
    let shown_ns = WORLD.with(|world| match world.phase.get() {
        Phase::Idle => 0,
        _ => world.with(|core, _| core.system_clock_of(node)),
    });
    cct_interpose::clocks_at_zero().wall + Duration::from_nanos(shown_ns)
}
