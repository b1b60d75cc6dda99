//! Stretches of time in which nothing could go on, until a time limit was up.
//!
//! Whoever gives up after a minute tells little of what it waited for in vain, and what led to that is many
//! steps ago by then, as others give up too. So the longest stretch is kept, with what everybody waited for.
//!
//! How often nothing but a timer could happen is counted too, so that heartbeats do not hide that a test hangs.
//!
//! Gathered while a failing trace is replayed, like the rest of `record`. Does not: look at time that passes
//! while work is ready, as under clocks that race.

use super::core::Core;
use super::decider::Decider;
use super::helpers;
use crate::raw::shared::Home;
use crate::words::explanation::Standstill;
use crate::words::{Limit, Outcome};
use std::time::Duration;

/// What is shorter, in virtual nanoseconds, is the course of things.
const LONG_NS: u64 = 1_000_000_000;

impl Core {
    /// Nothing but the next timer can happen. Returns whether there is one.
    pub(super) fn time_goes_on(&mut self, decider: &mut dyn Decider) -> bool {
        if let Some(recorder) = &mut self.recorder {
            recorder.standstills += 1;
            self.note_standstill();
        }
        if self.config.patient && self.threads_may_act() {
            self.end = Some(Outcome::Cut(Limit::Time));
            return false;
        }
        self.advance_to_next_timer(decider)
    }

    /// Gives threads of the program as much of the machine's time as is about to pass here. Returns whether one of them
    /// may act all the same, as there is no time for that, or it waits to come in.
    #[cold]
    fn threads_may_act(&mut self) -> bool {
        let Some((deadline_ns, _)) = self.next_deadline() else {
            return false;
        };
        let time = Duration::from_nanos(deadline_ns.saturating_sub(self.point.time_ns));
        let Some(left) = self.helpers.patience.checked_sub(time) else {
            return true;
        };
        self.helpers.patience = left;
        helpers::nap(time);
        Home::here().is_some_and(Home::has_visitors)
    }

    #[cold]
    fn note_standstill(&mut self) {
        let Some((deadline_ns, Some(woken))) = self.next_deadline() else {
            return;
        };
        let Some(mut recorder) = self.recorder.take() else {
            return;
        };
        let for_ns = deadline_ns.saturating_sub(self.point.time_ns);
        let known = recorder.standstill.as_ref();
        let is_longest = known.map_or(for_ns >= LONG_NS, |known| for_ns > known.for_ns);
        if is_longest && recorder.waits_not_only_for_time(woken) {
            recorder.standstill = Some(Standstill {
                step: self.point.step,
                for_ns,
                task: self.task_name(woken),
                tasks: self.stories(&recorder),
            });
        }
        self.recorder = Some(recorder);
    }
}
