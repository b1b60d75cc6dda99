//! The bytes of one file: what programs see of them, and what the disk has.
//!
//! 1. Every change is a list of effects, none of which touches more than one sector: a write of
//!    three sectors is three writes of one. A cut is one effect.
//! 2. What the disk may hold of a sector after a crash is what it held after one of the effects on
//!    that sector since it was last made durable, or before all of them. The same goes for the size.
//! 3. A sector whose changes were dropped by a failed flush is *stale*: programs see it changed, but
//!    nothing will write it. The next write into it takes the whole sector along.

use super::survive::{Chooser, Shape};
use std::collections::{BTreeMap, BTreeSet};

/// What a disk writes at once, or not at all.
pub(super) const SECTOR: u64 = 512;

/// Beyond that many changed sectors neighbours share their fate.
const SINGLE_FATES: usize = 64;

#[derive(Debug, Default)]
pub(super) struct Content {
    /// What programs see.
    cache: Vec<u8>,
    /// What is there after a crash, whatever happens.
    disk: Vec<u8>,
    /// Changes that are not durable, in order.
    dirty: Vec<Effect>,
    stale: BTreeSet<u64>,
}

#[derive(Clone, Debug)]
struct Effect {
    seq: u64,
    change: Change,
    /// The file's size afterwards.
    size: u64,
}

#[derive(Clone, Debug)]
enum Change {
    /// Bytes of one sector.
    Write { at: u64, bytes: Vec<u8> },
    /// Everything from there on is gone.
    Cut { from: u64 },
    /// Nothing but the size.
    Size,
}

impl Effect {
    fn touches(&self, sector: u64) -> bool {
        match &self.change {
            Change::Write { at, .. } => at / SECTOR == sector,
            Change::Cut { from } => sector >= from / SECTOR,
            Change::Size => false,
        }
    }

    /// Changes bytes, of all sectors or of one; not the size.
    fn apply(&self, image: &mut Vec<u8>) {
        match &self.change {
            Change::Write { at, bytes } => {
                let (start, end) = (*at as usize, *at as usize + bytes.len());
                if image.len() < end {
                    image.resize(end, 0);
                }
                image[start..end].copy_from_slice(bytes);
            }
            Change::Cut { from } => {
                let from = image.len().min(*from as usize);
                image[from..].fill(0);
            }
            Change::Size => {}
        }
    }
}

fn sector_range(sector: u64, len: usize) -> std::ops::Range<usize> {
    let start = (sector * SECTOR) as usize;
    start.min(len)..(start + SECTOR as usize).min(len)
}

/// Puts a sector's bytes in place, growing the image if need be.
fn put_sector(image: &mut Vec<u8>, sector: u64, bytes: &[u8]) {
    let start = (sector * SECTOR) as usize;
    if image.len() < start + bytes.len() {
        image.resize(start + bytes.len(), 0);
    }
    image[start..start + bytes.len()].copy_from_slice(bytes);
}

impl Content {
    pub(super) fn len(&self) -> u64 {
        self.cache.len() as u64
    }

    pub(super) fn bytes(&self) -> &[u8] {
        &self.cache
    }

    pub(super) fn pending(&self) -> usize {
        self.dirty.len()
    }

    /// The bytes from there on, at most so many.
    pub(super) fn read(&self, at: u64, count: usize) -> &[u8] {
        let start = usize::try_from(at).map_or(self.cache.len(), |at| at.min(self.cache.len()));
        &self.cache[start..self.cache.len().min(start.saturating_add(count))]
    }

    pub(super) fn write(&mut self, seq: u64, at: u64, bytes: &[u8]) {
        let (mut start, mut left) = (at, bytes);
        while !left.is_empty() {
            let room = (SECTOR - start % SECTOR) as usize;
            let (now, later) = left.split_at(room.min(left.len()));
            self.write_sector(seq, start, now);
            start += now.len() as u64;
            left = later;
        }
    }

    fn write_sector(&mut self, seq: u64, at: u64, bytes: &[u8]) {
        let mut effect = Effect {
            seq,
            change: Change::Write {
                at,
                bytes: bytes.to_vec(),
            },
            size: 0,
        };
        effect.apply(&mut self.cache);
        effect.size = self.len();
        let sector = at / SECTOR;
        if self.stale.remove(&sector) {
            let whole = sector_range(sector, self.cache.len());
            effect.change = Change::Write {
                at: sector * SECTOR,
                bytes: self.cache[whole].to_vec(),
            };
        }
        self.dirty.push(effect);
    }

    pub(super) fn set_len(&mut self, seq: u64, size: u64) {
        let change = match size < self.len() {
            true => Change::Cut { from: size },
            false => Change::Size,
        };
        self.cache.resize(size as usize, 0);
        self.dirty.push(Effect { seq, change, size });
    }

    /// Makes everything durable that was done up to a moment.
    pub(super) fn sync(&mut self, mark: u64) {
        let up_to = self.dirty.partition_point(|effect| effect.seq <= mark);
        let done: Vec<Effect> = self.dirty.drain(..up_to).collect();
        for effect in &done {
            effect.apply(&mut self.disk);
            self.disk.resize(effect.size as usize, 0);
        }
    }

