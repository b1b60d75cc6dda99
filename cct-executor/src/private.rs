//! What the expansions of macros call. No part of the API.

#[path = "private/given.rs"]
mod given;

pub use given::{ByClones, ByOnce, Given};

pub use crate::macros::maybe_done::{MaybeDone, maybe_done, maybe_ok};
pub use cct_macros::{join, select, try_join};

use crate::execution::world::WORLD;
use crate::task::coop;
use std::panic::{Location, resume_unwind};
use std::task::{Context, Poll, ready};

/// The branch that `select!` polls first, drawn anew at every poll.
#[inline]
#[track_caller]
pub fn select_start(branches: u32) -> u32 {
    let site = Location::caller();
    WORLD.with(|world| world.choose(branches, &[], ("select!", Some(site))))
}

/// Whether the task has budget left. Nothing is spent: the futures of the branches do that.
#[inline]
pub fn select_budget(cx: &mut Context<'_>) -> Poll<()> {
    let _restored_when_dropped = ready!(coop::poll_proceed(cx));
    Poll::Ready(())
}

/// A false `always!`.
#[cold]
pub fn always_failed(message: String, location: &'static Location<'static>) {
    crate::shim::broken(message, location);
}

/// A `sometimes!` was evaluated.
pub fn sometimes(reached: bool, name: &'static str, file: &'static str, line: u32) {
    crate::observe::sometimes(reached, name, file, line);
}

/// A `watermark!` was evaluated.
pub fn watermark(name: &'static str, value: u64, file: &'static str, line: u32) {
    crate::observe::watermark(name, value, file, line);
}

/// A `waypoint!` was reached.
pub fn waypoint(
    name: &'static str,
    holds: fn(&crate::words::Observations) -> bool,
    file: &'static str,
    line: u32,
) {
    crate::observe::waypoint(name, holds, file, line);
}

use crate::explore::any_scenario::AnyScenario;
use crate::explore::apart::{Says, tell_once};
use crate::explore::fn_main::left_behind;
use crate::explore::lone::{is_part_of_a_test, open_to_threads};
use crate::explore::started;
use crate::explore::testcase::{BELOW, Judged, ToRunOnce, Told, is_better_run_once};
pub use crate::explore::testcase::{TestCase, case_name};

/// What flavor `local` makes of a scenario: it may spawn what is not `Send`.
pub fn on_one_thread<F: Future>(scenario: F) -> impl Future<Output = F::Output> {
    // Here and below it is on the heap before it is a part of another future, which would be twice as large.
    let scenario = Box::pin(scenario);
    current_thread(async {
        let set = crate::task::LocalSet::new();
        set.run_until(scenario).await
    })
}

/// What flavor `current_thread` makes of a scenario: its runtime says that it has one thread.
pub fn current_thread<F: Future>(scenario: F) -> impl Future<Output = F::Output> {
    let scenario = Box::pin(scenario);
    async {
        crate::task::one_thread_from_now_on();
        scenario.await
    }
}

/// What flavor `multi_thread` makes of a scenario: none of its runtime's threads runs the scenario itself.
pub fn multi_thread<F: Future>(scenario: F) -> impl Future<Output = F::Output> {
    crate::task::unscheduled(Box::pin(scenario))
}

/// What a scenario that is no `async fn` is: a closure that may block.
pub fn blocking<R>(scenario: impl FnOnce() -> R) -> impl Future<Output = R> {
    crate::task::blocking_body(scenario)
}

/// Whether a `main` is run where it is called, on a runtime that it builds: there is a world, or a test calls it that
/// is run or explored as it is, of which it is a part.
#[must_use]
pub fn is_no_scenario() -> bool {
    crate::runtime::Handle::try_current().is_ok() || is_part_of_a_test()
}

/// Runs a `main` that is a scenario itself.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn run_main<F, Fut>(name: &str, start_paused: bool, scenario: F)
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future + 'static,
    Fut::Output: crate::ScenarioResult,
{
    let site = Location::caller();
    let scenario = AnyScenario::new(scenario);
    if started::is_to_be_run_once() {
        return run_program(site, start_paused, scenario);
    }
    let checker = crate::Checker::new().name(name).start_paused(start_paused);
    let report = checker.explore(scenario.clone());
    if let Some(why) = is_better_run_once(&report) {
        tell(&why);
        return run_once(site, start_paused, scenario);
    }
    if let Some(why) = left_behind(&report) {
        return tell(&why);
    }
    report.assert_passed();
    tell(&report.text());
}

