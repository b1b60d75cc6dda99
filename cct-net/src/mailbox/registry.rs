//! The mailboxes of a world, by name and node.

use super::line::{Lines, Route};
use super::slot::Slot;
use crate::fabric::flow::FlowKind;
use crate::fabric::{FlowId, Net, Network};
use cct_executor::node::NodeId;
use cct_executor::shim::{self, ActionSource, Shared, Source};
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
    /// By name, then by node.
    slots: BTreeMap<u64, Vec<Option<Known>>>,
    /// By name and node, in order or not.
    lines: BTreeMap<(u64, u16, bool), SentFrom>,
    down: BTreeSet<u16>,
}

/// What is known of a name.
struct Name {
    message: TypeId,
    message_name: &'static str,
}

/// A slot, and the same once more to find its type.
#[derive(Clone)]
struct Known {
    slot: Arc<dyn Forget>,
    any: Arc<dyn Any + Send + Sync>,
}

/// What happens to any slot when its node goes down, and when it is up again.
trait Forget: Send + Sync {
    fn forget(&self);
    fn wait(&self);
}

impl<M: Send + 'static> Forget for Slot<M> {
    fn forget(&self) {
        Slot::forget(self);
    }

    fn wait(&self) {
        Slot::wait(self);
    }
}

/// What a sender's lines are asked, whatever they carry.
trait Flows: Send + Sync {
    /// All of them.
    fn all(&self) -> Vec<FlowId>;
    /// The one to this node.
    fn to(&self, node: NodeId) -> Option<FlowId>;
}

impl<M: Send + 'static> Flows for Lines<M> {
    fn all(&self) -> Vec<FlowId> {
        self.flows()
    }

    fn to(&self, node: NodeId) -> Option<FlowId> {
        self.get(node).map(|line| line.flow)
    }
}

/// The lines from a node, and the same once more to find their type.
#[derive(Clone)]
struct SentFrom {
    lines: Arc<dyn Flows>,
    any: Arc<dyn Any + Send + Sync>,
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

    /// The receiving end on a node, made when it is first asked for.
    pub(super) fn slot<M: Send + 'static>(
        &self,
        name: u64,
        node: NodeId,
        variant: fn(&M) -> u64,
        site: &'static Location<'static>,
    ) -> Arc<Slot<M>> {
        let at = usize::from(node.0);
        let known = self
            .state
            .with(|state| state.slots.get(&name)?.get(at).cloned().flatten());
        let known = known.unwrap_or_else(|| {
            let slot = Arc::new(Slot::<M>::new(name, variant, site));
            if self.state.with(|state| state.down.contains(&node.0)) {
                slot.forget();
            }
            let known = Known {
                slot: slot.clone(),
                any: slot,
            };
            self.state.with(|state| {
                let slots = state.slots.entry(name).or_default();
                if at >= slots.len() {
                    slots.resize_with(at + 1, || None);
                }
                slots[at] = Some(known.clone());
            });
            known
        });
        let slot = known.any.downcast();
        slot.unwrap_or_else(|_| unreachable!("cct bug: a mailbox of two types"))
    }

    /// The lines from a node, made when they are first asked for.
    pub(super) fn lines<M: Send + 'static>(&self, route: &Route) -> Arc<Lines<M>> {
        let key = (route.name, route.from.0, route.kind != FlowKind::Loose);
        let known = self.state.with(|state| state.lines.get(&key).cloned());
        let known = known.unwrap_or_else(|| {
            let lines = Arc::new(Lines::<M>::new());
            let known = SentFrom {
                lines: lines.clone(),
                any: lines,
            };
            self.state
                .with(|state| state.lines.insert(key, known.clone()));
            known
        });
        let lines = known.any.downcast();
        lines.unwrap_or_else(|_| unreachable!("cct bug: a mailbox of two types"))
    }

    /// The slots of a node.
    fn on(&self, node: NodeId) -> impl Iterator<Item = Arc<dyn Forget>> + use<> {
        let slots: Vec<Arc<dyn Forget>> = self.state.with(|state| {
            let slots = state.slots.values();
            let here = slots.filter_map(|slots| slots.get(usize::from(node.0))?.as_ref());
            here.map(|known| known.slot.clone()).collect()
        });
        slots.into_iter()
    }

    /// The mailbox was bound anew on a node: sessions with others are new ones.
    pub(super) fn greet(&self, net: &Net, name: u64, node: NodeId) {
        let known: Vec<(u16, SentFrom)> = self.state.with(|state| {
            let named = state.lines.range((name, 0, false)..=(name, u16::MAX, true));
            named.map(|(key, from)| (key.1, from.clone())).collect()
        });
        for (from, known) in known {
            let touched = if from == node.0 {
                known.lines.all()
            } else {
                known.lines.to(node).into_iter().collect()
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
        self.on(node).for_each(|slot| slot.forget());
    }

    fn node_up(&self, node: NodeId) {
        self.state.with(|state| state.down.remove(&node.0));
        self.on(node).for_each(|slot| slot.wait());
    }
}
