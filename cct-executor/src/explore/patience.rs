//! How long a poll may take before it counts as one that does not return.
//!
//! 1. Who works is given processor time and not time on the clock, as far as the system tells: on a busy machine the
//!    same work takes longer. Who waits for something has no use for more.
//! 2. Six times the limit is enough for everybody.

use super::processor::Processor;
use crate::execution::run::Entangled;
use cct_interpose::Blocks;
use std::time::Duration;

/// How long a poll may keep a thread of another's waiting, or wait for the machine, where it is enough to know that one takes
/// part, or that.
const FOR_VISITORS: Duration = Duration::from_secs(1);
/// Who takes nothing of the processor for so long waits, and does not just wait for a turn.
const WAITS: Duration = Duration::from_secs(1);
/// Times the limit, for who works on a busy machine.
const AT_MOST: u32 = 6;

/// How long a poll may take.
#[derive(Clone, Copy)]
pub(super) struct Patience {
    limit: Duration,
    /// While another thread waits to use what belongs to the world: it may be what the poll waits for. And while the poll
    /// waits for what the machine has, which nobody in the world may ever use.
    with_visitors: Duration,
}

/// A poll that is looked at again and again.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Seen {
    /// For how long, by the clock.
    waited: Duration,
    /// What its thread had taken of the processor at the first look, and at the last, if the system tells.
    taken: Option<(Duration, Duration)>,
    /// For how long that has not changed.
    still: Duration,
}

impl Patience {
    /// `gives_way` where a test in which threads take part is to be run in another way.
    pub(super) fn new(limit: Duration, gives_way: bool) -> Patience {
        let with_visitors = if gives_way { FOR_VISITORS } else { limit };
        Patience {
            limit,
            with_visitors: with_visitors.min(limit),
        }
    }

    /// The limit for who has the processor.
    pub(super) fn limit(self) -> Duration {
        self.limit
    }

    /// How often it is to be looked whether it is over.
    pub(super) fn look(self) -> Duration {
        (self.limit / 4).clamp(Duration::from_millis(5), Duration::from_millis(100))
    }

    pub(super) fn is_over(self, seen: &Seen, with: Entangled) -> bool {
        let limit = match with.visited || with.blocks == Blocks::Machine {
            true => self.with_visitors,
            false => self.limit,
        };
        let works = seen.taken.is_some_and(|(first, last)| {
            last.saturating_sub(first) < limit && seen.still < WAITS.min(limit / 2)
        });
        // The thread may be another test's. If it is what the poll waits for, it does nothing else.
        if with.refused && seen.taken.is_some() && seen.still >= self.with_visitors {
            return true;
        }
        seen.waited >= limit && (!works || seen.waited >= limit * AT_MOST)
    }
}

impl Seen {
    /// After so long the poll is still the same.
    pub(super) fn again(&mut self, after: Duration, thread: &Processor) {
        self.told(after, thread.taken());
    }

    fn told(&mut self, after: Duration, taken: Option<Duration>) {
        let before = self.taken;
        self.waited += after;
        self.taken = taken.map(|now| (before.map_or(now, |(first, _)| first), now));
        let same = before.map(|(_, last)| last) == taken;
        self.still = match same {
            true => self.still + after,
            false => Duration::ZERO,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LOOK: Duration = Duration::from_millis(100);
    const PATIENCE: Patience = Patience {
        limit: Duration::from_secs(10),
        with_visitors: Duration::from_secs(1),
    };

    /// After how many looks it is over, for a thread that has taken so many milliseconds by each.
    fn over_after(taken: impl Fn(u64) -> Option<u64>, visited: bool) -> Option<u64> {
        let mut seen = Seen::default();
        (1..2_000).find(|&look| {
            seen.told(LOOK, taken(look).map(Duration::from_millis));
            let with = Entangled {
                visited,
                ..Entangled::default()
            };
            PATIENCE.is_over(&seen, with)
        })
    }

    #[test]
    fn who_has_the_processor_has_the_limit() {
        assert_eq!(
            over_after(|look| Some(7_000 + 100 * look), false),
            Some(101)
        );
        assert_eq!(over_after(|_| None, false), Some(100));
    }

    #[test]
    fn who_shares_it_has_longer_but_not_for_ever() {
        assert_eq!(over_after(|look| Some(50 * look), false), Some(201));
        assert_eq!(over_after(|look| Some(look / 5 * 10), false), Some(600));
    }

    #[test]
    fn who_waits_has_the_limit_wherever_it_begins() {
        assert_eq!(over_after(|_| Some(300), false), Some(100));
        assert_eq!(over_after(|look| Some(20 * look.min(99)), false), Some(109));
        assert_eq!(over_after(|_| Some(300), true), Some(10));
    }
}
