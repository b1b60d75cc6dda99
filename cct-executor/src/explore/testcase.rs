//! A test written with the attribute: the checker's run, remembered failures included.

use super::checker::Checker;
use super::env::Settings;
use super::regressions::{self, Case};
use super::result::{FailureReport, Origin, Report};
use crate::task::body::ScenarioResult;
use std::path::{Path, PathBuf};

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
}

impl TestCase {
    /// Replays remembered failures, then explores; remembers a new failure.
    pub(crate) fn run<F, Fut>(self, checker: Checker, scenario: F) -> Report
    where
        F: Fn() -> Fut + Send + Sync + Clone + 'static,
        Fut: Future + 'static,
        Fut::Output: ScenarioResult,
    {
        let checker = checker.name(self.name).test(self.name);
        let settings = match Settings::from_env() {
            Ok(settings) => settings,
            Err(error) => return Report::unable(self.name.to_owned(), error.to_string()),
        };
        let path = regressions::path(Path::new(self.manifest_dir), self.file);
        let mut warnings = Vec::new();
        if let (Some(path), true, None) = (&path, settings.regressions.read(), &settings.replay) {
            let cases = match regressions::load(path, self.name) {
                Ok(cases) => cases,
                Err(error) => return Report::unable(self.name.to_owned(), error.to_string()),
            };
            for case in cases {
                let mut report = checker
                    .clone()
                    .use_environment(false)
                    .replay(case.token)
                    .run(scenario.clone());
                if let Some(failure) = &mut report.failure {
                    failure.origin = Origin::Regression(path.display().to_string());
                    report.heeds_variables = true;
                    return report;
                }
                warnings.extend(report.error.map(|error| stale(path, &error)));
            }
        }
        let mut report = checker.run(scenario);
        report.warnings.splice(0..0, warnings);
        if let (Some(failure), None) = (&report.failure, &settings.replay) {
            let note = self.remember(path, failure, settings.regressions.write());
            report.warnings.extend(note);
        }
        report
    }

    /// Keeps a failing trace, or says which line to add.
    fn remember(
        self,
        path: Option<PathBuf>,
        failure: &FailureReport,
        write: bool,
    ) -> Option<String> {
        let path = path?;
        let reason = failure
            .kind
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned();
        let case = Case {
            test: self.name.to_owned(),
            token: failure.token.clone(),
            reason,
        };
        if !write {
            return Some(format!(
                "to remember this failure, add this line to {}:\n{case}",
                path.display()
            ));
        }
        Some(match regressions::append(&path, &case) {
            Ok(()) => format!("remembered in {}; it runs first next time", path.display()),
            Err(error) => format!("the failure could not be remembered: {error}"),
        })
    }
}

fn stale(path: &Path, error: &str) -> String {
    format!(
        "a remembered failure in {} no longer fits the program; delete its line ({error})",
        path.display()
    )
}
