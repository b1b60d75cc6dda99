//! What tasks are about to do, and its share of the abstract state.

use super::core::Core;
use crate::words::fingerprint::mix;
use crate::words::{Op, OpKind};

impl Core {
    /// Publishes the operation a task is about to perform. Returns the task's state.
    #[inline(always)]
    pub(crate) fn announce(&mut self, key: u32, op: Op) -> u8 {
        let action = &mut self.actions[key as usize];
        let (kind, resource, state) = (action.op.kind, action.op.resource, action.state);
        action.op = op;
        if kind != op.kind || resource != op.resource {
            self.announce_other(key, op.kind, op.resource, kind);
        }
        state
    }

    /// The rest of [`announce`](Self::announce) where the state changes.
    fn announce_other(&mut self, key: u32, kind: OpKind, resource: u32, before: OpKind) {
        let resource_tag = self.resource_tag(resource);
        let action = &mut self.actions[key as usize];
        let digest = mix(action.tag ^ op_digest(kind, resource_tag));
        let change = digest.wrapping_sub(action.digest);
        action.digest = digest;
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let kinds = kind_digest(kind).wrapping_sub(kind_digest(before));
            self.pending_changed(change, kinds);
        }
    }

    fn pending_changed(&mut self, pending: u64, kinds: u64) {
        let parts = &mut self.point.parts;
        parts.pending = parts.pending.wrapping_add(pending);
        parts.kinds = parts.kinds.wrapping_add(kinds);
    }

    /// A task begins to count in the fingerprint, or ceases to.
    pub(super) fn count_task(&mut self, key: u32, digest: u64) {
        let action = &mut self.actions[key as usize];
        let change = digest.wrapping_sub(action.digest);
        let kind = kind_digest(action.op.kind);
        action.digest = digest;
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let kinds = if digest == 0 {
                kind.wrapping_neg()
            } else {
                kind
            };
            self.pending_changed(change, kinds);
        }
    }
}

/// What an operation's kind alone contributes to the state.
#[inline]
fn kind_digest(kind: OpKind) -> u64 {
    const DIGESTS: [u64; 64] = {
        let mut digests = [0; 64];
        let mut kind = 0;
        while kind < digests.len() {
            digests[kind] = mix(kind as u64 + 1);
            kind += 1;
        }
        digests
    };
    DIGESTS[kind as usize]
}

/// What an operation contributes to its task's digest.
#[inline]
pub(super) fn op_digest(kind: OpKind, resource_tag: u64) -> u64 {
    resource_tag
        .rotate_left(17)
        .wrapping_add((kind as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15))
}
