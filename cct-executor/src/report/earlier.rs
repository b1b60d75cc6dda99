//! What the end is explained by, of the steps that come before the last ones: faults, departures, and what was
//! going on around them.

use super::steps::{Line, Row};
use crate::words::explanation::Step;

/// Lines shown.
const EARLIER: usize = 30;
/// Rows shown before and after a fault or a departure: as many as there is room for, and at least what was overtaken.
const AROUND: [(usize, usize); 3] = [(2, 3), (1, 1), (1, 0)];

/// The lines of it, and what they are called.
pub(super) fn earlier<'a>(rows: &[Row<'a>]) -> (Vec<Line<'a>>, &'static str) {
    let faults = rows.iter().any(|row| is_fault(row.step));
    let departures = rows.iter().any(|row| row.departs);
    let named = match (faults, departures) {
        (false, false) => return (Vec::new(), ""),
        (true, false) => ", and the faults before them",
        (false, true) => ", and the departures before them",
        (true, true) => ", and the faults and departures before them",
    };
    let mut shown = Vec::new();
    for (before, after) in AROUND {
        shown = around(rows, before, after);
        if shown.len() <= EARLIER {
            break;
        }
    }
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
    (lines, named)
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
}
