//! Instants: of the virtual clock inside a world, of the real one outside.
//!
//! 1. The virtual clock begins at the same instant in all worlds of the process, but for those around code that has
//!    looked at a clock before: there it goes on.
//! 2. What is printed never tells real time inside a world.

use crate::execution::world::{Phase, WORLD, World};
use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::sync::LazyLock;
use std::time::Duration;

/// Where zero lies on the real clock. Only differences to it are ever seen.
static BASE: LazyLock<std::time::Instant> = LazyLock::new(cct_interpose::instant_zero);

/// Instants lie less than this far from zero: half of what std can hold on Linux, so that the
/// base does not matter.
const RANGE_NS: i128 = (i64::MAX / 2) as i128 * 1_000_000_000;

fn real_now() -> std::time::Instant {
    #[expect(
        clippy::disallowed_methods,
        reason = "outside a world, where nothing is decided"
    )]
    std::time::Instant::now()
}

/// When this thread's world began: at zero, or where the clocks stood before it.
fn beginning_ns() -> i128 {
    to_ns(cct_interpose::clocks_at_zero().monotonic)
}

fn to_ns(duration: Duration) -> i128 {
    // At most 2^94.
    duration.as_nanos() as i128
}

fn to_duration(ns: u128) -> Duration {
    let nanos = (ns % 1_000_000_000) as u32;
    u64::try_from(ns / 1_000_000_000).map_or(Duration::MAX, |seconds| Duration::new(seconds, nanos))
}

/// A moment on the clock.
///
/// # Differences from tokio
/// Inside a world it counts from the beginning of the iteration, and prints so.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant {
    /// Nanoseconds since zero.
    ns: i128,
}

impl Instant {
    /// The present moment.
    ///
    /// # Differences from tokio
    /// Inside a world time stands still while code runs. Only code that looks a thousand times and more between two
    /// scheduling points, as it does to spin until some time has passed, sees it pass, unless the clock is frozen.
    pub fn now() -> Instant {
        WORLD.with(World::look);
        Instant::present()
    }

    /// The present moment, for shims: they do not spin.
    pub(super) fn present() -> Instant {
        let virtual_ns = WORLD.with(|world| {
            world.keep_up();
            (world.phase.get() != Phase::Idle).then(|| {
                let key = world.running.get().key;
                world.with(|core, _| core.clock_of(key).shown(core.point.time_ns))
            })
        });
        match virtual_ns {
            Some(ns) => Instant::of_world(ns),
            None => Instant::from_std(real_now()),
        }
    }

    /// The moment when the clock shows this many nanoseconds since this thread's world began.
    pub(super) fn of_world(ns: u64) -> Instant {
        let ns = beginning_ns() + i128::from(ns);
        Instant { ns }
    }

    /// Nanoseconds since this thread's world began; a moment before that counts as zero.
    pub(super) fn since_beginning_ns(self) -> u64 {
        u64::try_from((self.ns - beginning_ns()).max(0)).unwrap_or(u64::MAX)
    }

    fn offset(self, ns: i128) -> Option<Instant> {
        let ns = self.ns.checked_add(ns)?;
        (-RANGE_NS..=RANGE_NS)
            .contains(&ns)
            .then_some(Instant { ns })
    }

    /// From an instant of std. The virtual clock's zero is some fixed moment of the process.
    pub fn from_std(std: std::time::Instant) -> Instant {
        let base = *BASE;
        let ns = match std.checked_duration_since(base) {
            Some(after) => to_ns(after),
            None => -to_ns(base.duration_since(std)),
        };
        Instant { ns }
    }

    /// As an instant of std.
    ///
    /// # Panics
    /// If std cannot hold it, as is possible on some platforms for centuries.
    #[track_caller]
    pub fn into_std(self) -> std::time::Instant {
        let distance = to_duration(self.ns.unsigned_abs());
        let std = if self.ns < 0 {
            BASE.checked_sub(distance)
        } else {
            BASE.checked_add(distance)
        };
        std.expect("overflow when converting to a std instant")
    }

    /// Time passed since `earlier`, or zero when it is later.
    pub fn duration_since(&self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }

    /// Time passed since `earlier`, or `None` when it is later.
    pub fn checked_duration_since(&self, earlier: Instant) -> Option<Duration> {
        let ns = self.ns - earlier.ns;
        u128::try_from(ns).ok().map(to_duration)
    }

