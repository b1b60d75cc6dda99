//! Source locations as stable 64-bit tags.
//!
//! A tag depends on file, line and column only. The table is a cache keyed by address: an address
//! selects a slot and is compared, but never becomes part of a tag.

use crate::words::fingerprint::{hash_of, mix2};
use std::panic::Location;

type Site = &'static Location<'static>;

const SLOTS: usize = 256;

/// Cache from location to tag.
pub(crate) struct SiteTags {
    slots: Vec<Option<(Site, u64)>>,
}

impl SiteTags {
    pub(crate) fn new() -> SiteTags {
        SiteTags {
            slots: vec![None; SLOTS],
        }
    }

    /// The tag of a location.
    #[inline]
    pub(crate) fn tag(&mut self, site: Site) -> u64 {
        let address = std::ptr::from_ref(site).addr();
        let slot = (address >> 3) % SLOTS;
        match self.slots[slot] {
            Some((cached, tag)) if std::ptr::eq(cached, site) => tag,
            _ => self.miss(slot, site),
        }
    }

    #[cold]
    fn miss(&mut self, slot: usize, site: Site) -> u64 {
        let position = u64::from(site.line()) << 32 | u64::from(site.column());
        let tag = mix2(hash_of(site.file()), position);
        self.slots[slot] = Some((site, tag));
        tag
    }
}
