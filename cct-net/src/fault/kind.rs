//! The kinds of faults.

use crate::fs::DiskFault;
use crate::signal::unix::SignalKind;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// A kind of fault.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum Fault {
    /// A node crashes, most often as a machine does that loses its power: others learn nothing of it before they send
    /// something, or wait for too long (see [`CrashStyle`](crate::fabric::CrashStyle)); it restarts later. For
    /// time-outs and heartbeats.
    Crash,
    /// A node's process is killed, whatever its crashes look like otherwise (see
    /// [`CrashStyle::Kill`](crate::fabric::CrashStyle::Kill)): its machine closes or resets its connections at once, and
    /// others see that; it restarts later. For what reconnects when a connection ends.
    Kill,
    /// A node crashes and restarts at the next moment.
    Restart,
    /// A node stands still for a while.
    Pause,
    /// The nodes fall into groups that cannot reach each other. Up to five nodes, each way to do so
    /// is an action; beyond, nodes fall into two groups, and who is in which is drawn.
    Partition,
    /// What one node sends to another is lost for a while; the other direction works.
    Cut,
    /// A node can reach none of the others for a while, and they cannot reach it.
    Isolate,
    /// What one node sends to another is held back for a while.
    Hold,
    /// A message that is on its way is lost; the segment of a connection is sent again.
    Drop,
    /// A message that is on its way arrives twice, where its transport may do that: a datagram, or a message of a
    /// mailbox that is [`duplicable`](crate::mailbox::Builder::duplicable).
    Duplicate,
    /// A message that is on its way is late.
    Delay,
    /// A TCP connection between a node and another is reset at both ends, as by something in between
    /// that has forgotten it. Which connection of the node is a choice.
    Reset,
    /// The next operation of its kind on a node's disk meets this fault, as after
    /// [`fs::inject`](crate::fs::inject). It lasts until it is met; nothing else mends it before the
    /// end of the plan, which takes it back.
    Disk(DiskFault),
    /// A signal arrives at a node, where it would do anything: the node's process has registered for it
    /// ([`signal`](crate::signal)), or it ends or stops a process that has not. If the process ends of it, at
    /// once or later as its main task returns
    /// ([`ends_with_main`](crate::node::Builder::ends_with_main)), it restarts.
    ///
    /// A process that was told, and does not end, counts as a lasting fault for as long as a crash might.
    Signal(SignalKind),
}

impl Fault {
    /// The name that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Fault::Crash => "crash",
            Fault::Kill => "kill",
            Fault::Restart => "restart",
            Fault::Pause => "pause",
            Fault::Partition => "partition",
            Fault::Cut => "cut",
            Fault::Isolate => "isolate",
            Fault::Hold => "hold",
            Fault::Drop => "drop",
            Fault::Duplicate => "duplicate",
            Fault::Delay => "delay",
            Fault::Reset => "reset",
            Fault::Disk(DiskFault::ReadError) => "disk read error",
            Fault::Disk(DiskFault::WriteError) => "disk write error",
            Fault::Disk(DiskFault::SyncError) => "disk sync error",
            Fault::Disk(DiskFault::LostSync) => "disk lost sync",
            Fault::Disk(DiskFault::BitRot) => "disk bit rot",
            Fault::Disk(DiskFault::NoSpace) => "disk no space",
            Fault::Signal(kind) => kind.name().unwrap_or("signal"),
        }
    }

    /// How many nodes it needs at least.
    pub(super) fn nodes_min(self) -> usize {
        match self {
            Fault::Crash
            | Fault::Kill
            | Fault::Restart
            | Fault::Pause
            | Fault::Reset
            | Fault::Disk(_)
            | Fault::Signal(_) => 1,
            _ => 2,
        }
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What is to be reached with each kind of fault, given its name.
pub(super) fn does(name: &'static str) -> &'static str {
    /// A few for each program: what names them is to be `'static`.
    static SAYINGS: Mutex<BTreeMap<&'static str, &'static str>> = Mutex::new(BTreeMap::new());
    let mut sayings = SAYINGS.lock().unwrap_or_else(PoisonError::into_inner);
    sayings.entry(name).or_insert_with(|| {
        let note = match name == Fault::Duplicate.name() {
            true => " (a mailbox takes copies if it is `duplicable`, TCP never)",
            false => "",
        };
        format!("the fault plan does `{name}`{note}").leak()
    })
}
