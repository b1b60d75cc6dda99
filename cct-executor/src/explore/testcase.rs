//! A test written with the attribute: the checker's run, remembered failures included.

use super::apart::{self, Once, Says, Task, Verdict};
use super::checker::{Checker, Isolation, running_test};
use super::endless::{self, Followed};
use super::env::Settings;
use super::regressions::{self, Case};
use super::result::{Origin, Report, StoppedBy};
use super::started;
use super::trace_log::Surroundings;
use crate::explore::any_scenario::AnyScenario;
use crate::words::{FailureKind, ReplayToken};
use std::path::{Path, PathBuf};

mod coarser;
mod doubt;
mod once_more;
#[cfg(test)]
mod tests;
mod threads;
mod unheard;

use coarser::{THREADS_OF_OTHERS, where_polls_are_whole, without_atomics};
use doubt::Doubt;
pub(crate) use once_more::BELOW;
pub(crate) use threads::{IS_THERE_ALREADY, ToRunOnce, Told, is_better_run_once};

const NOT_ASKED: &str = "the test could not be run in a process of its own (isolation = \"process\"): its program \
     did not start, or did not run it when asked for it by name";

/// Where a test stands. Filled in by `#[cct_executor::test]`.
#[derive(Clone, Copy, Debug)]
pub struct TestCase {
    /// Full path of the function, crate included.
    pub name: &'static str,
    /// `CARGO_MANIFEST_DIR` of its crate.
    pub manifest_dir: &'static str,
    /// `file!()` of the function.
    pub file: &'static str,
    /// `line!()` of the function.
    pub line: u32,
    /// With `#[should_panic]`, what the panic is expected to say: such failures are no news, and are not remembered.
    pub should_panic: Option<&'static str>,
    /// Whether it is tokio's own attribute that it has.
    pub of_tokio: bool,
}

