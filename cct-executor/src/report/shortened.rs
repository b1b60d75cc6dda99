//! What a failing schedule was shortened to.

use crate::explore::{Departure, FailureReport};
use std::fmt::Write as _;

/// Departures shown.
const MOST: usize = 12;

/// What is left of the schedule, of which the rest of the report is.
pub(super) fn shortened(out: &mut String, failure: &FailureReport) {
    let Some(shortened) = &failure.shortened else {
        return;
    };
    let departures = &shortened.departures;
    let differs = match departures.len() {
        0 => "all of which are first in, first out".to_owned(),
        1 => "one of which is not first in, first out (marked *)".to_owned(),
        n => format!("{n} of which are not first in, first out (marked *)"),
    };
    let cut_short = match shortened.complete {
        true => "",
        false => ";\n  there was no time to look for less",
    };
    let end = if departures.is_empty() { "" } else { ":" };
    let _ = writeln!(
        out,
        "  shortened: it fails at step {} after {} decisions, {differs}{cut_short}{end}",
        failure.step,
        failure.token.trace.decisions().len()
    );
    for departure in departures.iter().take(MOST) {
        line(out, departure);
    }
    if departures.len() > MOST {
        let _ = writeln!(out, "    ... and {} more", departures.len() - MOST);
    }
}

fn line(out: &mut String, departure: &Departure) {
    let Departure {
        step, taken, plain, ..
    } = departure;
    let not = if departure.is_value { "not" } else { "before" };
    let _ = writeln!(out, "    step {step}: {taken}, {not} {plain}");
}
