//! Faults as part of the search.
//!
//! A [`FaultPlan`] says what may go wrong, where, when and how often. What goes wrong in an
//! iteration is up to the strategy: each fault is an action, as the next step of a task is.
//!
//! ```
//! use cct_executor::{Checker, node::node, time};
//! use cct_net::fault::{Fault, FaultPlan};
//! use std::time::Duration;
//!
//! let report = Checker::new().iterations(50).run(|| async {
//!     let beat = || async {
//!         loop {
//!             time::sleep(Duration::from_millis(10)).await;
//!         }
//!     };
//!     let nodes = ["a", "b", "c"].map(|name| node(name).start(beat));
//!     let faults = FaultPlan::new()
//!         .nodes(&nodes)
//!         .fault(Fault::Crash)
//!         .fault(Fault::Partition)
//!         .total(3)
//!         .start()
//!         .unwrap();
//!     time::sleep(Duration::from_secs(5)).await;
//!     faults.stop(); // everything is mended: from now on all must go well
//!     assert!(nodes.iter().all(|node| node.is_up()));
//! });
//! report.assert_passed();
//! ```
//!
//! # Kinds
//! | fault | what it hits | over |
//! |---|---|---|
//! | [`Fault::Crash`], [`Fault::Kill`], [`Fault::Restart`], [`Fault::Pause`] | a node | when mended |
//! | [`Fault::Partition`], [`Fault::Isolate`], [`Fault::Cut`], [`Fault::Hold`] | links | when mended |
//! | [`Fault::Drop`], [`Fault::Duplicate`], [`Fault::Delay`] | a message on its way | at once |
//! | [`Fault::Reset`] | a TCP connection of a node | at once |
//! | [`Fault::Disk`] | the disk of a node | when an operation meets it |
//! | [`Fault::Signal`] | the process of a node | at once, or when the process has ended and is mended |
//! | [`FaultPlan::hook`] | what you like | at once |
//! | [`FaultPlan::lasting_hook`] | what you like | when mended |
//!
//! # When faults are offered
//! If every fault were enabled all the time, a random walk would spend the whole budget on its first
//! steps. So the plan offers them at moments that are spread out. A *moment* is the arrival of a
//! packet, something that a disk has done, or the passing of some virtual time without either (see
//! [`FaultPlan::pace`]). At the start
//! and after each fault the strategy chooses how many moments pass until the next offer, from a
//! ladder whose rungs are powers of two, and which kind of fault is offered then. All faults of that
//! kind which are possible are then enabled, until one is taken or some moments have passed. Those that
//! hit messages are possible while one is on its way.
//!
//! A fault strikes where the strategy decides. At granularity `op` that is not between two operations
//! that never wait, such as a write to memory and `send` of a mailbox; at `sync` it is.
//!
//! What lasts (a crash, a partition) is mended by an action of its own, which is offered after
//! another number of moments drawn from the same ladder. Like faults, it is picked only beside other
//! things that may happen; so where nothing else does, a choice decides whether it is mended there
//! and then.
//!
//! A fault of a disk lasts until an operation meets it, and counts as lasting until then.
//!
//! # The end
//! When the plan's window is over, or [`Faults::stop`] is called, everything is mended at once and
//! no fault happens any more: what must hold in the end can be checked from there.
//!
//! # Another way
//! In [`colours`] the environment moves in steps, one choice each, as learners like it.
//!
//! # Unused plans
//! A window that no iteration opened, and a kind of fault that no iteration saw, are listed in
//! the run's report as any `sometimes!` that was never reached is, with the place of
//! [`start`](FaultPlan::start).

mod buggify;
pub mod colours;
mod deeds;
mod error;
mod handle;
mod kind;
mod pace;
mod plan;
mod progress;
mod run;
mod source;

pub use buggify::buggify;
pub use error::PlanError;
pub use handle::Faults;
pub use kind::Fault;
pub use plan::FaultPlan;
