//! Fingerprints: 64-bit hashes of the abstract state, kept as a sum of per-entity digests.
//!
//! 1. The sum does not depend on the order or the identity of the entities, so symmetric states
//!    coincide and an update costs one subtraction and one addition.
//! 2. Nothing here depends on an address, a hash seed or the process.

use std::fmt;
use std::hash::{Hash, Hasher};
use std::mem::{Discriminant, discriminant};

/// Hash of the abstract state of a world. Equal states have equal fingerprints; the reverse holds
/// up to collisions of 64 bits and up to what the abstraction leaves out.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct Fingerprint(pub u64);

impl Fingerprint {
    /// A digest has changed by this much.
    #[inline]
    pub(crate) fn shift(&mut self, change: u64) {
        self.0 = self.0.wrapping_add(change);
    }
}

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

/// Mixes one word so that every input bit reaches the whole output (a 64-bit multiply-xorshift
/// finaliser).
#[inline]
pub const fn mix(x: u64) -> u64 {
    let x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    let x = (x ^ (x >> 32)).wrapping_mul(0xD6E8_FEB8_6659_FD93);
    x ^ (x >> 32)
}

/// Mixes two words; not symmetric.
#[inline]
pub fn mix2(a: u64, b: u64) -> u64 {
    mix(a.rotate_left(23).wrapping_add(0x9E37_79B9_7F4A_7C15) ^ mix(b ^ 0x2545_F491_4F6C_DD1D))
}

/// A [`Hasher`] with fixed keys: equal input, equal hash, in every process.
#[derive(Clone, Copy, Debug, Default)]
pub struct StableHasher(u64);

impl Hasher for StableHasher {
    #[inline]
    fn finish(&self) -> u64 {
        mix(self.0)
    }

    #[inline]
    fn write(&mut self, bytes: &[u8]) {
        for chunk in bytes.chunks(8) {
            let mut word = [0; 8];
            word[..chunk.len()].copy_from_slice(chunk);
            self.write_u64(u64::from_le_bytes(word));
        }
        self.write_u64(bytes.len() as u64);
    }

    fn write_u8(&mut self, x: u8) {
        self.write_u64(u64::from(x));
    }

    fn write_u32(&mut self, x: u32) {
        self.write_u64(u64::from(x));
    }

    fn write_u64(&mut self, x: u64) {
        self.0 = mix2(self.0, x);
    }

    fn write_usize(&mut self, x: usize) {
        self.write_u64(x as u64);
    }
}

/// Stable hash of any hashable value.
#[inline]
pub fn hash_of(value: &(impl Hash + ?Sized)) -> u64 {
    let mut hasher = StableHasher::default();
    value.hash(&mut hasher);
    hasher.finish()
}

/// The variant of an enum's value, counted from 1; the same for all values of other types.
#[inline]
pub fn variant_of<T>(value: &T) -> u64 {
    struct Plain(u64);

    impl Hasher for Plain {
        fn finish(&self) -> u64 {
            self.0
        }

        fn write(&mut self, bytes: &[u8]) {
            bytes.iter().for_each(|&byte| self.write_u8(byte));
        }

        fn write_u8(&mut self, x: u8) {
            self.0 = self.0.rotate_left(8) ^ u64::from(x);
        }

        fn write_isize(&mut self, x: isize) {
            self.0 = x as u64;
        }
    }

    let variant: Discriminant<T> = discriminant(value);
    let mut hasher = Plain(0);
    variant.hash(&mut hasher);
    hasher.finish().wrapping_add(1)
}
