//! What went over the network.

use super::State;
use super::link::{Link, LinkId};
use cct_executor::node::NodeId;
use std::fmt::Write as _;

/// Packets and bytes, of the whole network in one iteration.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Packets that were sent.
    pub sent: u64,
    /// Bytes that were sent.
    pub bytes: u64,
    /// Packets that arrived.
    pub arrived: u64,
    /// Packets that were lost.
    pub lost: u64,
    /// Packets that are on their way.
    pub in_flight: u64,
}

#[derive(Clone, Copy, Default)]
pub(super) struct Counts {
    pub(super) sent: u64,
    pub(super) bytes: u64,
    pub(super) arrived: u64,
    pub(super) lost: u64,
}

impl Counts {
    pub(super) fn sent(&mut self, bytes: usize) {
        self.sent += 1;
        self.bytes += bytes as u64;
    }
}

impl State {
    pub(super) fn statistics(&self) -> Statistics {
        let Counts {
            sent,
            bytes,
            arrived,
            lost,
        } = self.counts;
        Statistics {
            sent,
            bytes,
            arrived,
            lost,
            in_flight: self.tables.iter().map(|(_, flow)| flow.len() as u64).sum(),
        }
    }

    /// One line for each link with traffic, or in a state worth knowing.
    pub(super) fn snapshot(&self) -> Vec<([NodeId; 2], String)> {
        let line = |(_, link): (LinkId, &Link)| {
            let (mut counts, mut waiting) = (link.counts(), 0);
            for flow in link.flows().filter_map(|id| self.tables.get(id)) {
                counts.sent += u64::from(flow.sent);
                counts.arrived += u64::from(flow.arrived);
                waiting += flow.len();
            }
            let mut text = format!(
                "{} sent, {} arrived, {} lost, {waiting} on their way",
                counts.sent, counts.arrived, counts.lost
            );
            if link.cut {
                let _ = write!(text, ", cut");
            }
            if link.held {
                let _ = write!(text, ", held");
            }
            ([link.from, link.to], text)
        };
        self.tables.links.iter().map(line).collect()
    }
}
