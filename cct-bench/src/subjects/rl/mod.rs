//! Subjects of "Reward Augmentation in Reinforcement Learning for Testing Distributed Systems"
//! (Borgarelli, Enea, Majumdar, Nagendra, OOPSLA 2024): spaces to cover, with targets in them.
//!
//! 1. One environment step is one data choice; the abstract state is observed before it, under
//!    the key `state`, and everything else the environment does is noise.
//! 2. What is counted is the multiset of the nodes' colours, as in the paper's section 5.1. A
//!    target counts the states from the one on in which its last predicate first held in an
//!    episode, that one included.
//! 3. The systems are models after descriptions, so figures compare as orderings only.

pub(crate) mod cube_world;
pub(crate) mod etcd;
mod partition;
mod raft;
mod raft_predicates;
pub(crate) mod redis;
mod rsl;
pub(crate) mod rsl_targets;

/// Builds the published figures of a row: of `rl` (the paper's tables 2 and 4), or of another table
/// of ours.
macro_rules! row {
    ($($column:literal: $value:expr),+) => {
        row!(in "rl"; $($column: $value),+)
    };
    (in $table:literal; $($column:literal: $value:expr),+) => {
        &[$($crate::subjects::Published {
            table: $table,
            column: $column,
            value: $value,
        }),+]
    };
}
use row;

#[cfg(test)]
mod tests;
