//! What the toy engine publishes: pending operations, digests, and the parts of its state.

use super::{Do, Toy};
use crate::words::action::{Access, Action, ActionId, ActionKey, NodeId, Op, OpKind, Sort};
use crate::words::fingerprint::mix2;
use std::panic::Location;

/// Resource indices: 0 is none, then locks, flags, and what tasks read and write.
const LOCKS: u32 = 1;
const FLAGS: u32 = 0x100;
const CELLS: u32 = 0x200;
/// As in the engine, this bit marks a task as something to join.
const TASKS: u32 = 1 << 31;

impl Do {
    /// The operation as it is published before it is done.
    #[track_caller]
    pub(super) fn op(self) -> Op {
        let (kind, access, resource) = match self {
            Do::Step | Do::Choose(_) | Do::Weighted(_) => (OpKind::User, Access::Write, 0),
            Do::Yield => (OpKind::Yield, Access::Read, 0),
            Do::Lock(lock) | Do::Take(lock) => (OpKind::Lock, Access::Write, LOCKS + lock as u32),
            Do::Unlock(lock) => (OpKind::Unlock, Access::Write, LOCKS + lock as u32),
            Do::Spawn(_) => (OpKind::Spawn, Access::Write, 0),
            Do::Join(task) => (OpKind::Join, Access::Read, TASKS | task as u32),
            Do::Raise(flag) => (OpKind::Set, Access::Write, FLAGS + flag as u32),
            Do::SpinUntil(flag) => (OpKind::Get, Access::Read, FLAGS + flag as u32),
            Do::Read(cell) => (OpKind::Get, Access::Read, CELLS + cell as u32),
            Do::Write(cell) => (OpKind::Set, Access::Write, CELLS + cell as u32),
        };
        Op {
            kind,
            access,
            resource,
            site: Location::caller(),
        }
    }
}

impl Toy {
    /// Stands for a task in digests: equal for tasks that do the same.
    pub(super) fn tag(&self, task: u32) -> u64 {
        if self.alike {
            return 1;
        }
        self.tasks[task as usize].iter().fold(1, |tag, op| {
            let op = op.op();
            mix2(tag, u64::from(op.resource) << 8 | op.kind as u64)
        })
    }
}

/// What a pending operation adds to the fingerprint.
pub(super) fn digest(tag: u64, op: &Op) -> u64 {
    mix2(tag, u64::from(op.resource) << 8 | op.kind as u64)
}

/// What a held lock adds to the fingerprint.
pub(super) fn held(lock: usize) -> u64 {
    mix2(0x4C4F_434B, lock as u64)
}

/// What a raised flag adds to the fingerprint and to the contents.
pub(super) fn raised(flag: usize) -> u64 {
    mix2(0x464C_4147, flag as u64)
}

/// What a cell that was last written so adds to the fingerprint and to the contents.
pub(super) fn written(cell: usize, writer: u64, index: usize) -> u64 {
    mix2(mix2(0x4345_4C4C, cell as u64), mix2(writer, index as u64))
}

/// The action of a task.
pub(in crate::strategy) fn action(task: u32) -> Action {
    Action {
        id: ActionId(u64::from(task)),
        op: Do::Step.op(),
        tag: 0,
        digest: 0,
        key: ActionKey(task),
        position: Action::NOWHERE,
        subject: task,
        subject_high: 0,
        sort: Sort::Run,
        source: 0,
        node: NodeId(0),
        fresh: false,
        state: 0,
    }
}
