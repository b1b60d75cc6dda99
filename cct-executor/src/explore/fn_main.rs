//! A `main` that is a scenario: its iterations share one process, while it runs once in each.
//!
//! What sets up something for all of its process, such as a logger or a `OnceLock`, fails in the second iteration, or
//! when the first is repeated, and nowhere else.

use super::checker::running_test;
use super::env::{self, Settings};
use super::result::Report;
use std::process::{Command, Stdio};

/// What to say of a report whose failure does not come in a process of its own, in which its iteration is the only one.
/// `None` if it does, or if nobody knows.
pub(crate) fn left_behind(report: &Report) -> Option<String> {
    let failure = report.failure.as_ref()?;
    let is_main = report.name.ends_with("::main") && running_test().is_none();
    if !is_main || Settings::from_env().ok()?.replay.is_some() {
        return None;
    }
    let mut again = Command::new(std::env::current_exe().ok()?);
    again
        .args(env::arguments())
        .env(env::REPLAY, failure.token.to_string())
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    again.status().ok()?.success().then(|| {
        format!(
            "cct: {} was explored up to iteration {} only. What happened then does not happen in a process of its own, and \
             a `main` runs once in each: what it sets up for all of its process stays, as a logger does, or a \
             `OnceLock`.\n  {}\n",
            report.name,
            failure.iteration() + 1,
            failure.kind
        )
    })
}
