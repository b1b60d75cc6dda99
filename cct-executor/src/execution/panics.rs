//! Panics inside worlds: kept silent while exploring, remembered with their place.
//!
//! The hook is process-wide because Rust has no other, but it only writes to a thread-local of a
//! thread that runs a world, and passes everything else on to whatever hook was there before.

use super::world::{Phase, WORLD};
use crate::words::FailureKind;
use std::any::Any;
use std::cell::RefCell;
use std::panic::{self, PanicHookInfo};
use std::sync::Once;

struct Seen {
    message: String,
    location: Option<String>,
}

thread_local! {
    /// The first panic since it was last asked for.
    static SEEN: RefCell<Option<Seen>> = const { RefCell::new(None) };
}

/// The text of a panic's payload.
pub(crate) fn message_of(payload: &(dyn Any + Send)) -> String {
    payload
        .downcast_ref::<&str>()
        .map(ToString::to_string)
        .or_else(|| payload.downcast_ref::<String>().cloned())
        .unwrap_or_else(|| "a payload that is not text".to_owned())
}

fn hook(info: &PanicHookInfo<'_>) {
    let location = info.location().map(ToString::to_string);
    SEEN.with(|seen| {
        seen.borrow_mut()
            .get_or_insert_with(|| Seen { message: message_of(info.payload()), location });
    });
}

/// Makes panics inside worlds silent. Idempotent.
pub(crate) fn install() {
    static INSTALL: Once = Once::new();
    INSTALL.call_once(|| {
        let previous = panic::take_hook();
        panic::set_hook(Box::new(move |info| {
            let inside = WORLD.try_with(|world| world.phase.get() != Phase::Idle);
            if inside == Ok(true) { hook(info) } else { previous(info) }
        }));
    });
}

/// Forgets the panic that was seen.
pub(crate) fn forget() {
    let _ = SEEN.try_with(|seen| seen.borrow_mut().take());
}

/// The panic that was seen last, as a failure.
pub(crate) fn take_failure(payload: Option<&(dyn Any + Send)>) -> FailureKind {
    let seen = SEEN.with(|seen| seen.borrow_mut().take());
    let (hooked, location) = match seen {
        Some(seen) => (Some(seen.message), seen.location),
        None => (None, None),
    };
    // The payload is this panic's for certain; what the hook saw may be an inner one's.
    let message = payload.map(message_of).or(hooked);
    let message = message.unwrap_or_else(|| "a destructor panicked".to_owned());
    FailureKind::Panic { message, location }
}