/// Runs a test written with the attribute.
///
/// # Panics
/// If it fails.
#[track_caller]
pub fn run_test<F, Fut>(case: TestCase, checker: crate::Checker, scenario: F)
where
    F: Fn() -> Fut + Send + Sync + 'static,
    Fut: Future + 'static,
    Fut::Output: crate::ScenarioResult,
{
    run_any_test(case, checker, AnyScenario::new(scenario));
}

/// Runs a test whose parameters are there once.
///
/// # Panics
/// If it fails, or is not to be run so.
#[track_caller]
pub(crate) fn run_test_once(
    case: TestCase,
    checker: crate::Checker,
    scenario: impl Future<Output = Result<(), String>>,
) {
    let site = Location::caller();
    let ToRunOnce { start_paused, to } = match case.with_what_is_there_once(&checker) {
        Ok(to_run) => to_run,
        Err(error) => panic!("{error}"),
    };
    if let Told::Here(why) = to {
        tell(&why);
    }
    if let Err(error) = result_of(site, start_paused, scenario) {
        panic!("{error}");
    }
}

#[track_caller]
fn run_any_test(case: TestCase, checker: crate::Checker, scenario: AnyScenario) {
    let site = Location::caller();
    match case.judge(checker.clone(), scenario.clone()) {
        Judged::Here(report) if report.passed() => tell(&report.text()),
        Judged::Here(report) => {
            report.abort_if_due();
            if let Some(once_more) = case.once_more(&report, checker, scenario) {
                tell(BELOW);
                once_more.run();
            }
            fail(report.text(), case.should_panic);
        }
        Judged::Apart(verdict) if verdict.says == Says::Passed => tell(&verdict.text),
        Judged::Apart(verdict) => fail(verdict.text, case.should_panic),
        Judged::Told => {}
        Judged::Once(ToRunOnce { start_paused, to }) => {
            let run = || run_once(site, start_paused, scenario);
            match to {
                Told::Here(why) => {
                    // Before it runs: a panic is easier to read with the reason above it, and nothing comes after it.
                    tell(&why);
                    run();
                }
                Told::File(file) => tell_once(&file, run),
                Told::Nobody => run(),
            }
        }
        Judged::OnceApart { once, why } => {
            tell(&why);
            tell(&once.output);
            if let Some(message) = once.failure {
                // What is to be said of it was said there.
                resume_unwind(Box::new(message));
            }
        }
    }
}

/// Runs a scenario on this thread, with threads taking part.
///
/// # Panics
/// If it fails.
fn run_once(site: &'static Location<'static>, start_paused: bool, scenario: AnyScenario) {
    if let Err(error) = result_of(site, start_paused, scenario.start()) {
        panic!("{error}");
    }
}

/// Runs a `main` as it is where nobody explores it. If it ends in an error, so does the process.
#[expect(
    clippy::print_stderr,
    reason = "as the standard library does for a `main`"
)]
fn run_program(site: &'static Location<'static>, start_paused: bool, scenario: AnyScenario) {
    if let Err(error) = result_of(site, start_paused, scenario.start()) {
        eprintln!("Error: {error}");
        std::process::exit(1);
    }
}

/// In a world that begins with frozen time, or not.
fn result_of(
    site: &'static Location<'static>,
    start_paused: bool,
    scenario: impl Future<Output = Result<(), String>>,
) -> Result<(), String> {
    // Dropped after the runtime: while one lives the world goes on.
    let world = open_to_threads(site).expect("there is memory for a stack");
    let runtime = crate::runtime::Builder::new_multi_thread()
        .enable_all()
        .start_paused(start_paused)
        .build()
        .expect("a world around us");
    let result = runtime.block_on(scenario);
    drop((runtime, world));
    result
}

/// Panics with a report. If it says what is expected the harness looks for that in all of it, and reading on is told
/// no more than what failed.
///
/// # Panics
/// Always.
#[track_caller]
fn fail(text: String, expected: Option<&str>) -> ! {
    if !expected.is_some_and(|part| text.contains(part)) {
        panic!("{text}");
    }
    let mut lines = text.lines();
    for line in lines.by_ref().take(2) {
        tell(&format!("{line}\n"));
    }
    // The hook, which would print it, is not asked.
    resume_unwind(Box::new(text));
}

#[expect(
    clippy::print_stdout,
    reason = "the test's one line, captured by the test harness"
)]
fn tell(text: &str) {
    print!("{text}");
}
