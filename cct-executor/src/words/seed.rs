//! Seeds: where all randomness of exploring comes from.
//!
//! 1. A generator is made for one purpose, named by a string; two purposes never share one, so
//!    drawing more for one does not shift another.
//! 2. The seed of iteration k depends on the run's seed and k only.

use super::fingerprint::{hash_of, mix2};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::fmt;
use std::str::FromStr;

/// The generator behind every strategy and every noise stream.
pub type Generator = Pcg64Mcg;

/// A 64-bit seed. Printed as 16 hexadecimal digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Seed(pub u64);

impl Seed {
    /// The seed a test has when none is given: derived from its name, so that CI repeats itself.
    pub fn of_name(name: &str) -> Seed {
        Seed(hash_of(name))
    }

    /// The seed of one iteration of a run.
    pub fn iteration(self, index: u64) -> Seed {
        Seed(mix2(self.0, index))
    }

    /// One number for one purpose.
    #[inline(always)]
    pub(crate) fn number(self, purpose: &str) -> u64 {
        mix2(self.0, hash_of(purpose))
    }

    /// A generator for one purpose.
    // Inlined, the hash of the purpose is a constant: most of what a stream costs.
    #[inline(always)]
    pub fn stream(self, purpose: &str) -> Generator {
        Generator::seed_from_u64(self.number(purpose))
    }
}

impl fmt::Display for Seed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Seed {
    type Err = String;

    /// Takes what [`Display`](fmt::Display) prints (16 hexadecimal digits, optionally after `0x`)
    /// or a decimal number of fewer digits.
    fn from_str(text: &str) -> Result<Seed, String> {
        let hex = text.strip_prefix("0x");
        let parsed = match hex {
            Some(hex) => u64::from_str_radix(hex, 16),
            None if text.len() == 16 => u64::from_str_radix(text, 16),
            None => text.parse(),
        };
        parsed.map(Seed).map_err(|_| {
            format!("invalid seed `{text}`: expected a decimal number, or 16 hexadecimal digits")
        })
    }
}