/// The name of one case of a test that has parameters, which only the harness knows.
#[must_use]
pub fn case_name(test: &'static str) -> &'static str {
    let Some((package, path)) = test.split_once("::") else {
        return test;
    };
    let is_case = |name: &String| {
        name.strip_prefix(path)
            .is_some_and(|rest| rest.starts_with("::"))
    };
    match running_test().filter(is_case) {
        Some(name) => format!("{package}::{name}").leak(),
        None => test,
    }
}

/// What has become of a test.
pub(crate) enum Judged {
    /// It ran in this process.
    Here(Box<Report>),
    /// It ran in a process of its own, which says this.
    Apart(Verdict),
    /// This process was started for it, and has told whoever started it.
    Told,
    /// It is to be run once, with threads taking part.
    Once(ToRunOnce),
    /// It was run so in a process of its own; and why.
    OnceApart { once: Once, why: String },
}

impl TestCase {
    /// Runs it where it belongs; a failure here that may come of what others have left behind in another process
    /// as well.
    pub(crate) fn judge(self, checker: Checker, scenario: AnyScenario) -> Judged {
        let coarser = (checker.clone(), scenario.clone());
        let settings = match Settings::from_env() {
            Ok(settings) => settings,
            Err(error) => return Judged::here(self.unable(&error)),
        };
        // A limit that was chosen is not raised, and says that a test need not end.
        let checker = match settings.max_steps {
            Some(steps) => checker.max_steps(steps),
            None => checker,
        };
        let checker = Checker {
            gives_way: threads::are_welcome(&settings),
            ..checker
        };
        let start_paused = checker.world.start_paused;
        if let Some(to_run) = threads::asked_for(&settings, start_paused) {
            return Judged::Once(to_run);
        }
        if started::is_to_be_run_once() {
            return Judged::Once(ToRunOnce {
                start_paused,
                to: Told::Nobody,
            });
        }
        if let Some(file) = &settings.apart {
            // What else is tried for a replay runs in copies of this process, in which nothing has run.
            let mut checker = checker;
            if settings.replay.is_some() && cfg!(unix) {
                checker.isolation = Isolation::Process;
            }
            let mut report = self.explore(self.named(checker.clone()), scenario.clone(), &settings);
            let patiently = |token: ReplayToken| {
                let mut patient = self.named(checker).use_environment(false);
                patient.world.patient = true;
                let replay = |it: Checker| it.replay(token.clone()).explore(scenario.clone());
                self.heedless(&mut patient, &scenario, replay)
            };
            let take_part = threads::take_part(&report, &settings);
            let why = take_part.or_else(|| threads::may_overtake(&report, &settings, patiently));
            if why.is_none() {
                self.remember(&mut report, &settings);
            }
            apart::tell(file, &report, why);
            return Judged::Told;
        }
        let isolation = settings.isolation.unwrap_or(checker.isolation);
        let can_be_asked = apart::can_be_asked(self.path());
        let asks = can_be_asked && isolation == Isolation::Process && settings.replay.is_none();
        let surroundings = Surroundings::of_this_thread();
        let mut report = match self.replay_remembered(&checker, &scenario, &settings) {
            Ok(stale) if asks => match apart::ask(self.path(), &Task::Explore) {
                Some(Verdict {
                    says: Says::Threads(why),
                    ..
                }) => return threads::once(self, &why, start_paused, true),
                Some(verdict) => return Judged::Apart(verdict.with(&stale)),
                None => Report::unable(self.name.to_owned(), NOT_ASKED.to_owned()),
            },
            Ok(stale) => {
                let mut report = self.explore(self.named(checker), scenario, &settings);
                report.warnings.splice(0..0, stale);
                report
            }
            Err(report) => *report,
        };
        // Its replay did not hear what the test itself has made to listen, and a second one here would find what it left.
        if let (Some(token), true) = (
            &settings.replay,
            can_be_asked && surroundings.have_changed(),
        ) {
            if let Some(verdict) = apart::ask(self.path(), &Task::Replay(token)) {
                return Judged::Apart(verdict);
            }
        }
        let chosen = settings.isolation.is_some() || isolation == Isolation::Process;
        // What the very first iteration ran into was left by none.
        let is_first = report
            .failure
            .as_ref()
            .is_some_and(|failure| failure.iteration() == 0);
        let by_threads = is_first && threads::its_own_take_part(&report, &settings).is_some();
        let mut stands = false;
        if can_be_asked && !chosen && self.should_panic.is_none() && !by_threads {
            match doubt::look(&report, self.path(), &settings) {
                Doubt::Apart(verdict) => return Judged::Apart(verdict),
                Doubt::Threads(why) => return threads::once(self, &why, start_paused, true),
                Doubt::Note(note) => report.warnings.push(note),
                Doubt::Stands => stands = true,
                Doubt::None => {}
            }
        }
        if settings.granularity.is_none() && settings.replay.is_none() {
            if let Some(checker) = without_atomics(&coarser.0, &report) {
                let scenario = coarser.1;
                return self.judge(checker, scenario).with(THREADS_OF_OTHERS);
            }
        }
        // Threads of other tests have no part in a panic that is expected: this one is run in no other process.
        let take_part = match self.should_panic {
            Some(_) => threads::its_own_take_part(&report, &settings),
            None => threads::take_part(&report, &settings),
        };
        let why = take_part.filter(|_| !stands);
        if let Some(why) = why {
            let asks = can_be_asked && settings.isolation.is_none();
            return threads::once(self, &why, start_paused, asks);
        }
        self.remember(&mut report, &settings);
        Judged::here(report)
    }

    /// Replays remembered failures, then explores; remembers a new failure.
    #[cfg(test)]
    fn run<F, Fut>(self, checker: Checker, scenario: F) -> Report
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
        Fut::Output: crate::ScenarioResult,
    {
        match self.judge(checker, AnyScenario::new(scenario)) {
            Judged::Here(report) => *report,
            _ => panic!("it ran elsewhere"),
        }
    }

    /// The function as the harness names it: without its crate.
    fn path(self) -> &'static str {
        self.name.split_once("::").map_or("", |(_, path)| path)
    }

    fn unable(self, error: &impl ToString) -> Report {
        Report::unable(self.name.to_owned(), error.to_string())
    }

    fn named(self, checker: Checker) -> Checker {
        let mut checker = checker.name(self.name).test(self.name);
        checker.usual_limits = !checker.chosen_limits && !checker.world.fail_on_limit;
        // Nobody reads the report of a failure that is expected.
        checker.shrink &= self.should_panic.is_none();
        checker.world.forgives_at_end = self.of_tokio;
        checker.world.numbered_errors = self.of_tokio;
        checker
    }

    fn file(self) -> Option<PathBuf> {
        regressions::path(Path::new(self.manifest_dir), self.file)
    }

    /// Replays what is remembered, if it is to be read. Returns what to say of what no longer fits.
    ///
    /// # Errors
    /// With the report of a failure, or if the file cannot be understood.
    fn replay_remembered(
        self,
        checker: &Checker,
        scenario: &AnyScenario,
        settings: &Settings,
    ) -> Result<Vec<String>, Box<Report>> {
        let mut stale = Vec::new();
        let (Some(path), true, None) = (self.file(), settings.regressions.read(), &settings.replay)
        else {
            return Ok(stale);
        };
        let mut checker = self.named(checker.clone()).use_environment(false);
        let cases = regressions::load(&path, self.name);
        for case in cases.map_err(|error| self.unable(&error))? {
            if !case.token.granularity.is_there() {
                stale.push(takes_atomics(&path));
                continue;
            }
            let replay = |checker: Checker| {
                let replay = checker.replay(case.token.clone());
                replay.explore(scenario.clone())
            };
            let mut report = self.heedless(&mut checker, scenario, replay);
            if let Some(failure) = &mut report.failure {
                failure.origin = Origin::Regression(path.display().to_string());
                report.heeds_variables = true;
                report.replay_with.clone_from(&settings.replay_with);
                report.rows = settings.report_rows;
                return Err(Box::new(report));
            }
            // What keeps a replay from beginning keeps the run from it too, which says so.
            if report.stopped_by == StoppedBy::Replay {
                stale.extend(report.error.map(|error| no_longer_fits(&path, &error)));
            }
        }
        Ok(stale)
    }

    /// Runs it; with tokio's attribute once more, if nothing has failed it but panics that plain order has as well.
    fn heedless(
        self,
        checker: &mut Checker,
        scenario: &AnyScenario,
        run: impl Fn(Checker) -> Report,
    ) -> Report {
        let report = run(checker.clone());
        let found = self
            .of_tokio
            .then(|| unheard::heedless(checker, scenario, &report));
        let Some((heedless, note)) = found.flatten() else {
            return report;
        };
        *checker = heedless;
        let mut report = run(checker.clone());
        report.warnings.push(note);
        report
    }

    fn explore(self, mut checker: Checker, scenario: AnyScenario, settings: &Settings) -> Report {
        let run = |checker: Checker| {
            let report = to_the_end(checker.clone(), scenario.clone());
            let Some((coarser, note)) = where_polls_are_whole(&checker, settings, &report) else {
                return report;
            };
            let mut report = to_the_end(coarser, scenario.clone());
            report.warnings.push(note);
            report
        };
        let mut report = self.heedless(&mut checker, &scenario, run);
        let is_a_search = settings.replay.is_none() && self.should_panic.is_none();
        let waits = report.endless.is_some();
        if report.passed() && is_a_search && !checker.chosen_limits && !waits {
            let ends = self
                .of_tokio
                .then(|| endless::ends_in_order(&report, &checker, &scenario));
            match ends.flatten() {
                Some(note) => report.warnings.push(note),
                None => endless::look(&mut report, checker, scenario),
            }
        }
        report
    }

    /// Keeps a failing trace, or says which line to add.
    fn remember(self, report: &mut Report, settings: &Settings) {
        let is_news = settings.replay.is_none() && self.should_panic.is_none();
        let (Some(failure), Some(path), true) = (&report.failure, self.file(), is_news) else {
            return;
        };
        // What does not repeat itself would not the next time.
        let varies = matches!(failure.kind, FailureKind::Nondeterminism { .. });
        if varies || matches!(failure.origin, Origin::Regression(_)) {
            return;
        }
        let reason = failure.kind.to_string();
        let case = Case {
            test: self.name.to_owned(),
            token: failure.token.clone(),
            reason: reason.lines().next().unwrap_or_default().to_owned(),
        };
        report.warnings.push(if !settings.regressions.write() {
            format!(
                "to remember this failure, add this line to {}:\n{case}",
                path.display()
            )
        } else {
            match regressions::append(&path, &case) {
                Ok(()) => format!("remembered in {}; it runs first next time", path.display()),
                Err(error) => format!("the failure could not be remembered: {error}"),
            }
        });
    }
}

