//! The worlds of a test without an attribute: explored before the first one begins, or one that was ordered.

use super::{not_understood, scenario};
use crate::explore::apart::{Explored, Order, PlainWorld, Teller, Where, explore_plain};
use crate::explore::campaign::Campaign;
use crate::explore::checker::{Checker, running_test};
use crate::explore::env::{PlainTests, Settings, run_again_with};
use crate::explore::started;
use std::cell::Cell;
use std::io;
use std::panic::Location;
use std::path::PathBuf;
use std::sync::Arc;

/// A process takes as long as some hundred iterations without one.
const ITERATIONS: u64 = 200;

const DRAWS: &str = "  note: the test draws what is random before its runtime, and has drawn otherwise in that iteration: what a \
     framework says of inputs below is not of this failure, and is where it is replayed\n";

thread_local! {
    /// How many worlds this thread's test has come to.
    static BEGUN: Cell<u32> = const { Cell::new(0) };
    /// The report of a failure that exploring this thread's test has found. The test fails when it uses its runtime, and
    /// not when it builds it: that may be in the initializer of a static, which others need, too.
    static FAILED: Cell<Option<String>> = const { Cell::new(None) };
}

/// What this process is to tell of a world.
pub(super) enum ToTell {
    /// It was ordered.
    All(Teller),
    /// How many decisions it takes, beside the answer that goes here.
    Decisions(PathBuf),
}

/// What is to be told of the next world of this thread's test. Where nobody has ordered one, the test is explored before its
/// first. Where a token is replayed, and the test draws outside of its worlds what is random, the program begins again, so
/// that it draws what it drew in the iteration of the token.
///
/// # Errors
/// When a variable does not fit.
///
/// # Panics
/// If the test cannot be run.
#[track_caller]
pub(super) fn next(
    settings: &Settings,
    site: &'static Location<'static>,
) -> io::Result<Option<ToTell>> {
    let Some(test) = running_test().filter(|_| !started::by_a_test()) else {
        return Ok(None);
    };
    let number = BEGUN.replace(BEGUN.get() + 1);
    let campaign = |world| campaign(&test, world, site);
    let ordered = match (&settings.replay, &settings.apart) {
        (Some(token), None) => {
            let of_token = PlainWorld::of_token(token, &test);
            // Of another test's the campaign says so.
            let world = of_token.as_ref().map_or(0, |plain| plain.world);
            let draws = number == 0 && (world > 0 || cct_interpose::drawn());
            if draws && of_token.is_some() && settings.outside.is_none() {
                // Where it cannot, the schedule may fit all the same.
                let _ = run_again_with(token.noise);
            }
            let order = Order::Tell(0, token.clone(), "replay".to_owned(), None);
            Some((world, order, Where::Screen))
        }
        (None, Some(file)) => {
            let found = Order::find(file);
            found.map(|(world, order)| (world, order, Where::File(file.clone())))
        }
        _ => None,
    };
    match ordered {
        Some((world, order, to)) if world == number => {
            let teller = Teller::new(Arc::new(campaign(world)?), order, to);
            return Ok(Some(ToTell::All(teller)));
        }
        Some((_, Order::Plain, Where::File(file))) => return Ok(Some(ToTell::Decisions(file))),
        Some(_) => return Ok(None),
        None => {}
    }
    let is_first = number == 0 && settings.apart.is_none();
    if is_first && settings.plain_tests == PlainTests::Explore {
        match explore_plain(&test, &campaign)? {
            Explored::Passed(lines) => tell(&lines),
            Explored::Failed(report) => FAILED.set(Some(report + note_on_draws())),
            // It must not go on.
            Explored::Unable(why) => panic!("{why}"),
        }
    }
    Ok(None)
}

/// What is to be said where the inputs of the failure are not those of this run.
fn note_on_draws() -> &'static str {
    match cct_interpose::drawn() {
        true => DRAWS,
        false => "",
    }
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

fn campaign(test: &str, world: u32, site: &'static Location<'static>) -> io::Result<Campaign> {
    let plain = PlainWorld {
        test: test.to_owned(),
        world,
    };
    let mut checker = Checker {
        test: Some(test.to_owned()),
        ..Checker::new()
            .name(plain.to_string())
            .iterations(ITERATIONS)
            .late_timers(true)
    };
    checker.world.numbered_errors = true;
    let mut campaign = checker.prepare(scenario(site)).map_err(not_understood)?;
    campaign.plain = Some(plain);
    Ok(campaign)
}

#[expect(
    clippy::print_stdout,
    reason = "the test's one line, captured by the test harness"
)]
fn tell(line: &str) {
    print!("{line}");
}
