//! The mailboxes of a world, by name and node.

use super::builder::Looks;
use super::line::{Lines, Route};
use super::room::Room;
use super::slot::Slot;
use crate::fabric::flow::FlowKind;
use crate::fabric::{Net, Network};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, ActionSource, Resource, Shared, Source};
use cct_executor::words::fingerprint::hash_of;
use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::panic::Location;
use std::sync::Arc;

/// All mailboxes of a world.
#[derive(Default)]
pub(super) struct Registry {
    state: Shared<State>,
}

#[derive(Default)]
struct State {
    names: BTreeMap<String, Name>,
    rooms: BTreeMap<u64, Known>,
    /// By name and node, in order or not.
    lines: BTreeMap<(u64, u16, bool), Arc<Lines>>,
    down: BTreeSet<u16>,
}

/// What is known of a name.
struct Name {
    message: TypeId,
    message_name: &'static str,
}

/// A room, and the same once more to find its type.
#[derive(Clone)]
struct Known {
    room: Arc<dyn Forget>,
    any: Arc<dyn Any + Send + Sync>,
}

/// What happens in any room when a node goes down, and when it is up again.
trait Forget: Send + Sync {
    fn forget(&self, node: NodeId);
    fn wait(&self, node: NodeId);
}

impl<M: Send + 'static> Forget for Room<M> {
    fn forget(&self, node: NodeId) {
        let left = self.with_slot(node, Slot::forget);
        drop(left);
    }

    fn wait(&self, node: NodeId) {
        self.with_slot(node, Slot::wait);
    }
}

/// The mailboxes of the running world.
pub(super) fn registry() -> Option<Source<Registry>> {
    shim::source(Registry::default)
}

impl Registry {
    /// What stands for a name, in every iteration alike.
    ///
    /// # Errors
    /// If mailboxes of this name carry something else.
    pub(super) fn name<M: 'static>(&self, name: &str) -> io::Result<u64> {
        let (message, message_name) = (TypeId::of::<M>(), std::any::type_name::<M>());
        let known = self.state.with(|state| {
            let known = state.names.entry(name.to_owned()).or_insert(Name {
                message,
                message_name,
            });
            (known.message, known.message_name)
        });
        if known.0 != message {
            return Err(io::Error::new(
                io::ErrorKind::InvalidInput,
                format!("mailboxes `{name}` carry {}, not {message_name}", known.1),
            ));
        }
        Ok(hash_of(name))
    }

    /// The mailboxes of a name.
    pub(super) fn room<M: Send + 'static>(&self, name: u64, looks: Looks<M>) -> Arc<Room<M>> {
        let known = self.state.with(|state| {
            let known = state.rooms.entry(name).or_insert_with(|| {
                let room = Arc::new(Room::new(name, looks));
                Known {
                    room: room.clone(),
                    any: room,
                }
            });
            known.any.clone()
        });
        let room = known.downcast();
        room.unwrap_or_else(|_| unreachable!("cct bug: a mailbox of two types"))
    }

    /// The receiving end on a node, made when it is first asked for.
    pub(super) fn slot<M: Send + 'static>(
        &self,
        room: &Room<M>,
        node: NodeId,
        site: &'static Location<'static>,
    ) -> Resource {
        let is_down = || self.state.with(|state| state.down.contains(&node.0));
        room.slot(node, site, is_down)
    }

    /// The lines from a node, made when they are first asked for.
    pub(super) fn lines(&self, route: &Route) -> Arc<Lines> {
        let key = (route.name, route.from.0, route.kind != FlowKind::Loose);
        let make = || Arc::new(Lines::new());
        self.state
            .with(|state| state.lines.entry(key).or_insert_with(make).clone())
    }

    /// All rooms, in the order of their names.
    fn rooms(&self) -> Vec<Arc<dyn Forget>> {
        let room = |known: &Known| known.room.clone();
        self.state
            .with(|state| state.rooms.values().map(room).collect())
    }

    /// The mailbox was bound anew on a node: sessions with others are new ones.
    pub(super) fn greet(&self, net: &Net, name: u64, node: NodeId) {
        let known: Vec<(u16, Arc<Lines>)> = self.state.with(|state| {
            let named = state.lines.range((name, 0, false)..=(name, u16::MAX, true));
            named.map(|(key, from)| (key.1, from.clone())).collect()
        });
        for (from, lines) in known {
            let touched = if from == node.0 {
                lines.flows()
            } else {
                lines.get(node).into_iter().collect()
            };
            for line in touched {
                Network::announce(net, line);
            }
        }
    }
}

impl ActionSource for Registry {
    /// It has no actions: messages arrive over the fabric.
    fn apply(&self, _: u64) {}

    fn node_down(&self, node: NodeId) {
        self.state.with(|state| state.down.insert(node.0));
        self.rooms().iter().for_each(|room| room.forget(node));
    }

    fn node_up(&self, node: NodeId) {
        self.state.with(|state| state.down.remove(&node.0));
        self.rooms().iter().for_each(|room| room.wait(node));
    }
}
