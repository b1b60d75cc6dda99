//! A misuse is reported at the place of the call, not inside this crate.

use cct_executor::runtime::{Handle, Runtime};
use cct_executor::task::spawn_blocking;
use cct_executor::{Checker, node::node, nondet, spawn, time};
use cct_sync::Mutex;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, Location, catch_unwind, set_hook, take_hook};
use std::sync::Once;
use std::time::Duration;

thread_local! {
    /// Where this thread panicked last.
    static PLACE: Cell<Option<(String, u32)>> = const { Cell::new(None) };
}

/// Asserts that `misuse` panics, and at its caller's line.
#[track_caller]
fn blames_this_line<R>(misuse: impl FnOnce() -> R) {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let place = info.location().expect("a panic has a place");
            PLACE.set(Some((place.file().to_owned(), place.line())));
            before(info);
        }));
    });
    let here = Location::caller();
    let caught = catch_unwind(AssertUnwindSafe(|| drop(misuse())));
    assert!(caught.is_err(), "no panic in line {}", here.line());
    let place = PLACE.take().expect("the hook was called");
    assert_eq!(place, (here.file().to_owned(), here.line()));
}

#[test]
fn outside_a_world() {
    let short = Duration::from_millis(1);
    blames_this_line(|| spawn(async {}));
    blames_this_line(|| spawn_blocking(|| ()));
    blames_this_line(|| node("db").start(|| async {}));
    blames_this_line(|| time::sleep(short));
    blames_this_line(|| time::timeout(short, async {}));
    blames_this_line(|| time::interval(short));
    blames_this_line(|| time::pause());
    blames_this_line(|| time::resume());
}

#[test]
fn what_is_wrong_anywhere() {
    blames_this_line(|| time::interval(Duration::ZERO));
    blames_this_line(|| time::interval_at(time::Instant::now(), Duration::ZERO));
}

#[test]
fn in_a_world() {
    let misuses: [(u32, fn()); 7] = [
        (line!(), || time::resume()),
        (line!(), || drop(time::interval(Duration::ZERO))),
        (line!(), || (0..2).for_each(|_| time::pause())),
        (line!(), || assert_eq!(nondet::choose(1 << 30), 0)),
        (line!(), || drop(Mutex::new(()).blocking_lock())),
        (line!(), || Handle::current().block_on(async {})),
        (line!(), || Runtime::new().unwrap().block_on(async {})),
    ];
    for (line, misuse) in misuses {
        let report = Checker::new()
            .iterations(1)
            .run(move || async move { misuse() });
        let place = format!("panic at {}:{line}:", file!());
        assert!(report.text().contains(&place), "{}", report.text());
    }
}
