//! What a report says of panics of tasks.

use crate::explore::FailureReport;
use crate::words::explanation::{EarlierPanic, Explanation};
use std::fmt::Write as _;

/// Earlier panics shown: the first ones, as what comes after them may be their consequence.
const PANICS_MAX: usize = 3;

/// Whose panic it was, if tokio would have gone on.
pub(super) fn unheard(out: &mut String, explanation: &Explanation) {
    if let Some(task) = &explanation.unheard {
        let _ = writeln!(
            out,
            "  it is the panic of task {task}, and nobody asked its JoinHandle for it: tokio would go on in \
             silence;\n  where it is expected, await the handle"
        );
    }
}

/// Panics that came before the failure, and may have brought it about: such as one that has poisoned
/// a lock. Those that the failure itself tells of are left out.
pub(super) fn earlier_panics(out: &mut String, failure: &FailureReport) {
    let told = failure.kind.to_string();
    let earlier = failure.explanation.panics.iter();
    let earlier: Vec<&EarlierPanic> = earlier
        .filter(|panic| !told.contains(&panic.said))
        .collect();
    for EarlierPanic { task, step, said } in earlier.iter().take(PANICS_MAX) {
        let said = said.replace('\n', "\n    ");
        let _ = writeln!(
            out,
            "  before that, task {task} panicked in step {step}: {said}"
        );
    }
    if earlier.len() > PANICS_MAX {
        let more = earlier.len() - PANICS_MAX;
        let _ = writeln!(out, "  and so did {more} more");
    }
}
