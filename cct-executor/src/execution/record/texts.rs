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
    operations: BTreeMap<(OpKind, u32), Arc<str>>,
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

    /// What an operation does, if nothing more is to be said of it.
    pub(super) fn operation(&mut self, core: &Core, raw: &RawStep) -> Option<Arc<str>> {
        let is_plain = raw.note.is_none()
            && raw.value.is_none()
            && raw.outcome.is_none()
            && !raw.no_budget
            && ![Turn::Again, Turn::Aborted].contains(&raw.turn);
        let make = || {
            let text = format!("{} {}", raw.kind, core.short_resource_name(raw.resource));
            text.trim_end().into()
        };
        is_plain.then(|| {
            let known = self.operations.entry((raw.kind, raw.resource));
            known.or_insert_with(make).clone()
        })
    }
}
