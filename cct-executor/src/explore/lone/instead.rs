//! What another test has left in a static, asked for something by this one.
//!
//! Its world is around a thread that may be gone, or go at any moment; and what one test does must not change another.

use super::{is_over, open};
use crate::execution::{lone, strangers};
use std::collections::BTreeMap;
use std::panic::Location;
use std::sync::{Mutex, PoisonError};

/// Whose threads opened a world, by its number. There are few.
static FAMILIES: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// The world that a family has in the place of those of others.
static INSTEAD: Mutex<BTreeMap<u64, u64>> = Mutex::new(BTreeMap::new());

/// Where a test's own world is, which it has instead of another's.
pub(crate) enum Instead {
    /// Around this thread.
    Here,
    /// Around another thread of the test: the one of this number.
    There(u64),
}

/// This thread has opened a world.
pub(super) fn note_family(world: u64) {
    let mut families = FAMILIES.lock().unwrap_or_else(PoisonError::into_inner);
    families.insert(world, cct_interpose::family());
}

/// Whether the world of this number was opened by a thread of another test than this one; or, where this is a test's own
/// thread, is that of an iteration, as of a test that was explored before in this process.
fn is_another_tests(world: u64) -> bool {
    if !cct_interpose::CONTROLLED {
        return false;
    }
    let families = FAMILIES.lock().unwrap_or_else(PoisonError::into_inner);
    match families.get(&world) {
        Some(&family) => family != cct_interpose::family(),
        None => !cct_interpose::was_started(),
    }
}

/// Opens a world around this thread, if it is another test's that is asked for something: the one of this
/// number; unless the test has one already, around another thread of its. It stays open for good, as what is asked for may be
/// kept in a static.
#[track_caller]
pub(crate) fn instead_of(world: u64) -> Option<Instead> {
    if !is_another_tests(world) || is_over(world) {
        return None;
    }
    if let Some(is_around_us) = lone::any_here() {
        return is_around_us.then_some(Instead::Here);
    }
    let family = cct_interpose::family();
    let known = || INSTEAD.lock().unwrap_or_else(PoisonError::into_inner);
    let before = known().get(&family).copied();
    if let Some(there) = before.filter(|&there| strangers::is_open(there)) {
        return Some(Instead::There(there));
    }
    let ours = open(Location::caller()).ok()??;
    known().insert(family, ours.serial);
    std::mem::forget(ours);
    Some(Instead::Here)
}
