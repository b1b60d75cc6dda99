//! The tables of flows and links.
//!
//! They are cleared, not freed, between the worlds of a thread: to grow them anew for every
//! iteration would cost copies and fresh pages.

use super::FlowId;
use super::flow::{Flow, Spare, Way};
use super::link::{Link, LinkId};
use super::links::Links;
use slab::Slab;
use std::cell::Cell;

/// Flows, and links by number and by the two nodes.
#[derive(Default)]
pub(super) struct Tables {
    pub(super) links: Links,
    flows: Slab<Flow>,
    /// Room for what flows need besides the usual, for flows that have none.
    spare: Spare,
}

thread_local! {
    /// Empty tables, for the next world.
    static EMPTY: Cell<Option<Tables>> = const { Cell::new(None) };
}

impl Tables {
    /// Empty tables.
    pub(super) fn obtain() -> Tables {
        EMPTY.take().unwrap_or_default()
    }

    /// Empties the tables, and keeps their memory for the next world.
    pub(super) fn give_back(mut self) {
        // Packets are dropped here, which may run user code.
        self.flows.clear();
        self.links.clear();
        // The thread may be at its end.
        let _ = EMPTY.try_with(|empty| empty.set(Some(self)));
    }

    /// The number of the next flow.
    pub(super) fn next_flow(&self) -> FlowId {
        self.flows.vacant_key() as FlowId
    }

    /// Adds a flow, of the number it was made with.
    pub(super) fn add_flow(&mut self, mut flow: Flow, link: LinkId, down: bool) {
        let id = self.next_flow();
        let entry = self.links.get_mut(link);
        flow.link = link;
        flow.way = entry.way().with(Way::DOWN, down);
        entry.open(id);
        self.flows.insert(flow);
    }

    /// Takes a flow out, if it is there.
    pub(super) fn remove_flow(&mut self, id: FlowId) -> Option<Flow> {
        let flow = self.flows.try_remove(id as usize)?;
        let link = self.links.get_mut(flow.link);
        link.close(id, flow.sent, flow.arrived);
        Some(flow)
    }

    #[inline]
    pub(super) fn has_flow(&self, id: FlowId) -> bool {
        self.flows.contains(id as usize)
    }

    #[inline]
    pub(super) fn get(&self, id: FlowId) -> Option<&Flow> {
        self.flows.get(id as usize)
    }

    /// A flow, and room for what it may need.
    #[inline]
    pub(super) fn flow(&mut self, id: FlowId) -> (&mut Flow, &mut Spare) {
        (&mut self.flows[id as usize], &mut self.spare)
    }

    /// The link of a flow, if the flow is there.
    pub(super) fn link_of(&self, id: FlowId) -> Option<&Link> {
        Some(self.links.get(self.get(id)?.link))
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (FlowId, &Flow)> {
        self.flows.iter().map(|(id, flow)| (id as FlowId, flow))
    }

    /// The flows of a link, in the order of opening.
    pub(super) fn flows_of(&self, link: LinkId) -> Vec<FlowId> {
        self.links.get(link).flows().collect()
    }

    /// Has the flows of a link know what it does now.
    pub(super) fn link_changed(&mut self, link: LinkId) {
        let entry = self.links.get(link);
        let way = entry.way();
        for id in entry.flows() {
            let flow = &mut self.flows[id as usize];
            flow.way = way.with(Way::DOWN, flow.way.has(Way::DOWN));
        }
    }
}
