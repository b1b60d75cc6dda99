//! Predicates over the state of a Raft cluster, as the paper's tables 1 and 3 have them.

use super::raft::{Node, Raft};

fn spread(raft: &Raft, of: impl Fn(&Node) -> u8) -> u8 {
    let values = raft.nodes.iter().map(of);
    let (least, most) = values.fold((u8::MAX, 0), |(least, most), value| {
        (least.min(value), most.max(value))
    });
    most.saturating_sub(least)
}

pub(super) fn any_in_term<const T: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().any(|node| node.term == T)
}

pub(super) fn all_in_term<const T: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().all(|node| node.term == T)
}

pub(super) fn any_from_term<const T: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().any(|node| node.term >= T)
}

pub(super) fn all_from_term<const T: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().all(|node| node.term >= T)
}

/// Terms of two nodes differ by as much.
pub(super) fn term_diff<const D: u8>(raft: &Raft) -> bool {
    spread(raft, |node| node.term) >= D
}

/// Lengths of two logs differ by as much.
pub(super) fn log_diff<const D: u8>(raft: &Raft) -> bool {
    spread(raft, |node| node.log.len()) >= D
}

/// Lengths of two committed logs differ by as much.
pub(super) fn commit_diff<const D: u8>(raft: &Raft) -> bool {
    spread(raft, |node| node.commit) >= D
}

/// A node has committed as many entries, the empty ones of new leaders included.
pub(super) fn any_commit<const N: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().any(|node| node.commit >= N)
}

pub(super) fn any_commit_and_leader<const N: u8>(raft: &Raft) -> bool {
    any_commit::<N>(raft) && any_leader(raft)
}

/// A node has committed a request that was taken in this term.
pub(super) fn committed_in_term<const T: u8>(raft: &Raft) -> bool {
    raft.nodes.iter().any(|node| {
        let mut committed = node.log.entries().iter().take(usize::from(node.commit));
        committed.any(|entry| entry.term == T && entry.command > 0)
    })
}

pub(super) fn any_leader(raft: &Raft) -> bool {
    raft.nodes.iter().any(Node::is_leading)
}

pub(super) fn leader_in_term<const T: u8>(raft: &Raft) -> bool {
    let mut nodes = raft.nodes.iter();
    nodes.any(|node| node.is_leading() && node.term == T)
}

pub(super) fn leader_and_candidate(raft: &Raft) -> bool {
    any_leader(raft) && raft.nodes.iter().any(Node::is_campaigning)
}
