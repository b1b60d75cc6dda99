//! What the failing schedule prints, apart from what all the others did.
//!
//! A test prints in every iteration, and in every attempt at a shorter schedule. Nobody can tell what came of which, so
//! the one that the report tells of is run once more, last of all.

use super::TestCase;
use crate::explore::any_scenario::AnyScenario;
use crate::explore::campaign::Campaign;
use crate::explore::checker::{Checker, Isolation};
use crate::explore::result::Report;
use crate::explore::watched;
use crate::words::{FailureKind, ReplayToken};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

/// What is said before.
pub(crate) const BELOW: &str =
    "cct: above is what all schedules printed, below what the failing one does\n";

/// A failing schedule that can be run once more.
pub(crate) struct OnceMore {
    campaign: Arc<Campaign>,
    token: ReplayToken,
}

impl TestCase {
    /// What this report tells of, if it came to its end in this process, as it would again.
    pub(crate) fn once_more(
        self,
        report: &Report,
        checker: Checker,
        scenario: AnyScenario,
    ) -> Option<OnceMore> {
        let failure = report.failure.as_ref()?;
        let ends = matches!(
            failure.kind,
            FailureKind::Panic { .. }
                | FailureKind::Error { .. }
                | FailureKind::Deadlock { .. }
                | FailureKind::Broken { .. }
                | FailureKind::Leaked { .. }
        );
        let again = ends && failure.reproduced;
        if !again || self.should_panic.is_some() || checker.isolation == Isolation::Process {
            return None;
        }
        let token = failure.token.clone();
        let checker = self.named(checker).use_environment(false);
        let campaign = checker.replay(token.clone()).campaign(scenario).ok()?;
        let campaign = Arc::new(campaign);
        Some(OnceMore { campaign, token })
    }
}

impl OnceMore {
    /// Runs it. Whatever becomes of it, the report is there.
    pub(crate) fn run(self) {
        let OnceMore { campaign, token } = self;
        let patience = campaign.checker.patience();
        let body = move |over: &dyn Fn(())| {
            campaign.untold(|| {
                let world = &campaign.checker.world;
                campaign.again_and_tell(world, &token.trace, &|_| over(()));
            });
        };
        let run = || watched::on_fresh_thread(patience, body);
        let _ = catch_unwind(AssertUnwindSafe(run));
    }
}
