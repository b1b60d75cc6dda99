//! The name of futures-timer, and cct's timers: the original's fire on a thread that nobody controls.

use cct_executor::time::{Instant, Sleep, sleep};
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

/// Is over when so much virtual time has passed.
pub struct Delay(Pin<Box<Sleep>>);

impl Delay {
    /// From now on.
    #[track_caller]
    pub fn new(duration: Duration) -> Delay {
        Delay(Box::pin(sleep(duration)))
    }

    /// From now on, instead.
    pub fn reset(&mut self, duration: Duration) {
        self.0.as_mut().reset(Instant::now() + duration);
    }
}

impl Future for Delay {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        self.0.as_mut().poll(cx)
    }
}

impl fmt::Debug for Delay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Delay")
    }
}
