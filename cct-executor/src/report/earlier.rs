//! What the end is explained by, of the steps that come before the last ones: faults, departures, and what was
//! going on around them; and where there is room, what was given up, maybe in the middle of something.

use super::steps::{Line, Row};
use crate::words::OpKind;
use crate::words::explanation::Step;

/// Lines shown.
const EARLIER: usize = 30;
/// Rows shown before and after a fault or a departure: as many as there is room for, and at least what was overtaken.
const AROUND: [(usize, usize); 3] = [(2, 3), (1, 1), (1, 0)];

/// Cancellations shown at most: a program may have one for each message.
const CANCELLATIONS: usize = 6;

/// The lines of it, and what they are called.
pub(super) fn earlier<'a>(rows: &[Row<'a>]) -> (Vec<Line<'a>>, String) {
    let mut named = Vec::new();
    if rows.iter().any(|row| is_fault(row.step)) {
        named.push("faults");
    }
    if rows.iter().any(|row| row.departs) {
        named.push("departures");
    }
    let mut shown = Vec::new();
    for (before, after) in AROUND {
        shown = around(rows, before, after);
        if shown.len() <= EARLIER {
            break;
        }
    }
    let cancelled = cancellations(rows, &shown);
    if !cancelled.is_empty() {
        named.push("cancellations");
        shown.extend(cancelled);
        shown.sort_unstable();
    }
    let named = match &named[..] {
        [] => return (Vec::new(), String::new()),
        [all @ .., last] if !all.is_empty() => format!("{} and {last}", all.join(", ")),
        all => all.concat(),
    };
    // The end follows from what came after the last of them.
    let after_last = shown.last().map_or(0, |last| last + 1);
    let room = EARLIER.saturating_sub(shown.len());
    shown.extend((after_last..rows.len()).take(room));
    let shown = &shown[shown.len().saturating_sub(EARLIER)..];
    let mut lines = Vec::new();
    for (i, &at) in shown.iter().enumerate() {
        lines.push(Line::Step(rows[at]));
        let next = shown.get(i + 1).copied().unwrap_or(rows.len());
        if next != at + 1 {
            lines.push(Line::Gap);
        }
    }
    (lines, format!(", and the {named} before them"))
}

/// The last rows, as many as there is room for, in which something is given up, and that are not shown anyway.
fn cancellations(rows: &[Row<'_>], shown: &[usize]) -> Vec<usize> {
    let room = EARLIER.saturating_sub(shown.len()).min(CANCELLATIONS);
    let given_up = |&at: &usize| is_cancellation(rows[at].step) && !shown.contains(&at);
    (0..rows.len()).rev().filter(given_up).take(room).collect()
}

/// The indices of all rows that are so near to a fault or a departure.
fn around(rows: &[Row<'_>], before: usize, after: usize) -> Vec<usize> {
    let mut shown = Vec::new();
    let mut next = 0;
    for (at, row) in rows.iter().enumerate() {
        if row.departs || is_fault(row.step) {
            let end = (at + 1 + after).min(rows.len());
            shown.extend(next.max(at.saturating_sub(before))..end);
            next = next.max(end);
        }
    }
    shown
}

/// Faults and what mends them are nobody's steps.
fn is_fault(step: &Step) -> bool {
    step.task.is_none() && step.what.starts_with("fault ")
}

/// A future is dropped before it was ready, or a task is.
fn is_cancellation(step: &Step) -> bool {
    let over = OpKind::Elapsed.name();
    step.what.starts_with(over) || &*step.what == Step::DROPPED
}

#[cfg(test)]
mod tests {
    use super::super::steps::tests::{step, with_departures};
    use super::EARLIER;

    #[test]
    fn departures_are_shown_with_what_was_going_on_there() {
        let mut steps: Vec<_> = (1..200).map(|at| step(at, "1", "lock mutex 1")).collect();
        steps[49] = step(50, "2", "send mpsc 3");
        steps.insert(50, step(50, "2", "notify"));
        let table = with_departures(steps, &[50, 100, 198]);
        assert!(
            table.starts_with(
                "\n  last 25 of 200 rows, and the departures before them (! = preemption, \
                 * = not first in, first out; HOW shows all):\n    \
                 step  time  node  task  action          choices  at\n      \
                 48   0ms  n0    1     lock mutex 1          1  a.rs:1\n      \
                 49   0ms  n0    1     lock mutex 1          1  a.rs:1\n      \
                 50   0ms  n0    2     send mpsc 3 *         1  a.rs:1\n      \
                 50   0ms  n0    2     notify                1  a.rs:1\n      \
                 51   0ms  n0    1     lock mutex 1          1  a.rs:1\n      \
                 52   0ms  n0    1     lock mutex 1          1  a.rs:1\n    \
                 ...\n      \
                 98   0ms"
            ),
            "{table}"
        );
        assert_eq!(table.matches(" *  ").count(), 3, "{table}");
    }

    #[test]
    fn what_follows_the_last_departure_is_shown_as_far_as_there_is_room() {
        let steps: Vec<_> = (1..200).map(|at| step(at, "1", "lock mutex 1")).collect();
        let table = with_departures(steps, &[50]);
        let (earlier, last) = table.split_once("    ...\n").expect("a gap");
        assert_eq!(earlier.matches("lock").count(), EARLIER, "{table}");
        assert!(earlier.contains("\n      77   0ms"), "{table}");
        assert!(last.starts_with("     175   0ms"), "{table}");
    }

    #[test]
    fn many_departures_are_shown_with_what_they_overtook() {
        let steps = || (1..200).map(|at| step(at, "1", "lock mutex 1"));
        let shown = |departures: &[u64]| {
            let table = with_departures(steps().collect(), departures);
            let (earlier, _) = table.split_once("175   0ms").expect("the last 25");
            let lines = earlier.matches("lock").count();
            (lines, earlier.matches("...").count())
        };
        let every =
            |nth: usize, count: usize| -> Vec<u64> { (5..174).step_by(nth).take(count).collect() };
        assert_eq!(shown(&every(10, 5)), (30, 5));
        assert_eq!(
            shown(&every(10, 6)),
            (EARLIER, 6),
            "one before and after each, and what follows"
        );
        assert_eq!(shown(&every(10, 15)), (30, 15), "one before each");
        assert_eq!(shown(&every(10, 17)), (EARLIER, 15), "the last of them");
        assert_eq!(
            shown(&[130, 132, 137]),
            (EARLIER, 1),
            "those that lie close are not told twice"
        );
        assert_eq!(shown(&[173]), (4, 0), "nothing is left out before the last");
    }

    #[test]
    fn what_was_given_up_is_shown_where_there_is_room() {
        let mut steps: Vec<_> = (1..200).map(|at| step(at, "1", "lock mutex 1")).collect();
        for at in (9..169).step_by(20) {
            steps[at] = step(at as u64 + 1, "2", "time limit over");
        }
        steps[99] = step(100, "3", "drop (aborted)");
        let lines = |departures: &[u64]| {
            let table = with_departures(steps.clone(), departures);
            let (earlier, _) = table.split_once("175   0ms").expect("the last 25");
            let given_up = earlier.matches("time limit over").count();
            let named = earlier.contains("cancellations before them");
            (named, given_up, earlier.matches("drop (aborted)").count())
        };
        assert_eq!(lines(&[]), (true, 5, 1), "the last six");
        let (named, ..) = lines(&[30]);
        assert!(named, "there is room for both");
        let many: Vec<u64> = (5..174).step_by(10).collect();
        let (named, ..) = lines(&many);
        assert!(!named, "there is none");
    }
}
