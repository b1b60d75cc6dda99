//! What makes a failing schedule what it is: where it departs from plain order, once it has been shortened.

use super::summary::plural;
use crate::explore::{Departure, FailureReport};
use std::fmt::Write as _;

/// Departures shown.
const MOST: usize = 12;

/// What is left of the schedule, of which the rest of the report is.
pub(super) fn shortened(out: &mut String, failure: &FailureReport) {
    let Some(departures) = &failure.departures else {
        return;
    };
    let count = failure.token.trace.decisions().len();
    let differ = match (departures.len(), count) {
        (0, 0) => String::new(),
        (0, 1) => ", which is first in, first out".to_owned(),
        (0, _) => ", all of which are first in, first out".to_owned(),
        (_, 1) => ", which is not first in, first out (marked *)".to_owned(),
        (1, _) => ", one of which is not first in, first out (marked *)".to_owned(),
        (n, _) => format!(", {n} of which are not first in, first out (marked *)"),
    };
    let decisions = plural(count as u64, "decision", "decisions");
    let begin = match &failure.shortened {
        Some(_) if failure.kind.lasts() => format!(
            "shortened: it stands from step {} on; {decisions}{differ}",
            failure.step
        ),
        // What departs in fewer places may take longer.
        Some(before) => format!(
            "{}: it fails at step {} after {decisions}{differ}",
            match before.step < failure.step {
                true => "made plainer",
                false => "shortened",
            },
            failure.step
        ),
        None if count == 0 => return,
        None => format!("{decisions}{differ}"),
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