    /// What was done up to a moment is not written any more, though programs still see it: some of
    /// it may have got to the disk.
    pub(super) fn drop_dirty(&mut self, mark: u64, chooser: &mut Chooser<'_>) {
        let up_to = self.dirty.partition_point(|effect| effect.seq <= mark);
        // What came later writes whole sectors of the cache, the dropped bytes included.
        let mut image = self.disk.clone();
        for (i, effect) in self.dirty.iter_mut().enumerate() {
            effect.apply(&mut image);
            image.resize(effect.size as usize, 0);
            if let (true, Change::Write { at, bytes }) = (i >= up_to, &mut effect.change) {
                let sector = *at / SECTOR;
                *bytes = image[sector_range(sector, image.len())].to_vec();
                *at = sector * SECTOR;
            }
        }
        let later = self.dirty.split_off(up_to);
        let touched = self.touched();
        let on_disk = self.survivors(chooser);
        self.disk = on_disk;
        self.dirty = later;
        for sector in touched {
            let seen = &self.cache[sector_range(sector, self.cache.len())];
            let there = &self.disk[sector_range(sector, self.disk.len())];
            let rewritten = self.dirty.iter().any(|effect| match effect.change {
                Change::Write { at, .. } => at / SECTOR == sector,
                _ => false,
            });
            if seen != there && !rewritten {
                self.stale.insert(sector);
            }
        }
    }

    /// The node has crashed: some of what was not durable is there, and the rest never was.
    pub(super) fn crash(&mut self, chooser: &mut Chooser<'_>) {
        self.disk = self.survivors(chooser);
        self.cache = self.disk.clone();
        self.dirty.clear();
        self.stale.clear();
    }

    /// Flips a bit, for good.
    pub(super) fn rot(&mut self, at: u64, bit: u32) {
        for image in [&mut self.cache, &mut self.disk] {
            if let Some(byte) = image.get_mut(at as usize) {
                *byte ^= 1 << (bit % 8);
            }
        }
    }

    /// The sectors with changes that are not durable.
    fn touched(&self) -> BTreeSet<u64> {
        let end = self.cache.len().max(self.disk.len()) as u64;
        let mut sectors = BTreeSet::new();
        let mut size = end;
        for effect in &self.dirty {
            match effect.change {
                Change::Write { at, .. } => {
                    sectors.insert(at / SECTOR);
                }
                Change::Cut { from } => sectors.extend(from / SECTOR..size.div_ceil(SECTOR)),
                Change::Size => {}
            }
            size = size.max(effect.size);
        }
        sectors
    }

    /// What the disk holds if the power goes now.
    fn survivors(&self, chooser: &mut Chooser<'_>) -> Vec<u8> {
        let mut image = self.disk.clone();
        if self.dirty.is_empty() {
            return image;
        }
        match chooser.shape() {
            Shape::Nothing => image,
            Shape::Everything => self.prefix(image, self.dirty.len(), chooser),
            Shape::Prefix => {
                let count = chooser.below(self.dirty.len() as u32 + 1, "how much survives");
                self.prefix(image, count as usize, chooser)
            }
            Shape::Each => {
                self.each_sector(&mut image, chooser);
                image
            }
        }
    }

    fn prefix(&self, mut image: Vec<u8>, count: usize, chooser: &mut Chooser<'_>) -> Vec<u8> {
        for effect in &self.dirty[..count] {
            effect.apply(&mut image);
            image.resize(effect.size as usize, 0);
        }
        if let Some(effect) = self.dirty.get(count).filter(|_| chooser.tears_sectors()) {
            if let Change::Write { at, bytes } = &effect.change {
                if bytes.len() > 1 && chooser.below(2, "whether the last sector is torn") == 1 {
                    let bytes = bytes[..bytes.len() / 2].to_vec();
                    let change = Change::Write { at: *at, bytes };
                    Effect { change, ..*effect }.apply(&mut image);
                }
            }
        }
        image
    }

    fn each_sector(&self, image: &mut Vec<u8>, chooser: &mut Chooser<'_>) {
        let touched: Vec<u64> = self.touched().into_iter().collect();
        let together = touched.len().div_ceil(SINGLE_FATES).max(1);
        let mut chosen: BTreeMap<u64, Vec<u8>> = BTreeMap::new();
        for group in touched.chunks(together) {
            let versions: Vec<Vec<Vec<u8>>> = group.iter().map(|&s| self.versions(s)).collect();
            let count = match &versions[..] {
                [one] => one.len(),
                _ => 2,
            };
            let version = chooser.below(count as u32, "what survives of a sector") as usize;
            for (&sector, versions) in group.iter().zip(versions) {
                let at = if version == 0 || together == 1 {
                    version
                } else {
                    versions.len() - 1
                };
                chosen.extend(versions.into_iter().nth(at).map(|bytes| (sector, bytes)));
            }
        }
        let mut sizes = vec![self.disk.len() as u64];
        for effect in &self.dirty {
            if !sizes.contains(&effect.size) {
                sizes.push(effect.size);
            }
        }
        let size = sizes[chooser.below(sizes.len() as u32, "which size survives") as usize];
        for (sector, bytes) in chosen {
            put_sector(image, sector, &bytes);
        }
        image.resize(size as usize, 0);
    }

    /// What a sector has held since it was last durable, full sectors, without repetitions.
    fn versions(&self, sector: u64) -> Vec<Vec<u8>> {
        let mut bytes = self.disk[sector_range(sector, self.disk.len())].to_vec();
        bytes.resize(SECTOR as usize, 0);
        let start = sector * SECTOR;
        let mut versions = vec![bytes.clone()];
        for effect in self.dirty.iter().filter(|effect| effect.touches(sector)) {
            match &effect.change {
                Change::Write { at, bytes: new } => {
                    let at = (at - start) as usize;
                    bytes[at..at + new.len()].copy_from_slice(new);
                }
                Change::Cut { from } => {
                    bytes[from.saturating_sub(start) as usize..].fill(0);
                }
                Change::Size => {}
            }
            if !versions.contains(&bytes) {
                versions.push(bytes.clone());
            }
        }
        versions
    }
}