impl Judged {
    /// With more to be noted.
    fn with(self, note: &str) -> Judged {
        match self {
            Judged::Here(mut report) => {
                report.warnings.push(note.to_owned());
                Judged::Here(report)
            }
            Judged::Apart(verdict) => Judged::Apart(verdict.with(&[note.to_owned()])),
            Judged::Told | Judged::Once(_) | Judged::OnceApart { .. } => self,
        }
    }

    fn here(report: Report) -> Judged {
        Judged::Here(Box::new(report))
    }
}

/// So many iterations show whether any comes to its end, where the first seems to hang: that is told under the usual limits.
const TRIED_FIRST: u64 = 8;

/// Runs the scenario, and anew with higher limits if its first iteration takes more steps or tasks than is usual; but not
/// where that one would hang, and nothing shows that more steps lead to the end.
fn to_the_end(checker: Checker, scenario: AnyScenario) -> Report {
    let mut usual = checker.clone();
    usual.usual_limits = false;
    let mut longer = checker.clone();
    longer.world.limits.raise();
    let report = checker.explore(scenario.clone());
    if !(longer.usual_limits && report.passed() && report.first_was_long) {
        return report;
    }
    longer.usual_limits = false;
    if report.first_would_hang {
        // What it waits for is seen in one, if that is nothing that time brings here.
        let story = usual
            .gives_way
            .then(|| endless::story(usual.clone(), scenario.clone()));
        if let Some(endless) = story
            .flatten()
            .filter(|it| threads::waited_for(it).is_some())
        {
            return Report {
                endless: Some(endless),
                ..report
            };
        }
        let few = usual.clone().iterations(usual.iterations.min(TRIED_FIRST));
        let tried = few.explore(scenario.clone());
        if !tried.passed() || tried.cut() < tried.iterations {
            return usual.explore(scenario);
        }
        // Nothing but time seems to go on. If it needs more, plain order shows it, and soon.
        let steps = endless::end_in_order(&longer, &scenario, 1);
        if steps.is_none_or(|steps| steps > longer.world.limits.steps) {
            return Report {
                followed: Some(Followed(steps)),
                ..tried
            };
        }
    }
    let (raised, usual) = (longer.world.limits, usual.world.limits);
    let mut report = longer.explore(scenario);
    report.warnings.push(format!(
        "max_steps was raised to {} and max_tasks to {}, as the first iteration takes more than {} steps or {} tasks",
        raised.steps, raised.tasks, usual.steps, usual.tasks
    ));
    report
}

fn takes_atomics(path: &Path) -> String {
    format!(
        "a remembered failure in {} was not tried: that takes `cargo cct test --atomics`",
        path.display()
    )
}

fn no_longer_fits(path: &Path, error: &str) -> String {
    format!(
        "a remembered failure in {} no longer fits the program; delete its line ({error})",
        path.display()
    )
}
