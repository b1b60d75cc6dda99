//! What another test has left in a static, asked for something by this one.
//!
//! Its world is around a thread that may be gone, or go at any moment; and what one test does must not change another.

use super::{is_over, open};
use crate::execution::lone;
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// Whose threads opened a world, by its number. There are few.
static FAMILIES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// This thread has opened a world.
pub(super) fn note_family(world: u64) {
    let mut families = FAMILIES.lock().unwrap_or_else(PoisonError::into_inner);
    families.insert(world, cct_interpose::family());
}

/// Whether the world of this number was opened by a thread of another test than this one, which is a test's own; or is that
/// of an iteration, as of a test that was explored before in this process.
fn is_another_tests(world: u64) -> bool {
    if !cct_interpose::CONTROLLED || cct_interpose::was_started() {
        return false;
    }
    let families = FAMILIES.lock().unwrap_or_else(PoisonError::into_inner);
    let opened_by = families.get(&world);
    opened_by.is_none_or(|&family| family != cct_interpose::family())
}

/// Opens a world around this test's own thread, if it is another test's that is asked for something: the one of this
/// number. It stays open for good, as what is asked for may be kept in a static.
#[track_caller]
pub(crate) fn instead_of(world: u64) -> Option<()> {
    if !is_another_tests(world) || is_over(world) {
        return None;
    }
    match lone::any_here() {
        Some(is_around_us) => is_around_us.then_some(()),
        None => {
            std::mem::forget(open(Location::caller()).ok()??);
            Some(())
        }
    }
}
