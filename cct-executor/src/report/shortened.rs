//! What makes a failing schedule what it is: where it departs from plain order, once it has been shortened.

use crate::explore::{Departure, FailureReport};
use std::fmt::Write as _;

/// Departures shown.
const MOST: usize = 12;

/// What is left of the schedule, of which the rest of the report is.
pub(super) fn shortened(out: &mut String, failure: &FailureReport) {
    let Some(departures) = &failure.departures else {
        return;
    };
    let differ = match departures.len() {
        0 => "all of which are first in, first out".to_owned(),
        1 => "one of which is not first in, first out (marked *)".to_owned(),
        n => format!("{n} of which are not first in, first out (marked *)"),
    };
    let decisions = failure.token.trace.decisions().len();
    let begin = match &failure.shortened {
        Some(_) if failure.kind.lasts() => format!(
            "shortened: it stands from step {} on; {decisions} decisions, {differ}",
            failure.step
        ),
        Some(_) => format!(
            "shortened: it fails at step {} after {decisions} decisions, {differ}",
            failure.step
        ),
        None if decisions == 0 => return,
        None => format!("{decisions} decisions, {differ}"),
    };
    let cut_short = match &failure.shortened {
        Some(shortened) if !shortened.complete => ";\n  there was no time to look for less",
        _ => "",
    };
    let end = if departures.is_empty() { "" } else { ":" };
    let _ = writeln!(out, "  {begin}{cut_short}{end}");
    // Of many, those that come right before the failure decide more often than the first.
    let before = departures.len().saturating_sub(MOST);
    if before > 0 {
        let _ = writeln!(out, "    ... {before} before these");
    }
    for departure in &departures[before..] {
        line(out, departure);
    }
}

fn line(out: &mut String, departure: &Departure) {
    let Departure {
        step, taken, plain, ..
    } = departure;
    let not = if departure.is_value { "not" } else { "before" };
    let _ = writeln!(out, "    step {step}: {taken}, {not} {plain}");
}
