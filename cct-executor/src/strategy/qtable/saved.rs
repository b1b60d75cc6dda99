//! The bytes of what was learnt.
//!
//! All numbers are little-endian: magic and format (4 bytes each), the strategy's description
//! (length and text), marks (a count, then three words each), identities of actions (a count, then a
//! word each: an arm's tag is their number), what is counted (1 byte), states (a
//! count, then key, visits, number of arms, and per arm its tag, value and count), and last a hash
//! of all that. States and arms come in the table's order, so that what was loaded goes on as what
//! was saved would have.

use super::numbers::Numbers;
use super::{Arm, Counts, ONE_ARM, State, Table};
use crate::words::fingerprint::mix2;

const MAGIC: &[u8; 4] = b"cctq";
const FORMAT: u32 = 2;

/// What is remembered of a name besides the table: hash of the name, a count, a number.
pub(in crate::strategy) type Mark = (u64, u64, u64);

/// Writes a table.
pub(in crate::strategy) fn save(
    description: &str,
    marks: &[Mark],
    numbers: &Numbers,
    table: &Table,
) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(64 + table.len() * 28);
    bytes.extend(MAGIC);
    bytes.extend(FORMAT.to_le_bytes());
    bytes.extend((description.len() as u32).to_le_bytes());
    bytes.extend(description.as_bytes());
    bytes.extend((marks.len() as u32).to_le_bytes());
    for (name, count, number) in marks {
        for word in [name, count, number] {
            bytes.extend(word.to_le_bytes());
        }
    }
    bytes.extend((numbers.ids().len() as u32).to_le_bytes());
    numbers.ids().for_each(|id| bytes.extend(id.to_le_bytes()));
    bytes.push(u8::from(table.counts == Counts::Arms));
    bytes.extend((table.len() as u32).to_le_bytes());
    for state in table.states() {
        let record = table.record(state);
        bytes.extend(record.key.to_le_bytes());
        let visits = match table.counts {
            Counts::States => record.count,
            Counts::Arms => 0,
        };
        bytes.extend(visits.to_le_bytes());
        bytes.extend((table.arms_len(state) as u32).to_le_bytes());
        for (position, arm) in table.arms(state).iter().enumerate() {
            bytes.extend(arm.tag.to_le_bytes());
            bytes.extend(arm.value.to_le_bytes());
            bytes.extend(table.taken(state, position).to_le_bytes());
        }
    }
    bytes.extend(checksum(&bytes).to_le_bytes());
    bytes
}

/// Reads a table that a strategy with this description has saved, with bound and counters of
/// `like`.
///
/// # Errors
/// If the bytes are anything else. The message says what.
pub(in crate::strategy) fn load(
    description: &str,
    bytes: &[u8],
    like: &Table,
) -> Result<(Vec<Mark>, Numbers, Table), String> {
    let mut all = Reader { bytes, at: 0 };
    if all.take(4)? != MAGIC {
        return Err("not a saved table: it does not begin with `cctq`".to_owned());
    }
    let format = all.u32()?;
    if format != FORMAT {
        return Err(format!(
            "saved table has format {format}, this version reads {FORMAT}"
        ));
    }
    let length = all.u32()? as usize;
    let saved_by = String::from_utf8_lossy(all.take(length)?);
    if saved_by != description {
        return Err(format!(
            "saved table is of strategy `{saved_by}`, not of `{description}`"
        ));
    }
    let body = bytes.len().saturating_sub(8);
    let sum = Reader { bytes, at: body }.u64()?;
    if body < all.at || sum != checksum(&bytes[..body]) {
        return Err("saved table is damaged: its checksum is wrong".to_owned());
    }
    let mut all = Reader {
        bytes: &bytes[..body],
        at: all.at,
    };
    let marks = all.u32()?;
    let marks = (0..marks)
        .map(|_| Ok((all.u64()?, all.u64()?, all.u64()?)))
        .collect::<Result<Vec<Mark>, String>>()?;
    let ids = all.u32()?;
    let ids = (0..ids)
        .map(|_| all.u64())
        .collect::<Result<Vec<u64>, String>>()?;
    let numbers = Numbers::with(ids.iter().copied());
    if !numbers.ids().eq(ids) {
        return Err("saved table has an action twice, or too many".to_owned());
    }
    let counts = all.take(1)?[0];
    if counts != u8::from(like.counts == Counts::Arms) {
        return Err(format!("saved table counts something else ({counts})"));
    }
    let mut table = Table::new(like.counts, usize::MAX);
    for _ in 0..all.u32()? {
        all.state(&mut table)?;
    }
    let left = all.bytes.len() - all.at;
    if left > 0 {
        return Err(format!("saved table has {left} bytes too many"));
    }
    table.bytes_max = like.bytes_max;
    Ok((marks, numbers, table))
}

fn checksum(bytes: &[u8]) -> u64 {
    bytes.chunks(8).fold(bytes.len() as u64, |sum, chunk| {
        let mut word = [0; 8];
        word[..chunk.len()].copy_from_slice(chunk);
        mix2(sum, u64::from_le_bytes(word))
    })
}

struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Reader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let end = self.at.checked_add(length);
        let taken = end.and_then(|end| self.bytes.get(self.at..end));
        let taken = taken.ok_or_else(|| {
            let total = self.bytes.len();
            format!(
                "saved table is cut short: {length} bytes are missing at {} of {total}",
                self.at
            )
        })?;
        self.at += length;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, String> {
        let mut word = [0; 4];
        word.copy_from_slice(self.take(4)?);
        Ok(u32::from_le_bytes(word))
    }

    fn u64(&mut self) -> Result<u64, String> {
        let mut word = [0; 8];
        word.copy_from_slice(self.take(8)?);
        Ok(u64::from_le_bytes(word))
    }

    /// Reads one state into the table.
    fn state(&mut self, table: &mut Table) -> Result<(), String> {
        let key = self.u64()?;
        if table.find(key).is_some() {
            return Err(format!("saved table has state {key:016x} twice"));
        }
        let state = table.insert(key).ok_or("saved table has too many states")?;
        let visits = self.u32()?;
        for position in 0..self.u32()? as usize {
            let (tag, value) = (self.u32()?, f32::from_bits(self.u32()?));
            let taken = self.u32()?;
            if !value.is_finite() {
                return Err(format!(
                    "saved table has a value that is no number: {value}"
                ));
            }
            if table.position(state, tag).is_some() {
                return Err(format!("saved table has action {tag:08x} twice in a state"));
            }
            if table.add_arm(state, Arm { tag, value }) != Some(position) {
                return Err("saved table has too many actions in a state".to_owned());
            }
            table.set_taken(state, position, taken);
        }
        if table.counts == Counts::States {
            table.record_mut(state).count = visits;
        }
        Ok(())
    }
}

impl Table {
    fn states(&self) -> impl Iterator<Item = State> {
        (0..self.len() as u32).map(State)
    }

    fn set_taken(&mut self, state: State, arm: usize, taken: u32) {
        if self.counts == Counts::States {
            return;
        }
        let record = self.record_mut(state);
        record.count = record.count.saturating_add(taken);
        let block = record.block;
        if block != ONE_ARM {
            *self.arena.count(block, arm) = taken;
        }
    }
}

#[cfg(test)]
#[path = "saved_tests.rs"]
mod tests;
