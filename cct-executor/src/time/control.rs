//! Stopping the clock and moving it by hand.

use crate::execution::world::{WORLD, World, expect_world};
use std::future::poll_fn;
use std::panic::Location;
use std::task::Poll;
use std::time::Duration;

/// The world whose clock is meant.
#[track_caller]
fn with_clock<R>(f: impl FnOnce(&World) -> R) -> R {
    expect_world(format_args!(
        "time cannot be frozen or moved outside a scenario"
    ));
    WORLD.with(f)
}

const NOT_FROZEN: &str = "time is not frozen";

/// Freezes the clock, so that [`advance`] may move it. Timers still fire when nothing else can
/// run, as with tokio's paused clock. The clocks of the standard library do not move then; they alone do while a
/// poll sleeps by `std::thread::sleep`. In a runtime of one thread that a test has built the clock is that runtime's own,
/// which stands while nobody is in its `block_on`.
///
/// # Panics
/// When it is frozen already, and outside a world.
///
/// # Differences from tokio
/// It works in a runtime of several threads too, where tokio panics.
#[track_caller]
pub fn pause() {
    let frozen = with_clock(World::pause_clock);
    assert!(!frozen, "time is already frozen");
}

/// Ends what [`pause`] began.
///
/// # Panics
/// When the clock is not frozen, and outside a world.
#[track_caller]
pub fn resume() {
    let frozen = with_clock(|world| world.freeze_clock(false));
    assert!(frozen, "{NOT_FROZEN}");
}

/// Moves the frozen clock and yields once; what has become due fires when the poll has returned, as
/// with tokio. So does a timer that is first polled later in the same poll.
///
/// tokio's clock is paused on one thread only, so it moves between polls: where others stand in the middle of one, all that is
/// ready goes on first. (Not where the future is polled by hand, which moves the clock at once.)
///
/// # Scheduling points
/// One: the poll returns `Pending` once after the clock was moved; and one more before that where others stand in the middle
/// of a poll.
///
/// # Cancel safety
/// Dropping the future before it is ready does not move the clock back.
///
/// # Panics
/// When polled while the clock is not frozen, and outside a world.
#[track_caller]
pub fn advance(duration: Duration) -> impl Future<Output = ()> + Send + Sync + Unpin {
    let site = Location::caller();
    let (mut rested, mut moved) = (false, false);
    poll_fn(move |cx| {
        if moved {
            return Poll::Ready(());
        }
        with_clock(|world| {
            assert!(world.has_paused_clock(), "{NOT_FROZEN}");
            let running = world.current().filter(|_| world.is_running());
            let rests = |key| world.with(|core, _| core.rests_for_polls(key));
            // Who polls by hand looks at what the first poll does.
            let may_rest = !std::mem::replace(&mut rested, true) && world.polls_itself(cx);
            if may_rest && running.is_some_and(rests) {
                return world.yield_now(cx, site);
            }
            moved = true;
            if let Some(key) = running {
                world.move_clock(key, duration);
            }
            world.yield_now(cx, site);
        });
        Poll::Pending
    })
}
