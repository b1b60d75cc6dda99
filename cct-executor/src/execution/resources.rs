//! Resources: what operations act on, as reports and fingerprints know them.

use super::core::Core;
use crate::words::ResourceKind;
use crate::words::fingerprint::mix;
use std::panic::Location;

/// One entry of a world's resource table. Index 0 stands for "no resource". Half a cache line, and
/// never across two.
#[repr(align(32))]
pub(crate) struct ResourceEntry {
    pub(crate) kind: ResourceKind,
    /// Stands for the resource in fingerprints: equal for resources made at one place.
    pub(crate) tag: u64,
    digest: u64,
    /// Digests of those who hold it.
    held: u64,
    holders: u32,
}

const _: () = assert!(size_of::<ResourceEntry>() == 32, "half a cache line");

/// What a resource of this tag contributes to the fingerprint in this state.
#[inline]
pub(crate) fn state_digest(tag: u64, state: u64) -> u64 {
    // Tags are well mixed; an odd factor keeps different states apart.
    mix(tag ^ state.wrapping_mul(0x9E37_79B9_7F4A_7C15))
}

impl Core {
    /// Enters a resource into the table.
    pub(crate) fn add_resource(
        &mut self,
        kind: ResourceKind,
        site: &'static Location<'static>,
    ) -> u32 {
        if self.resources.is_empty() {
            self.resources.push(ResourceEntry {
                kind: ResourceKind::None,
                tag: 0,
                digest: 0,
                held: 0,
                holders: 0,
            });
            self.resource_sites.push(site);
        }
        let tag = self.sites.tag(site) ^ (kind as u64) << 56;
        self.resources.push(ResourceEntry {
            kind,
            tag,
            digest: 0,
            held: 0,
            holders: 0,
        });
        self.resource_sites.push(site);
        self.resources.len() as u32 - 1
    }

    /// Replaces a resource's abstract state.
    #[inline]
    pub(crate) fn set_resource_state(&mut self, index: u32, state: u64) {
        let entry = &mut self.resources[index as usize];
        let digest = state_digest(entry.tag, state);
        let change = digest.wrapping_sub(entry.digest);
        entry.digest = digest;
        self.contents_changed(change);
    }

    /// The abstract state of a resource changed its digest by this much.
    #[inline]
    pub(crate) fn contents_changed(&mut self, change: u64) {
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let contents = &mut self.point.parts.contents;
            *contents = contents.wrapping_add(change);
        }
    }

    /// The running task now holds the resource.
    #[inline]
    pub(crate) fn acquired(&mut self, index: u32, holder: u32, site: &'static Location<'static>) {
        let share = self.share(index, holder);
        let entry = &mut self.resources[index as usize];
        entry.held = entry.held.wrapping_add(share);
        entry.holders += 1;
        self.point.fingerprint.shift(share);
        if let Some(recorder) = &mut self.recorder {
            recorder.acquired(index, holder, site);
        }
    }

    /// What the task holds of it may be given to another, of which only reports are to know.
    pub(crate) fn movable(&mut self, index: u32, holder: u32) {
        if let Some(recorder) = &mut self.recorder {
            recorder.movable(index, holder);
        }
    }

    /// The resource was given back, by whoever held it.
    #[inline]
    pub(crate) fn released(&mut self, index: u32, holder: u32) {
        let entry = &mut self.resources[index as usize];
        // A guard may be dropped by a task other than the one that took it; with the last holder
        // gone the sum is right again.
        let gone = if entry.holders <= 1 {
            entry.holders = 0;
            std::mem::take(&mut entry.held)
        } else {
            self.one_released(index, holder)
        };
        self.point.fingerprint.shift(gone.wrapping_neg());
        if let Some(recorder) = &mut self.recorder {
            recorder.released(index, holder);
        }
    }

    /// One of several holders gave the resource back.
    fn one_released(&mut self, index: u32, holder: u32) -> u64 {
        let share = self.share(index, holder);
        let entry = &mut self.resources[index as usize];
        entry.holders -= 1;
        entry.held = entry.held.wrapping_sub(share);
        share
    }

    #[inline]
    fn share(&self, index: u32, holder: u32) -> u64 {
        // 0 for no task, which is no index.
        let task = self.actions.get(holder as usize).map_or(0, |a| a.tag);
        // Tags are well mixed already; one multiplication keeps the pair's parts apart.
        (task ^ self.resources[index as usize].tag.rotate_left(32))
            .wrapping_mul(0xD6E8_FEB8_6659_FD93)
    }
}
