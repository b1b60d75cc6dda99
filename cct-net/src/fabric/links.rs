//! The table of links, by the two nodes.

use super::link::{Delivery, Link};
use cct_executor::node::NodeId;

/// No link yet.
const NONE: u32 = u32::MAX;

/// All links that were ever used. Finding one is two reads, however many there are.
#[derive(Default)]
pub(super) struct Links {
    /// By sender, then by receiver: where in `all` it is.
    rows: Vec<Vec<u32>>,
    all: Vec<Link>,
}

impl Links {
    pub(super) fn get(&self, from: NodeId, to: NodeId) -> Option<&Link> {
        let row = self.rows.get(usize::from(from.0))?;
        let &at = row.get(usize::from(to.0))?;
        self.all.get(at as usize)
    }

    /// The link, made with this delivery if it is new.
    pub(super) fn entry(&mut self, from: NodeId, to: NodeId, delivery: &Delivery) -> &mut Link {
        let (row, column) = (usize::from(from.0), usize::from(to.0));
        if row >= self.rows.len() {
            self.rows.resize_with(row + 1, Vec::new);
        }
        let row = &mut self.rows[row];
        if column >= row.len() {
            row.resize(column + 1, NONE);
        }
        if row[column] == NONE {
            row[column] = self.all.len() as u32;
            self.all.push(Link::new(delivery));
        }
        &mut self.all[row[column] as usize]
    }

    /// All links, by sender and receiver.
    pub(super) fn iter(&self) -> impl Iterator<Item = ((NodeId, NodeId), &Link)> {
        let rows = (0..).map(NodeId).zip(&self.rows);
        rows.flat_map(move |(from, row)| {
            let row = (0..).map(NodeId).zip(row);
            row.filter_map(move |(to, &at)| Some(((from, to), self.all.get(at as usize)?)))
        })
    }

    pub(super) fn values_mut(&mut self) -> impl Iterator<Item = &mut Link> {
        self.all.iter_mut()
    }
}
