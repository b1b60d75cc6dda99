//! The table of links, by the two nodes.

use super::link::{Delivery, Link, LinkId};
use cct_executor::node::NodeId;

/// No link yet.
const NONE: LinkId = LinkId::MAX;

/// All links that were ever used. Finding one is two reads, however many there are; flows keep the
/// number of theirs.
#[derive(Default)]
pub(super) struct Links {
    /// By sender, then by receiver: where in `all` it is.
    rows: Vec<Vec<LinkId>>,
    all: Vec<Link>,
}

impl Links {
    pub(super) fn get(&self, id: LinkId) -> &Link {
        &self.all[id as usize]
    }

    pub(super) fn get_mut(&mut self, id: LinkId) -> &mut Link {
        &mut self.all[id as usize]
    }

    /// The link, made with this delivery if it is new.
    pub(super) fn entry(&mut self, from: NodeId, to: NodeId, delivery: &Delivery) -> LinkId {
        let (row, column) = (usize::from(from.0), usize::from(to.0));
        if row >= self.rows.len() {
            self.rows.resize_with(row + 1, Vec::new);
        }
        let row = &mut self.rows[row];
        if column >= row.len() {
            row.resize(column + 1, NONE);
        }
        if row[column] == NONE {
            row[column] = self.all.len() as LinkId;
            self.all.push(Link::new(from, to, delivery));
        }
        row[column]
    }

    /// How many there are: their numbers are those below.
    pub(super) fn len(&self) -> LinkId {
        self.all.len() as LinkId
    }

    /// All links, by sender and receiver.
    pub(super) fn iter(&self) -> impl Iterator<Item = (LinkId, &Link)> {
        let ids = self.rows.iter().flatten();
        ids.filter_map(|&id| Some((id, self.all.get(id as usize)?)))
    }

    /// Forgets all links, keeping the memory.
    pub(super) fn clear(&mut self) {
        self.rows.iter_mut().for_each(Vec::clear);
        self.all.clear();
    }
}
