//! Ticks.

use super::Instant;
use super::sleep::{Sleep, bounded, current_world};
use std::future::poll_fn;
use std::panic::Location;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

/// A tick that comes no later than this is on time, as in tokio.
const ON_TIME: Duration = Duration::from_millis(5);

/// Ticks every `period`, the first time at once.
///
/// # Panics
/// When the period is zero, and outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn interval(period: Duration) -> Interval {
    assert_period(period);
    let serial = current_world();
    Interval::at(Instant::present(), period, serial, Location::caller())
}

/// Ticks every `period`, the first time at `start`.
///
/// # Panics
/// When the period is zero, and outside a world, unless the thread has entered a runtime of one.
#[track_caller]
pub fn interval_at(start: Instant, period: Duration) -> Interval {
    assert_period(period);
    Interval::at(start, period, current_world(), Location::caller())
}

/// Before the world is looked for, as tokio does.
#[track_caller]
fn assert_period(period: Duration) {
    assert!(!period.is_zero(), "`period` must be non-zero.");
}

/// What an [`Interval`] does after ticks came late.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum MissedTickBehavior {
    /// Makes up for missed ticks as fast as it can, then goes on as if none had been missed.
    #[default]
    Burst,
    /// Counts the period anew from the late tick.
    Delay,
    /// Leaves missed ticks out and goes on at the next multiple of the period.
    Skip,
}

impl MissedTickBehavior {
    /// When the tick after one due at `due` comes, which was seen at `now`.
    fn next(self, due: Instant, now: Instant, period: Duration) -> Instant {
        match self {
            MissedTickBehavior::Burst => due + period,
            MissedTickBehavior::Delay => now + period,
            MissedTickBehavior::Skip => {
                let past_ns = (now - due).as_nanos() % period.as_nanos();
                let past = u64::try_from(past_ns).map(Duration::from_nanos);
                let past = past
                    .expect("too much time has elapsed since the interval was supposed to tick");
                now + (period - past)
            }
        }
    }
}

/// Ticks at a fixed rate. From [`interval`] and [`interval_at`].
#[derive(Debug)]
pub struct Interval {
    /// Waits for the next tick.
    delay: Pin<Box<Sleep>>,
    period: Duration,
    behavior: MissedTickBehavior,
}

impl Interval {
    fn at(
        start: Instant,
        period: Duration,
        serial: u64,
        site: &'static Location<'static>,
    ) -> Interval {
        Interval {
            delay: Box::pin(Sleep::at(start, serial, site)),
            period: bounded(period),
            behavior: MissedTickBehavior::default(),
        }
    }

    /// Waits for the next tick; returns when it was due.
    ///
    /// # Scheduling points
    /// One for each tick, in its first poll, if it is due already. Else that poll waits, which is one
    /// too.
    ///
    /// # Cancel safety
    /// Safe: no tick is lost.
    #[track_caller]
    pub fn tick(&mut self) -> impl Future<Output = Instant> + Send + Sync + use<'_> {
        let site = Location::caller();
        poll_fn(move |cx| {
            self.delay.as_mut().set_site(site);
            self.poll_tick(cx)
        })
    }

    /// The poll of [`tick`](Self::tick).
    ///
    /// # Scheduling points
    /// As there.
    pub fn poll_tick(&mut self, cx: &mut Context<'_>) -> Poll<Instant> {
        ready!(self.delay.as_mut().poll(cx));
        let due = self.delay.deadline();
        let now = Instant::present();
        let behavior = if now > due + ON_TIME {
            self.behavior
        } else {
            MissedTickBehavior::Burst
        };
        let next = behavior.next(due, now, self.period);
        self.delay.as_mut().reset_unregistered(next);
        Poll::Ready(due)
    }

    /// The next tick comes a period from now.
    pub fn reset(&mut self) {
        self.delay.as_mut().reset(Instant::present() + self.period);
    }

    /// The next tick comes now.
    pub fn reset_immediately(&mut self) {
        self.delay.as_mut().reset(Instant::present());
    }

    /// The next tick comes after this duration.
    pub fn reset_after(&mut self, after: Duration) {
        self.delay
            .as_mut()
            .reset(Instant::present() + bounded(after));
    }

    /// The next tick comes at this moment.
    pub fn reset_at(&mut self, deadline: Instant) {
        self.delay.as_mut().reset(deadline);
    }

    /// What happens after ticks came late.
    pub fn missed_tick_behavior(&self) -> MissedTickBehavior {
        self.behavior
    }

    /// Sets what happens after ticks came late.
    pub fn set_missed_tick_behavior(&mut self, behavior: MissedTickBehavior) {
        self.behavior = behavior;
    }

    /// Time between ticks.
    pub fn period(&self) -> Duration {
        self.period
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn behaviors_differ_only_after_a_late_tick() {
        let ms = Duration::from_millis;
        let due = Instant::present();
        for (late, burst, delay, skip) in [(0, 10, 10, 10), (13, 10, 23, 20), (20, 10, 30, 30)] {
            let next = |behavior: MissedTickBehavior| behavior.next(due, due + ms(late), ms(10));
            assert_eq!(
                next(MissedTickBehavior::Burst),
                due + ms(burst),
                "{late} ms late"
            );
            assert_eq!(
                next(MissedTickBehavior::Delay),
                due + ms(delay),
                "{late} ms late"
            );
            assert_eq!(
                next(MissedTickBehavior::Skip),
                due + ms(skip),
                "{late} ms late"
            );
        }
    }
}
