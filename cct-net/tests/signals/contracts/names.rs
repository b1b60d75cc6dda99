//! Numbers, errors, traits.

use super::Log;
use super::rt::signal as signals;
use signals::unix::{Signal, SignalKind, signal};
use std::ffi::c_int;
use std::marker::PhantomData;
use std::panic::{RefUnwindSafe, UnwindSafe};

/// Every number that is no signal's, or may not be had; real-time signals may.
pub(crate) async fn refused(log: Log) {
    for number in (-1..=5)
        .chain(7..=9)
        .chain([11, 19, 31, 32, 33, 34, 64, 65, 1000])
    {
        match signal(SignalKind::from_raw(number)) {
            Ok(_) => log.note(format!("{number}: may be had")),
            Err(error) => {
                let (kind, os) = (error.kind(), error.raw_os_error());
                log.note(format!("{number}: {kind:?} {os:?} {error}"));
            }
        }
    }
}

pub(crate) async fn numbers(log: Log) {
    const HANGUP: SignalKind = SignalKind::hangup();
    log.note(HANGUP.as_raw_value());
    log.note(format!("{:?}", SignalKind::from(15)));
    log.note(c_int::from(SignalKind::quit()));
    let kinds = [
        SignalKind::from_raw(2),
        SignalKind::interrupt(),
        SignalKind::terminate(),
    ];
    log.note(kinds[0] == kinds[1] && kinds[1] != kinds[2]);
}

/// Answers for `T`: an inherent constant is preferred, and exists only where the bound holds.
struct Is<T>(PhantomData<T>);

trait IsNot {
    const UNWIND_SAFE: bool = false;
}

impl<T> IsNot for Is<T> {}

impl<T: UnwindSafe + RefUnwindSafe> Is<T> {
    const UNWIND_SAFE: bool = true;
}

fn is_shared<T: Send + Sync + Unpin>() {}

pub(crate) async fn traits(log: Log) {
    is_shared::<Signal>();
    is_shared::<SignalKind>();
    log.note(Is::<Signal>::UNWIND_SAFE);
    log.note(Is::<SignalKind>::UNWIND_SAFE);
}
