//! Partitions, crashes and requests as one game: the environment of "Reward Augmentation in
//! Reinforcement Learning for Testing Distributed Systems" (Borgarelli, Enea, Majumdar, Nagendra,
//! OOPSLA 2024, section 3).
//!
//! The test colours the nodes: a *colour* is what matters of one node's state, without its identity
//! (role, term, length of the log). Who can talk to whom is then a multiset of multisets of colours,
//! the *blocks*. In each step one data choice, [`LABEL`], says what happens:
//!
//! 1. stay: nothing changes, and time passes;
//! 2. the nodes fall into other blocks, and time passes. Partitions that look alike are one choice;
//!    which of the nodes of one colour are where is noise;
//! 3. a request is made, if some are left and somebody can take one;
//! 4. a node that is down starts;
//! 5. a node of some colour stops, if all are up and stops are left.
//!
//! How much time passes is [`Rules::ticks`]. Before each choice the environment observes, under the
//! key [`STATE`], the coloured partition, for how many steps it has looked the same (up to
//! [`Rules::repeats_max`]: the same-state counter), and how many requests are left. In equal states
//! the same number means the same action, so that learners meet few states and few actions, however
//! many nodes and messages there are.
//!
//! # For nodes
//! [`Cluster`] plays with [nodes](crate::node()): their tasks, sockets and mailboxes are what they
//! always are, blocks are made of held links, and a tick is a stretch of virtual time.
//!
//! ```
//! use cct_executor::{Checker, node::node, observe, time};
//! use cct_net::fault::colours::{Cluster, Rules};
//! use cct_net::mailbox::Mailbox;
//! use std::time::Duration;
//!
//! /// Everybody tells everybody the highest number heard of, every ten milliseconds.
//! async fn gossip(id: u64) {
//!     let mut mailbox = Mailbox::bind("highest").unwrap();
//!     let mut highest = id;
//!     loop {
//!         observe::number_each("highest", id, highest as i64);
//!         for to in ["a", "b", "c"] {
//!             // The others may not be there yet.
//!             let _ = mailbox.send(to, highest);
//!         }
//!         let next = time::Instant::now() + Duration::from_millis(10);
//!         while let Ok((_, heard)) = time::timeout_at(next, mailbox.recv()).await {
//!             highest = highest.max(heard);
//!         }
//!     }
//! }
//!
//! let report = Checker::new().iterations(20).run(|| async {
//!     let nodes = ["a", "b", "c"].map(|name| {
//!         let id = u64::from(name.as_bytes()[0]);
//!         node(name).start(move || gossip(id))
//!     });
//!     let cluster = Cluster::new(&nodes, |node, seen| {
//!         let id = u64::from(node.name().as_bytes()[0]);
//!         let mut theirs = seen.instances().filter(|seen| seen.id() == id);
//!         theirs.find_map(|seen| seen.number("highest")).unwrap_or(0) as u64
//!     });
//!     let rules = Rules { horizon: 8, stops: 1, ..Rules::default() };
//!     cluster.rules(rules).run().await.unwrap();
//!     // All links are whole again, and all nodes are up.
//! });
//! report.assert_passed();
//! ```
//!
//! # For libraries driven by ticks
//! Many protocol libraries have no tasks, but functions that take a tick or a message and say what
//! to send. [`Environment`] drives all nodes of such a [`System`] without any task, as the paper
//! does; each step of an episode is then one decision, and nothing else is searched. Messages are on
//! a [`Wire`] instead of links.
//!
//! # Limits
//! All nodes are up and in one block when an episode begins. At most one node is down at a time. Up
//! to [`NODES_MAX`] nodes can be partitioned.

mod board;
mod cluster;
mod environment;
mod game;
mod noise;
mod rules;
mod wire;

pub use board::NODES_MAX;
pub use cluster::Cluster;
pub use environment::{Environment, System};
pub use game::{LABEL, STATE};
pub use rules::Rules;
pub use wire::{Envelope, Wire};
