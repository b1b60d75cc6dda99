//! Failures at a granularity that nobody has chosen, which may have no counterpart in reality: the test is explored again
//! at a coarser one, and that counts.

use crate::explore::checker::Checker;
use crate::explore::env::Settings;
use crate::explore::result::{Origin, Report};
use crate::words::explanation::Sharing;
use crate::words::{FailureKind, Granularity};

/// Why a test was explored at a granularity other than the usual one of its build.
pub(super) const THREADS_OF_OTHERS: &str = "with atomic operations as scheduling points the same decisions led to different runs, as \
     where threads that are not the test's take part in them. So it was explored without: at granularity `op`";

/// What is explored instead, where atomic operations are points and do not repeat themselves.
pub(super) fn without_atomics(checker: &Checker, report: &Report) -> Option<Checker> {
    let failure = report.failure.as_ref()?;
    let varies = matches!(failure.kind, FailureKind::Nondeterminism { .. });
    let atomic = checker.world.granularity == Granularity::Atomic && checker.usual_granularity;
    let mut coarser = (varies && atomic).then(|| checker.clone())?;
    coarser.world.granularity = Granularity::Op;
    Some(coarser)
}

/// What is explored instead, where a finer lane of the strategy has found a failure in which a poll was suspended within a
/// call that had set a thread-local; and what to say of it.
pub(super) fn without_finer_lane(
    checker: &Checker,
    settings: &Settings,
    report: &Report,
) -> Option<(Checker, String)> {
    let failure = report.failure.as_ref()?;
    let was_found = matches!(failure.origin, Origin::Iteration(_)) && settings.replay.is_none();
    let chosen = settings.granularity.is_some() || !checker.usual_granularity;
    let is_finer = failure.token.granularity > checker.world.granularity;
    let shared = failure.explanation.shared_locals.as_ref()?;
    let others = match shared.how {
        Sharing::Changed { .. } => "others have set that",
        Sharing::Seen => "others may have seen that",
        Sharing::OfClosure => return None,
    };
    if !was_found || chosen || !is_finer {
        return None;
    }
    let mut coarser = checker.clone();
    coarser.usual_granularity = false;
    let kind = failure.kind.to_string();
    let note = format!(
        "iteration {} failed at granularity `{}` ({}): but there task {} was suspended at {} while it had set a \
         thread-local, and {others}, which threads do not share. So the test was explored again at `{}` \
         alone, and this is what came of that; to see the failure, choose the granularity",
        failure.iteration() + 1,
        failure.token.granularity,
        kind.lines().next().unwrap_or_default(),
        shared.task,
        shared.site,
        checker.world.granularity,
    );
    Some((coarser, note))
}
