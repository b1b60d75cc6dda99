//! Operations that find nothing although something is there, as tokio's tasks have a budget.

use crate::explore::FailureReport;
use crate::words::FailureKind;
use crate::words::explanation::Step;
use std::fmt::Write as _;

/// Says what they are: crates take that for what cannot be. Who waits in the end does so for something else, as a
/// task without budget is woken.
pub(super) fn without_budget(out: &mut String, failure: &FailureReport) {
    let explanation = &failure.explanation;
    if failure.kind.lasts() || matches!(failure.kind, FailureKind::Deadlock { .. }) {
        return;
    }
    let mut steps = explanation.steps.iter().rev();
    if let Some(last) = steps.find(|step| step.what.ends_with(Step::NO_BUDGET)) {
        let _ = writeln!(
            out,
            "  operations with `no budget left` (the last in step {}) return `Pending` whatever there is, as on \
             tokio: a poll has\n  128 of them, then it has to return (see `tokio::task::coop`)",
            last.step
        );
    }
}
