//! Time: tokio's names and semantics on a world's virtual clock.
//!
//! The clock starts at zero in every iteration and stands still while anything can run. When
//! nothing can, it jumps to the next deadline, as tokio's paused clock does; a test never waits.
//! Other clock policies ([`Clock`](crate::words::Clock)) let timers fire early.
//!
//! Does not: move the clock (the engine does, in one place).
//!
//! # Differences from tokio
//! A world is always on virtual time: [`pause`] and [`resume`] only decide whether [`advance`] is
//! allowed, and where a jump ends: that of a paused clock, as tokio's does, at the deadline and the part of a
//! millisecond from which it began; that of another one at the deadline, or a little later
//! ([`late_timers`](crate::Checker::late_timers)). Of several timers that are due at once, the one registered first fires
//! first.

mod control;
pub mod error;
mod instant;
mod interval;
mod sleep;
mod timeout;

pub use control::{advance, pause, resume};
pub use instant::Instant;
pub use interval::{Interval, MissedTickBehavior, interval, interval_at};
pub use sleep::{Sleep, sleep, sleep_until};
#[doc(no_inline)]
pub use std::time::Duration;
pub use timeout::{Timeout, timeout, timeout_at};
