//! Every name of `tokio::time` with its signature.

use super::ask::*;
use super::rt::time::*;
use std::pin::Pin;
use std::task::{Context, Poll};

pub(crate) fn futures_of_time() {
    let _: fn(Duration) -> Sleep = sleep;
    let _: fn(Instant) -> Sleep = sleep_until;
    let _ = |sleep: Sleep, pinned: Pin<&mut Sleep>| {
        is::<Instant>(sleep.deadline());
        is::<bool>(sleep.is_elapsed());
        is::<()>(pinned.reset(Instant::now()));
        sent::<()>(sleep);
    };
    let _ = || {
        is::<Timeout<std::future::Ready<u8>>>(timeout(Duration::ZERO, std::future::ready(1)));
        is::<Timeout<std::future::Ready<u8>>>(timeout_at(Instant::now(), std::future::ready(1)));
        sent::<Result<u8, error::Elapsed>>(timeout(Duration::ZERO, async { 1 }));
    };
    let _ = |mut timeout: Timeout<std::future::Ready<u8>>| {
        is::<&std::future::Ready<u8>>(timeout.get_ref());
        is::<&mut std::future::Ready<u8>>(timeout.get_mut());
        is::<std::future::Ready<u8>>(timeout.into_inner());
    };
    is_debug::<Sleep>();
    is_debug::<Timeout<std::future::Ready<u8>>>();
    is_error::<error::Elapsed>();
    is_eq::<error::Elapsed>();
    is_error::<error::Error>();
    let _ = |elapsed: error::Elapsed| is::<std::io::Error>(elapsed.into());
    let _ = |error: error::Error| {
        is::<bool>(error.is_shutdown() || error.is_at_capacity() || error.is_invalid())
    };
}

pub(crate) fn intervals() {
    let _: fn(Duration) -> Interval = interval;
    let _: fn(Instant, Duration) -> Interval = interval_at;
    let _ = |interval: &mut Interval, cx: &mut Context<'_>| {
        sent::<Instant>(interval.tick());
        is::<Poll<Instant>>(interval.poll_tick(cx));
        is::<()>(interval.reset());
        is::<()>(interval.reset_immediately());
        is::<()>(interval.reset_after(Duration::ZERO));
        is::<()>(interval.reset_at(Instant::now()));
        is::<MissedTickBehavior>(interval.missed_tick_behavior());
        is::<()>(interval.set_missed_tick_behavior(MissedTickBehavior::Burst));
        is::<Duration>(interval.period());
    };
    let _ = [
        MissedTickBehavior::Burst,
        MissedTickBehavior::Delay,
        MissedTickBehavior::Skip,
    ];
    is_debug::<Interval>();
    is_debug::<MissedTickBehavior>();
    is_copy::<MissedTickBehavior>();
    is_eq::<MissedTickBehavior>();
    is_default::<MissedTickBehavior>();
    let _ = || sent::<()>(advance(Duration::ZERO));
    let _: fn() = pause;
    let _: fn() = resume;
}

pub(crate) fn instants() {
    let _: fn() -> Instant = Instant::now;
    let _: fn(std::time::Instant) -> Instant = Instant::from_std;
    let _ = |mut now: Instant, then: Instant, duration: Duration| {
        is::<std::time::Instant>(now.into_std());
        is::<std::time::Instant>(now.into());
        is::<Instant>(now.into_std().into());
        is::<Duration>(now.duration_since(now));
        is::<Option<Duration>>(now.checked_duration_since(now));
        is::<Duration>(now.saturating_duration_since(now));
        is::<Duration>(now.elapsed());
        is::<Option<Instant>>(now.checked_add(duration));
        is::<Option<Instant>>(now.checked_sub(duration));
        is::<Instant>(now + duration);
        is::<Instant>(now - duration);
        is::<Duration>(now - then);
        now += duration;
        now -= duration;
    };
    is_copy::<Instant>();
    is_debug::<Instant>();
    is_eq::<Instant>();
    is_ord::<Instant>();
    is_hash::<Instant>();
}
