//! Virtual time as openraft reads it.

use cct_executor::time;
use openraft::Instant;
use std::ops::{Add, AddAssign, Sub, SubAssign};
use std::time::Duration;

/// A point in virtual time.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) struct Moment(pub(crate) time::Instant);

impl Instant for Moment {
    fn now() -> Self {
        Moment(time::Instant::now())
    }
}

impl Add<Duration> for Moment {
    type Output = Self;

    fn add(self, duration: Duration) -> Self {
        Moment(self.0 + duration)
    }
}

impl AddAssign<Duration> for Moment {
    fn add_assign(&mut self, duration: Duration) {
        self.0 += duration;
    }
}

impl Sub<Duration> for Moment {
    type Output = Self;

    fn sub(self, duration: Duration) -> Self {
        Moment(self.0 - duration)
    }
}

impl Sub for Moment {
    type Output = Duration;

    fn sub(self, earlier: Self) -> Duration {
        self.0 - earlier.0
    }
}

impl SubAssign<Duration> for Moment {
    fn sub_assign(&mut self, duration: Duration) {
        self.0 -= duration;
    }
}
