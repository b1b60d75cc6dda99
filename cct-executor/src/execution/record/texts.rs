//! The texts of steps. An iteration may have a million, which have few texts: each is made once.

use super::{RawStep, Turn};
use crate::execution::core::Core;
use crate::execution::paths::place;
use crate::words::{NodeId, OpKind};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::Arc;

/// What texts are known, by what they are of.
#[derive(Default)]
pub(super) struct Texts {
    /// By where the place lies in memory.
    sites: BTreeMap<usize, Arc<str>>,
    tasks: BTreeMap<u32, Arc<str>>,
    nodes: BTreeMap<u16, Arc<str>>,
    operations: BTreeMap<(Turn, OpKind, u32, bool), Arc<str>>,
}

impl Texts {
    pub(super) fn site(&mut self, site: &'static Location<'static>) -> Arc<str> {
        let known = self.sites.entry(std::ptr::from_ref(site).addr());
        known.or_insert_with(|| place(site).into()).clone()
    }

    pub(super) fn task(&mut self, core: &Core, key: u32) -> Arc<str> {
        let known = self.tasks.entry(key);
        known.or_insert_with(|| core.task_name(key).into()).clone()
    }

    pub(super) fn node(&mut self, core: &Core, node: NodeId) -> Arc<str> {
        let known = self.nodes.entry(node.0);
        known.or_insert_with(|| core.node_name(node).into()).clone()
    }

    /// What an operation does. Of one that has more to say than most the text is its own.
    pub(super) fn operation(&mut self, core: &Core, raw: &RawStep) -> Arc<str> {
        let make = || core.operation(raw).into();
        let has_more = raw.note.is_some() || raw.value.is_some() || raw.outcome.is_some();
        if has_more || raw.no_budget {
            return make();
        }
        let known = self
            .operations
            .entry((raw.turn, raw.kind, raw.resource, raw.waits));
        known.or_insert_with(make).clone()
    }
}