    /// Time passed since `earlier`, or zero when it is later.
    pub fn saturating_duration_since(&self, earlier: Instant) -> Duration {
        self.checked_duration_since(earlier).unwrap_or_default()
    }

    /// Time passed since this instant, or zero when it lies ahead.
    pub fn elapsed(&self) -> Duration {
        Instant::now().saturating_duration_since(*self)
    }

    /// This much later, if that can be represented.
    pub fn checked_add(&self, duration: Duration) -> Option<Instant> {
        self.offset(to_ns(duration))
    }

    /// This much earlier, if that can be represented.
    pub fn checked_sub(&self, duration: Duration) -> Option<Instant> {
        self.offset(-to_ns(duration))
    }
}

impl From<std::time::Instant> for Instant {
    fn from(time: std::time::Instant) -> Instant {
        Instant::from_std(time)
    }
}

impl From<Instant> for std::time::Instant {
    #[track_caller]
    fn from(time: Instant) -> std::time::Instant {
        time.into_std()
    }
}

impl Add<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn add(self, duration: Duration) -> Instant {
        self.checked_add(duration)
            .expect("overflow when adding duration to instant")
    }
}

impl AddAssign<Duration> for Instant {
    #[track_caller]
    fn add_assign(&mut self, duration: Duration) {
        *self = *self + duration;
    }
}

impl Sub for Instant {
    type Output = Duration;

    fn sub(self, earlier: Instant) -> Duration {
        self.saturating_duration_since(earlier)
    }
}

impl Sub<Duration> for Instant {
    type Output = Instant;

    #[track_caller]
    fn sub(self, duration: Duration) -> Instant {
        self.checked_sub(duration)
            .expect("overflow when subtracting duration from instant")
    }
}

impl SubAssign<Duration> for Instant {
    #[track_caller]
    fn sub_assign(&mut self, duration: Duration) {
        *self = *self - duration;
    }
}

impl fmt::Debug for Instant {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let in_world = WORLD.with(|world| world.phase.get() != Phase::Idle);
        let ns = self.ns - if in_world { beginning_ns() } else { 0 };
        let sign = if ns < 0 { "-" } else { "" };
        write!(f, "Instant({sign}{:?})", to_duration(ns.unsigned_abs()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);
    const ZERO: Instant = Instant { ns: 0 };

    #[test]
    fn arithmetic_agrees_with_std() {
        let (ours, std) = (ZERO, ZERO.into_std());
        let day = SECOND * 86_400;
        assert_eq!((ours + day).into_std(), std + day);
        assert_eq!((ours - day).into_std(), std - day);
        assert_eq!(Instant::from_std(std + day), ours + day);
        assert_eq!(Instant::from_std(std - day), ours - day);
        assert_eq!((ours + day) - ours, day);
        let mut moved = ours;
        moved += day;
        moved -= day;
        assert_eq!(moved, ours);
    }

    #[test]
    fn differences_saturate_at_zero() {
        let later = ZERO + SECOND;
        assert_eq!(ZERO - later, Duration::ZERO);
        assert_eq!(ZERO.duration_since(later), Duration::ZERO);
        assert_eq!(ZERO.saturating_duration_since(later), Duration::ZERO);
        assert_eq!(ZERO.checked_duration_since(later), None);
        assert_eq!(later.checked_duration_since(ZERO), Some(SECOND));
        assert_eq!(ZERO.checked_duration_since(ZERO), Some(Duration::ZERO));
    }

    #[test]
    fn what_cannot_be_represented_is_none() {
        assert_eq!(ZERO.checked_add(Duration::MAX), None);
        assert_eq!(ZERO.checked_sub(Duration::MAX), None);
        let millennium = SECOND * 86_400 * 365 * 1000;
        let far = ZERO.checked_add(millennium).expect("a millennium fits");
        assert_eq!(far - ZERO, millennium);
        assert_eq!(far.since_beginning_ns(), u64::MAX);
        assert_eq!((ZERO - SECOND).since_beginning_ns(), 0);
    }

    #[test]
    fn outside_a_world_the_clock_is_real() {
        let (before, start) = (real_now(), Instant::now());
        assert!(start.into_std() >= before);
        assert!(Instant::now() >= start);
    }

    #[test]
    fn prints_the_distance_from_zero() {
        assert_eq!(format!("{:?}", ZERO + SECOND * 3 / 2), "Instant(1.5s)");
        assert_eq!(format!("{:?}", ZERO - SECOND), "Instant(-1s)");
    }
}
