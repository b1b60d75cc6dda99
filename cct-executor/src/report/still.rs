//! Time that stood still while tasks kept each other busy, or passed while work was ready.

use super::failure::time_text;
use crate::words::Clock;
use crate::words::explanation::{Explanation, Step};
use std::fmt::Write as _;

/// Work that waits for so long, in virtual nanoseconds, is worth a word.
const LONG_WAIT_NS: u64 = 1_000_000_000;

/// Under the strict clock a conversation without end holds up every timer, as it does with tokio's paused
/// clock. In reality time passes meanwhile, and what waits for a timer may be what would end it.
pub(super) fn stood_still(out: &mut String, explanation: &Explanation) {
    let steps = &explanation.steps;
    let Some(last) = steps.last() else {
        return;
    };
    let now = |step: &&Step| step.time_ns == last.time_ns;
    let Some(since) = steps.iter().rev().take_while(now).last() else {
        return;
    };
    let long = (last.step - since.step).saturating_mul(2) >= last.step;
    let mut waits = explanation.tasks.iter().flat_map(|story| &story.waits);
    if long && waits.any(|wait| wait.op == "sleep") {
        let _ = writeln!(
            out,
            "  time stood still at {} from step {} on, as somebody was always ready; with \
             `clock = \"racing(5ms)\"` timers fire\n  meanwhile",
            time_text(last.time_ns),
            since.step
        );
    }
}

/// Whether a timer fires although a task is ready.
pub(super) fn timer_overtakes(explanation: &Explanation) -> bool {
    let mut steps = explanation.steps.iter();
    steps.any(overtakes)
}

fn overtakes(step: &Step) -> bool {
    step.task.is_none() && step.preempts
}

/// That work was kept waiting by timers, if it was, where that says what the failure takes. Under clocks that race the
/// next deadline may be far away, such as that of a time limit that guards the test.
pub(super) fn work_waited(out: &mut String, explanation: &Explanation, clock: Clock) {
    let steps = explanation
        .steps
        .iter()
        .zip(explanation.steps.iter().skip(1));
    let longest = steps
        .filter(|(step, _)| overtakes(step))
        .map(|(step, next)| (next.time_ns.saturating_sub(step.time_ns), step.step))
        .max_by_key(|&(waited, step)| (waited, std::cmp::Reverse(step)));
    let Some((waited, step)) = longest else {
        return;
    };
    if let Clock::Lagging(slack) = clock {
        let _ = writeln!(
            out,
            "  at step {step} a timer fires although a task is ready, as work may take up to {slack:?} here; \
             clock `strict` rules that out"
        );
    } else if waited >= LONG_WAIT_NS {
        let _ = writeln!(
            out,
            "  at step {step} a timer fires {} ahead although a task is ready, which only clock `strict` \
             rules out;\n  if nobody has to wait that long for work, try `strict`, or leave out the timer",
            time_text(waited)
        );
    }
}
