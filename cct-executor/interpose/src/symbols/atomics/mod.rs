//! The calls that a compiler puts in the place of atomic instructions when it instruments code for LLVM's
//! ThreadSanitizer. Here they ask the thread's [`System`](crate::System) first, and then do what was asked for.
//!
//! They are there only in a build with `--cfg cct_atomics`, as `cargo cct test --atomics` makes it: the real
//! ThreadSanitizer defines the same names.
//!
//! 1. Statics and thread-locals are told of only where a loop waits for them: what they are at outlives a world.

mod functions;

use super::segments;
use crate::system::{self, Atomic};
use std::cell::Cell;
use std::ops::Range;
use std::ptr;

/// So many operations in a row that change nothing are those of a loop that waits.
const VAIN_MAX: u32 = 100;

/// Operations in a row that have changed nothing, of which none told anything new.
#[derive(Clone, Copy)]
struct Vain {
    /// A loop may look at two things in turn.
    at: [usize; 2],
    count: u32,
}

impl Vain {
    const NOTHING: Vain = Vain {
        at: [0; 2],
        count: 0,
    };
}

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
    let atomic = match vain.count >= VAIN_MAX && vain.at.contains(&address) {
        true => Atomic::InVain,
        false if segments::is_variable(address) => return,
        false => atomic,
    };
    (system.atomic)(atomic);
}

/// Notes whether what happened at this address has changed anything.
#[inline]
fn done(address: usize, changed: bool) {
    let Vain { at, count } = VAIN.get();
    let known = !changed && at.contains(&address);
    VAIN.set(Vain {
        at: if known { at } else { [address, at[0]] },
        count: if known { count + 1 } else { 0 },
    });
}
