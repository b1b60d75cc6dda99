//! The calls that a compiler puts in the place of atomic instructions when it instruments code for LLVM's
//! ThreadSanitizer. Here they ask the thread's [`System`](crate::System) first, and then do what was asked for.
//!
//! They are there only in a build with `--cfg cct_atomics`, as `cargo cct test --atomics` makes it: the real
//! ThreadSanitizer defines the same names.
//!
//! 1. Statics and thread-locals are not told of: what they are at outlives a world.

mod functions;

use super::segments;
use crate::system;
use crate::system::Atomic;

/// Makes the linker take in what is defined here.
pub(super) fn keep() {
    functions::keep();
}

/// Says what is about to happen at this address.
#[inline]
fn tell(address: usize, atomic: Atomic) {
    let Some(system) = system::get() else {
        return;
    };
    if !segments::is_variable(address) {
        (system.atomic)(address, atomic);
    }
}
