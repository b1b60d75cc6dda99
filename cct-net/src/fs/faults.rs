//! What goes wrong with a disk.

/// What may go wrong with a disk, as choices of the strategy. By default nothing does.
///
/// Short reads and writes are no faults but the right of every disk: they cost no budget.
///
/// ```
/// use cct_executor::Checker;
/// use cct_net::fs::{self, DiskFaults};
///
/// let report = Checker::new().iterations(200).run(|| async {
///     fs::set_faults(DiskFaults { budget: 1, write_errors: true, ..DiskFaults::default() });
///     fs::write("/state", "precious").await.expect("the disk is fine");
/// });
/// assert!(report.failure().is_some());
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DiskFaults {
    /// How many faults there may be on each node, from now on.
    pub budget: u32,
    /// Reads may fail with EIO.
    pub read_errors: bool,
    /// Writes may fail with EIO. Some of the bytes may have been written: whole sectors, from the
    /// first on.
    pub write_errors: bool,
    /// Flushes may fail with EIO. What was to be flushed may then be dropped for good, as Linux does
    /// it: programs still read it, a later flush succeeds, and a crash loses it.
    pub sync_errors: bool,
    /// Flushes may succeed without having flushed anything.
    pub lost_syncs: bool,
    /// A bit of what is read may have turned, for good.
    pub bit_rot: bool,
    /// A crash may leave the last sector that survives half written. Costs no budget.
    pub torn_sectors: bool,
    /// Reads may yield fewer bytes than there are.
    pub short_reads: bool,
    /// Writes may take fewer bytes than they were given.
    pub short_writes: bool,
    /// How many bytes all files of a node may have together. Beyond, writes fail with ENOSPC, after
    /// as much was written as there was room for.
    pub capacity: Option<u64>,
}

/// A single fault. See [`inject`](super::inject).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
#[non_exhaustive]
pub enum DiskFault {
    /// A read fails with EIO.
    ReadError,
    /// A write fails with EIO.
    WriteError,
    /// A flush fails with EIO.
    SyncError,
    /// A flush succeeds without having flushed anything.
    LostSync,
    /// A bit turns under a read.
    BitRot,
    /// A write fails with ENOSPC.
    NoSpace,
}

/// The faults of one node.
#[derive(Clone, Debug, Default)]
pub(super) struct FaultState {
    pub(super) settings: DiskFaults,
    /// Faults that the next operation of their kind meets.
    armed: Vec<(u64, DiskFault)>,
}

/// Whether an operation meets a fault.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Prospect {
    No,
    Yes,
    /// The strategy decides.
    Perhaps,
}

/// One operation in so many meets a fault, where a strategy draws at random.
pub(super) const ODDS: [u32; 2] = [15, 1];

impl DiskFaults {
    fn allows(&self, fault: DiskFault) -> bool {
        match fault {
            DiskFault::ReadError => self.read_errors,
            DiskFault::WriteError => self.write_errors,
            DiskFault::SyncError => self.sync_errors,
            DiskFault::LostSync => self.lost_syncs,
            DiskFault::BitRot => self.bit_rot,
            DiskFault::NoSpace => false,
        }
    }
}

impl FaultState {
    pub(super) fn new(settings: DiskFaults) -> FaultState {
        FaultState {
            settings,
            armed: Vec::new(),
        }
    }

    /// `ticket` tells the fault from others of its kind.
    pub(super) fn arm(&mut self, ticket: u64, fault: DiskFault) {
        self.armed.push((ticket, fault));
    }

    /// Whether no operation has met the fault yet.
    pub(super) fn is_armed(&self, ticket: u64) -> bool {
        self.armed.iter().any(|&(armed, _)| armed == ticket)
    }

    pub(super) fn disarm(&mut self, ticket: u64) {
        self.armed.retain(|&(armed, _)| armed != ticket);
    }

    /// What an operation has to expect; uses up an armed fault.
    pub(super) fn prospect(&mut self, fault: DiskFault) -> Prospect {
        if let Some(at) = self.armed.iter().position(|&(_, armed)| armed == fault) {
            self.armed.remove(at);
            return Prospect::Yes;
        }
        match self.settings.allows(fault) && self.settings.budget > 0 {
            true => Prospect::Perhaps,
            false => Prospect::No,
        }
    }

    pub(super) fn spend(&mut self) {
        self.settings.budget -= 1;
    }
}
