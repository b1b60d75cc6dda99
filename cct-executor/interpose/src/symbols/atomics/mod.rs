//! The calls that a compiler puts in the place of atomic instructions when it instruments code for LLVM's
//! ThreadSanitizer. Here they ask the thread's [`System`](crate::System) first, and then do what was asked for.
//!
//! They are there only in a build with `--cfg cct_atomics`, as `cargo cct test --atomics` makes it: the real
//! ThreadSanitizer defines the same names.
//!
//! 1. Statics and thread-locals are told of only where a loop waits for them: what they are at outlives a world.

mod functions;

use super::segments;
use super::vain::Vain;
use crate::system::{self, Atomic};
use std::cell::Cell;
use std::ops::Range;
use std::ptr;

thread_local! {
    static VAIN: Cell<Vain> = const { Cell::new(Vain::NOTHING) };
}

/// Begins anew.
pub(super) fn forget() {
    VAIN.set(Vain::NOTHING);
}

/// Makes the linker take in what is defined here.
pub(super) fn keep() {
    functions::keep();
}

/// Where what is noted here lies, counted from `begin`.
pub(super) fn places(begin: usize) -> Range<usize> {
    let from = VAIN
        .with(|vain| ptr::from_ref(vain).addr())
        .wrapping_sub(begin);
    from..from.wrapping_add(size_of::<Cell<Vain>>())
}

/// Says what is about to happen at this address.
#[inline]
fn tell(address: usize, atomic: Atomic) {
    let Some(system) = system::get() else {
        return;
    };
    let vain = VAIN.get();
    // References that are counted go to and fro without anybody's waiting for them.
    let takes_back = atomic != Atomic::Count && vain.takes_back(address);
    let atomic = match vain.looks(address) || takes_back {
        true => Atomic::InVain,
        false if segments::is_variable(address) => return,
        false => atomic,
    };
    (system.atomic)(atomic);
}

/// Notes what was at this address, and what is there now.
#[inline]
fn done(address: usize, before: u64, now: u64) {
    let mut vain = VAIN.get();
    vain.done(address, before, now);
    VAIN.set(vain);
}
