//! What makes a failing schedule what it is: where it departs from plain order, once it has been shortened.

use super::summary::plural;
use crate::explore::{Departure, FailureReport};
use std::fmt::Write as _;

/// Rows of departures shown.
const MOST: usize = 12;
/// So many departures in a row that pass over the same are told as one.
const HELD_BACK: usize = 3;

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
    let rows = rows(departures);
    // Of many, those that come right before the failure decide more often than the first.
    let before = rows.len().saturating_sub(MOST);
    if before > 0 {
        let hidden: usize = rows[..before].iter().map(|row| row.len()).sum();
        let _ = writeln!(out, "    ... {hidden} before these");
    }
    for row in &rows[before..] {
        told(out, row);
    }
}

/// The departures by what they have instead of: a task that is held back is passed over again and again.
fn rows(departures: &[Departure]) -> Vec<&[Departure]> {
    let same = |one: &Departure, next: &Departure| {
        !one.is_value && !next.is_value && one.plain == next.plain
    };
    let runs = departures.chunk_by(same);
    runs.flat_map(|run| run.chunks(if run.len() < HELD_BACK { 1 } else { run.len() }))
        .collect()
}

fn told(out: &mut String, row: &[Departure]) {
    let [first, more @ ..] = row else {
        return;
    };
    let Departure {
        step, taken, plain, ..
    } = first;
    let not = if first.is_value { "not" } else { "before" };
    let _ = writeln!(out, "    step {step}: {taken}, {not} {plain}");
    if let [.., last] = more {
        let _ = writeln!(
            out,
            "      that is held back by {} more, the last of them in step {}: {}",
            more.len(),
            last.step,
            last.taken
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn departure(step: u64, taken: &str, plain: &str) -> Departure {
        Departure {
            step,
            taken: taken.to_owned(),
            plain: plain.to_owned(),
            is_value: plain == "0",
        }
    }

    #[test]
    fn a_task_that_is_held_back_is_told_of_once() {
        let departures = [
            departure(1, "task 1, start", "task 2, start"),
            departure(2, "task 1, send", "task 2, start"),
            departure(4, "1", "0"),
            departure(5, "2", "0"),
            departure(6, "3", "0"),
            departure(7, "task 1, recv", "task 3, start"),
            departure(8, "task 1, send", "task 3, start"),
            departure(9, "task 4, start", "task 3, start"),
        ];
        let mut out = String::new();
        for row in rows(&departures) {
            told(&mut out, row);
        }
        let expected = "    step 1: task 1, start, before task 2, start
    step 2: task 1, send, before task 2, start
    step 4: 1, not 0
    step 5: 2, not 0
    step 6: 3, not 0
    step 7: task 1, recv, before task 3, start
      that is held back by 2 more, the last of them in step 9: task 4, start\n";
        assert_eq!(out, expected);
    }
}
