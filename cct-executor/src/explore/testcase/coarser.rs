//! Failures at a granularity that nobody has chosen, which may have no counterpart in reality: the test is explored again
//! at a coarser one, and that counts.

use crate::explore::checker::Checker;
use crate::explore::env::Settings;
use crate::explore::result::{FailureReport, Origin, Report};
use crate::words::explanation::{Sharing, TaskState};
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

/// What is explored instead, where a failure was found that hangs on where a poll was suspended, and that threads would not
/// show; and what to say of it.
pub(super) fn where_polls_are_whole(
    checker: &Checker,
    settings: &Settings,
    report: &Report,
) -> Option<(Checker, String)> {
    let failure = report.failure.as_ref()?;
    let was_found = matches!(failure.origin, Origin::Iteration(_)) && settings.replay.is_none();
    let chosen = settings.granularity.is_some() || !checker.usual_granularity;
    let mut coarser = (was_found && !chosen).then(|| checker.clone())?;
    let is_finer = failure.token.granularity > checker.world.granularity;
    let why = match spins_beside(failure) {
        Some(why) if is_finer => why,
        Some(why) if checker.world.granularity > Granularity::Await => {
            coarser.world.granularity = Granularity::Await;
            why
        }
        _ => has_set_a_local(failure).filter(|_| is_finer)?,
    };
    coarser.usual_granularity = false;
    let kind = failure.kind.to_string();
    let note = format!(
        "iteration {} failed at granularity `{}` ({}): but there {why}. So the test was explored again at `{}` \
         alone, and this is what came of that; to see the failure, choose the granularity",
        failure.iteration() + 1,
        failure.token.granularity,
        kind.lines().next().unwrap_or_default(),
        coarser.world.granularity,
    );
    Some((coarser, note))
}

/// A poll was suspended within a call that had set a thread-local.
fn has_set_a_local(failure: &FailureReport) -> Option<String> {
    let shared = failure.explanation.shared_locals.as_ref()?;
    let others = match shared.how {
        Sharing::Changed { .. } => "others have set that",
        Sharing::Seen => "others may have seen that",
        Sharing::OfClosure => return None,
    };
    Some(format!(
        "task {} was suspended at {} while it had set a thread-local, and {others}, which threads do not share",
        shared.task, shared.site
    ))
}

/// A poll does not return while another one is suspended, which would go on beside it, and maybe let it go on: as who holds
/// a lock that is waited for by spinning.
fn spins_beside(failure: &FailureReport) -> Option<String> {
    let FailureKind::Stuck { task: spins } = &failure.kind else {
        return None;
    };
    let mut tasks = failure.explanation.tasks.iter();
    let beside = tasks.find(|story| story.state == TaskState::Suspended && story.name != *spins)?;
    Some(format!(
        "task {} was suspended in the middle of a poll ({}), which goes on beside the other one where there are threads; \
         it may hold a lock for which task {spins} spins",
        beside.name, beside.last_op
    ))
}
