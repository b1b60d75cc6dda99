//! Tests whose atomic operations do not repeat themselves.

use crate::explore::checker::Checker;
use crate::explore::result::Report;
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
