//! Time that stood still while tasks kept each other busy.

use super::failure::time_text;
use crate::words::explanation::{Explanation, Step};
use std::fmt::Write as _;

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
