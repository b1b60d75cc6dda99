//! The first world of a test without an attribute: explored, or one that was ordered.

use super::{not_understood, scenario};
use crate::explore::apart::{Explored, Order, Teller, Where};
use crate::explore::campaign::Campaign;
use crate::explore::checker::{Checker, running_test};
use crate::explore::env::{PlainTests, Settings};
use crate::explore::started;
use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::sync::Arc;

/// A process takes as long as some hundred iterations without one.
const ITERATIONS: u64 = 200;

thread_local! {
    /// This thread's test has come to its first world.
    static BEGUN: Cell<bool> = const { Cell::new(false) };
    /// The report of a failure that exploring this thread's test has found. The test fails when it uses its runtime, and
    /// not when it builds it: that may be in the initializer of a static, which others need, too.
    static FAILED: Cell<Option<String>> = const { Cell::new(None) };
}

/// Who tells of the world that was ordered for this test, if it is the first. If none was, the test is explored before
/// that.
///
/// # Errors
/// When a variable does not fit.
///
/// # Panics
/// If the test cannot be run.
#[track_caller]
pub(super) fn first(
    settings: &Settings,
    site: &'static Location<'static>,
) -> io::Result<Option<Teller>> {
    let may_be = !started::by_a_test() && !BEGUN.replace(true);
    let Some(test) = running_test().filter(|_| may_be) else {
        return Ok(None);
    };
    let ordered = match (&settings.replay, &settings.apart) {
        (Some(token), None) => {
            let order = Order::Tell(0, token.clone(), "replay".to_owned(), None);
            Some((order, Where::Screen))
        }
        (None, Some(file)) => Order::find(file).map(|order| (order, Where::File(file.clone()))),
        _ => None,
    };
    if let Some((order, to)) = ordered {
        let campaign = campaign(&test, site)?;
        return Ok(Some(Teller::new(campaign, order, to)));
    }
    if settings.plain_tests == PlainTests::Explore && settings.apart.is_none() {
        match campaign(&test, site)?
            .explore_plain(&test)
            .map_err(io::Error::other)?
        {
            Explored::Passed(line) => tell(&line),
            Explored::Failed(report) => FAILED.set(Some(report)),
            // It must not go on.
            Explored::Unable(why) => panic!("{why}"),
        }
    }
    Ok(None)
}

/// Fails this thread's test with what exploring it has found, if it has not yet.
///
/// # Panics
/// With the report.
#[track_caller]
pub(crate) fn fail_if_found() {
    if let Some(report) = FAILED.take() {
        panic!("{report}");
    }
}

/// The same where a runtime is dropped, maybe by a panic of the code itself, or with the thread-local that holds it,
/// when what a thread has had may be gone.
#[track_caller]
pub(crate) fn fail_at_end() {
    let failed = FAILED.try_with(Cell::take).ok().flatten();
    match failed {
        // The harness captures what is printed, unless it shows it.
        Some(report) if std::thread::panicking() => tell(&report),
        Some(report) => panic!("{report}"),
        None => {}
    }
}

fn campaign(test: &str, site: &'static Location<'static>) -> io::Result<Arc<Campaign>> {
    let checker = Checker {
        test: Some(test.to_owned()),
        ..Checker::new()
            .name(test)
            .iterations(ITERATIONS)
            .late_timers(true)
    };
    let mut campaign = checker.prepare(scenario(site)).map_err(not_understood)?;
    campaign.plain = Some(test.to_owned());
    Ok(Arc::new(campaign))
}

#[expect(
    clippy::print_stdout,
    reason = "the test's one line, captured by the test harness"
)]
fn tell(line: &str) {
    print!("{line}");
}
