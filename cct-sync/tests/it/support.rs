//! What the tests of this binary share.

/// Runs the same body against tokio and against this crate: `$sync` names the module under test.
macro_rules! both {
    ($(#[$meta:meta])* fn $name:ident($sync:ident) $body:block) => {
        $(#[$meta])*
        mod $name {
            #[allow(unused_imports, reason = "not every body needs what the others need")]
            use super::*;

            #[test]
            fn tokio() {
                #[allow(unused_imports, reason = "may be named by its items only")]
                use ::tokio::sync as $sync;
                $body
            }

            #[test]
            fn cct() {
                #[allow(unused_imports, reason = "may be named by its items only")]
                use ::cct_sync as $sync;
                $body
            }
        }
    };
}

pub(crate) use both;

/// A small generator, so that the tests need no other crate and no clock.
pub(crate) struct Dice(u64);

impl Dice {
    pub(crate) fn new(seed: u64) -> Self {
        Dice(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1)
    }

    /// A number below `sides`.
    pub(crate) fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % sides
    }

    /// An element's index, if there is one.
    pub(crate) fn pick<T>(&mut self, of: &[T]) -> Option<usize> {
        (!of.is_empty()).then(|| self.roll(of.len()))
    }
}
