//! From results to text: pure functions, nothing is printed here.

mod at_await;
mod budget;
mod earlier;
pub(crate) mod failure;
mod foreign;
mod panics;
mod shortened;
mod steps;
mod still;
mod summary;
mod tasks;
mod traced;

pub use failure::failure_text;
use failure::shows_nothing;
pub use summary::summary_line;

use crate::explore::Report;

impl Report {
    /// The whole report as text: one line for a run that passed, the story of a failure otherwise.
    pub fn text(&self) -> String {
        let mut text = match (&self.error, &self.failure) {
            (Some(error), _) if self.endless.is_some() => shows_nothing(self, error),
            (Some(error), _) => format!("cct: {} could not be run: {error}\n", self.name),
            (None, Some(failure)) => failure_text(self, failure),
            (None, None) => format!("{}\n", summary_line(self)),
        };
        for remark in &self.remarks {
            text.push_str(&format!("  strategy: {remark}\n"));
        }
        for warning in &self.warnings {
            text.push_str(&format!("  note: {warning}\n"));
        }
        text
    }

    /// Panics with the report's text if something failed, or if the run could not begin. A failure
    /// that would have aborted the process does so now, once the text is on standard error.
    ///
    /// # Panics
    /// On a failure, at the caller's line.
    #[track_caller]
    pub fn assert_passed(&self) {
        self.abort_if_due();
        assert!(self.passed(), "{}", self.text());
    }
}
