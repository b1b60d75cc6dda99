//! The table of the last steps.
//!
//! Columns: the step's number; virtual time; node; task; `!` where the task that ran before could have
//! gone on, or a timer fired although a task was ready; `*` where the schedule departs from the plain
//! one; the operation, or `poll again` where the task
//! waited for something of another crate; how many things could have happened instead; where the
//! operation, or the last one, was called.
//!
//! A long stretch in which tasks do nothing but wake themselves is told in one line, and so is one in which a
//! task drops what it owns: what led to it is what matters.

use super::earlier::earlier;
use super::failure::{node, time_text};
use super::summary::grouped;
use crate::explore::{FailureReport, Report};
use crate::words::FailureKind;
use crate::words::explanation::{EarlierPanic, Step};
use std::borrow::Cow;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::Arc;

/// Lines shown before the failure, where nobody asks for more.
const LAST_LINES: usize = 25;
/// So many steps in which nothing happens are one line; of the stretch, the first and the last are shown.
const STRETCH: usize = 10;
/// So many things that a task drops at once are one line; the first is shown.
const DROPS: usize = 4;

/// A step as it is shown.
#[derive(Clone, Copy)]
pub(super) struct Row<'a> {
    pub(super) step: &'a Step,
    /// The schedule departs here from the plain one.
    pub(super) departs: bool,
}

/// One line of the table.
pub(super) enum Line<'a> {
    Step(Row<'a>),
    /// Steps are left out.
    Gap,
    /// So many more in which these tasks wake themselves and no more.
    Idle(usize, BTreeSet<&'a str>),
    /// So many more that are dropped.
    Drops(usize),
}

pub(super) fn steps(out: &mut String, report: &Report, failure: &FailureReport) {
    let departures = failure.departures.iter().flatten();
    let departures: Vec<u64> = departures.map(|departure| departure.step).collect();
    let steps = with_panics(worth_telling(failure), &failure.explanation.panics);
    let all = match report.heeds_variables {
        true => "CCT_REPORT_ROWS=all shows all",
        false => "`Report::rows` sets how many are shown",
    };
    let all = match failure.explanation.left_out {
        0 => all.to_owned(),
        count => format!(
            "{all}, but for {} in the middle for which there was no room",
            grouped(count)
        ),
    };
    let shown = report.rows.unwrap_or(LAST_LINES);
    story(out, &steps, &departures, shown, &all);
}

/// A panic that did not end the iteration is something that the task did, too.
fn with_panics<'a>(steps: &'a [Step], panics: &[EarlierPanic]) -> Cow<'a, [Step]> {
    if panics.is_empty() {
        return Cow::Borrowed(steps);
    }
    let mut told = steps.to_vec();
    for panic in panics {
        let of_its =
            |step: &Step| step.step == panic.step && step.task.as_deref() == Some(&panic.task);
        let Some(at) = told.iter().rposition(of_its) else {
            continue;
        };
        let place = panic.said.strip_prefix("panic at ").and_then(|said| {
            let (place, _) = said.split_once(": ")?;
            place.rsplit_once(':').map(|(place, _column)| place)
        });
        let row = Step {
            what: "panic".into(),
            site: place.map(Arc::from),
            choices: 1,
            preempts: false,
            ..told[at].clone()
        };
        // Before what it drops then.
        let its_step = told[at].step;
        let unwinds = |step: &&Step| is_dropped(step) && step.step == its_step;
        let dropped = told[..=at].iter().rev().take_while(unwinds).count();
        told.insert(at + 1 - dropped, row);
    }
    Cow::Owned(told)
}

/// Steps shown of what repeats itself for ever.
const SHOWN_OF_CIRCLE: usize = 12;

/// What comes after the tasks began to stand is what the others do meanwhile, and keeps the world going.
fn worth_telling(failure: &FailureReport) -> &[Step] {
    let steps = &failure.explanation.steps;
    let stood = steps.iter().rposition(|step| step.step == failure.step);
    if matches!(failure.kind, FailureKind::Endless) {
        let rounds = stood.map_or(0, |last| last + 1) + SHOWN_OF_CIRCLE;
        return &steps[..rounds.min(steps.len())];
    }
    match stood.filter(|_| failure.kind.lasts()) {
        Some(last) => &steps[..steps.partition_point(|step| step.time_ns <= steps[last].time_ns)],
        None => steps,
    }
}

/// `all` is how to see more of them.
fn story(out: &mut String, steps: &[Step], departures: &[u64], last_lines: usize, all: &str) {
    if steps.is_empty() {
        return;
    }
    let rows = rows(steps, departures);
    let mut lines = folded(&rows);
    let lines = lines.split_off(lines.len().saturating_sub(last_lines));
    let last: usize = lines.iter().map(Line::steps).sum();
    let (earlier, named) = earlier(&rows[..rows.len() - last]);
    let departs = match departures {
        [] => "",
        _ => ", * = not first in, first out",
    };
    let more = match last == rows.len() {
        true => String::new(),
        false => format!("; {all}"),
    };
    let _ = writeln!(
        out,
        "\n  last {} of {} rows{named} (! = preemption{departs}{more}):",
        grouped(last as u64),
        grouped(rows.len() as u64)
    );
    table(out, &earlier, &lines);
}

/// The departures are in order, and there may be as many as steps. Of a thing whose parts are dropped one
/// after the other, as the two halves of a channel, there is one row, and so there is of the atomic operations of one
/// line of code, such as those that make up taking a lock.
fn rows<'a>(steps: &'a [Step], departures: &[u64]) -> Vec<Row<'a>> {
    let mut before = 0;
    let row = |step: &'a Step| {
        let first = std::mem::replace(&mut before, step.step) != step.step;
        let departs = first && departures.binary_search(&step.step).is_ok();
        Row { step, departs }
    };
    let mut rows: Vec<Row<'a>> = steps.iter().map(row).collect();
    rows.dedup_by(|next, last| {
        let drops = drops_on(last, next) && last.step.what == next.step.what;
        (drops || is_atomic_too(last, next)) && last.step.site == next.step.site
    });
    rows
}

/// Lines with columns as wide as it takes.
fn table(out: &mut String, earlier: &[Line<'_>], last: &[Line<'_>]) {
    let heads = ["step", "time", "node", "task", "action", "choices"].map(str::to_owned);
    let mut widths = heads.clone().map(|head| head.len());
    for line in earlier.iter().chain(last) {
        let Line::Step(row) = line else { continue };
        for (width, cell) in widths.iter_mut().zip(cells(row)) {
            *width = (*width).max(cell.chars().count());
        }
    }
    table_line(out, &heads, widths, "at");
    for line in earlier.iter().chain(last) {
        match line {
            Line::Gap => out.push_str("    ...\n"),
            Line::Step(row) => {
                let place = row.step.site.as_deref().unwrap_or("");
                table_line(out, &cells(row), widths, place);
            }
            Line::Idle(count, tasks) => idle_line(out, *count, tasks),
            Line::Drops(count) => {
                let _ = writeln!(out, "    ... and {count} more that it drops");
            }
        }
    }
}

impl Line<'_> {
    /// How many steps it stands for.
    fn steps(&self) -> usize {
        match self {
            Line::Step(_) => 1,
            Line::Gap => 0,
            Line::Idle(count, _) | Line::Drops(count) => *count,
        }
    }
}

/// The steps, with long stretches in which nothing happens in one line each.
fn folded<'a>(rows: &[Row<'a>]) -> Vec<Line<'a>> {
    let mut lines = Vec::new();
    let go_together = |one: &Row<'a>, next: &Row<'a>| {
        is_idle(one) && is_idle(next) || is_dropped(one.step) && drops_on(one, next)
    };
    for stretch in rows.chunk_by(go_together) {
        match stretch {
            [first, rest @ ..] if is_dropped(first.step) && rest.len() >= DROPS => {
                lines.push(Line::Step(*first));
                lines.push(Line::Drops(rest.len()));
            }
            [first, between @ .., last] if stretch.len() >= STRETCH => {
                let tasks = between.iter().filter_map(|row| row.step.task.as_deref());
                lines.push(Line::Step(*first));
                lines.push(Line::Idle(between.len(), tasks.collect()));
                lines.push(Line::Step(*last));
            }
            _ => lines.extend(stretch.iter().copied().map(Line::Step)),
        }
    }
    lines
}

/// The task only asked to be polled again.
fn is_idle(row: &Row<'_>) -> bool {
    let again = &*row.step.what == "yield" || row.step.what.starts_with("poll again");
    again && row.step.task.is_some() && !row.departs
}

fn is_dropped(step: &Step) -> bool {
    step.what.starts_with("drop ")
}

/// The second step is one more atomic operation of the task, which goes on with it.
fn is_atomic_too(first: &Row<'_>, second: &Row<'_>) -> bool {
    let atomic = |step: &Step| step.what.starts_with("atomic ");
    let both = atomic(first.step) && atomic(second.step) && first.step.task == second.step.task;
    both && !second.step.preempts && !second.departs
}

/// The second step is part of the same drop as the first.
fn drops_on(first: &Row<'_>, second: &Row<'_>) -> bool {
    let same = first.step.step == second.step.step && first.step.task == second.step.task;
    same && is_dropped(second.step)
}

fn idle_line(out: &mut String, count: usize, tasks: &BTreeSet<&str>) {
    let tasks: Vec<&str> = tasks.iter().copied().collect();
    let _ = writeln!(
        out,
        "    ... {} more in which nothing but such polls happens, of task{} {}",
        grouped(count as u64),
        if tasks.len() == 1 { "" } else { "s" },
        tasks.join(", ")
    );
}

fn table_line(out: &mut String, cells: &[String; 6], widths: [usize; 6], place: &str) {
    let [step, time, node, task, action, choices] = cells;
    let [w0, w1, w2, w3, w4, w5] = widths;
    let line = format!(
        "    {step:>w0$}  {time:>w1$}  {node:<w2$}  {task:<w3$}  {action:<w4$}  {choices:>w5$}  {place}"
    );
    let _ = writeln!(out, "{}", line.trim_end());
}

fn cells(Row { step, departs }: &Row<'_>) -> [String; 6] {
    let preempts = if step.preempts { " !" } else { "" };
    let departs = if *departs { " *" } else { "" };
    [
        step.step.to_string(),
        time_text(step.time_ns),
        node(step),
        step.task.as_deref().unwrap_or("-").to_owned(),
        format!("{}{preempts}{departs}", step.what),
        step.choices.to_string(),
    ]
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    pub(crate) fn step(step: u64, task: &str, what: &str) -> Step {
        Step {
            step,
            time_ns: 0,
            node: 0,
            node_name: "".into(),
            task: Some(task.into()),
            what: what.into(),
            site: Some("a.rs:1".into()),
            choices: 1,
            preempts: false,
        }
    }

    fn text(steps: Vec<Step>) -> String {
        with_departures(steps, &[])
    }

    pub(crate) fn with_departures(steps: Vec<Step>, departures: &[u64]) -> String {
        let mut out = String::new();
        story(&mut out, &steps, departures, LAST_LINES, "HOW shows all");
        out
    }

    #[test]
    fn a_long_stretch_of_idle_polls_does_not_hide_what_led_to_it() {
        let idle = (2..5_000).map(|at| step(at, ["1", "2"][at as usize % 2], "poll again"));
        let steps = [step(1, "1", "lock mutex 1")].into_iter().chain(idle);
        assert_eq!(
            text(steps.collect()),
            "\n  last 4,999 of 4,999 rows (! = preemption):\n    \
             step  time  node  task  action        choices  at\n       \
             1   0ms  n0    1     lock mutex 1        1  a.rs:1\n       \
             2   0ms  n0    1     poll again          1  a.rs:1\n    \
             ... 4,996 more in which nothing but such polls happens, of tasks 1, 2\n    \
             4999   0ms  n0    2     poll again          1  a.rs:1\n"
        );
    }

    #[test]
    fn what_a_task_drops_at_once_is_one_line() {
        let panics = (1..4).map(|at| step(at, "1", "lock mutex 1"));
        let drops = (1..30).map(|at| step(4, "1", &format!("drop mpsc {at}")));
        let table = text(panics.clone().chain(drops.clone()).collect());
        let lines = "drop mpsc 1         1  a.rs:1\n    ... and 28 more that it drops\n";
        assert!(table.ends_with(lines), "{table}");
        assert_eq!(table.matches("lock").count(), 3, "{table}");
        let table = text(panics.chain(drops.take(DROPS)).collect());
        assert_eq!(table.matches("drop mpsc").count(), DROPS, "{table}");
    }

    #[test]
    fn the_halves_of_a_channel_are_dropped_in_one_line() {
        let twice =
            ["drop oneshot 5", "drop oneshot 5", "drop mpsc 1"].map(|what| step(1, "1", what));
        let again = step(2, "1", "drop oneshot 5");
        let table = text(twice.into_iter().chain([again]).collect());
        assert!(table.starts_with("\n  last 3 of 3 rows"), "{table}");
        assert_eq!(table.matches("drop oneshot 5").count(), 2, "{table}");
    }

    #[test]
    fn the_atomic_operations_of_a_line_are_one_line() {
        let task = |at| if at < 5 { "1" } else { "2" };
        let mut steps: Vec<Step> = (1..9).map(|at| step(at, task(at), "atomic load")).collect();
        steps[2].site = Some("a.rs:2".into());
        steps[6].preempts = true;
        let table = text(steps);
        let numbers = table
            .lines()
            .skip(3)
            .map(|line| line.split_whitespace().next());
        let numbers: Vec<&str> = numbers.flatten().collect();
        assert_eq!(numbers, ["1", "3", "4", "5", "7"], "{table}");
    }

    #[test]
    fn long_times_are_seconds() {
        let short = [0, 1_500, 999_001_000, 59_000_000_000].map(time_text);
        assert_eq!(short, ["0ms", "1500ns", "999001us", "59000ms"]);
        let long = [30_001_001_000, 60_000_000_000, 3_600_001_001_000].map(time_text);
        assert_eq!(long, ["30.001001s", "60s", "3600.001001s"]);
    }

    #[test]
    fn a_panic_that_somebody_was_told_of_is_a_line_before_what_it_drops() {
        let steps = ["start", "lock mutex 1", "drop mpsc 1"].map(|what| step(1, "1", what));
        let panic = EarlierPanic {
            task: "1".to_owned(),
            step: 1,
            said: "panic at src/b.rs:7:9: it is: so".to_owned(),
        };
        let told = with_panics(&steps, &[panic]);
        let what: Vec<&str> = told.iter().map(|step| &*step.what).collect();
        assert_eq!(what, ["start", "lock mutex 1", "panic", "drop mpsc 1"]);
        assert_eq!(told[2].site.as_deref(), Some("src/b.rs:7"));
    }

    #[test]
    fn a_few_idle_polls_are_shown_one_by_one() {
        let table = text((1..10).map(|at| step(at, "1", "yield")).collect());
        assert_eq!(table.matches("yield").count(), 9, "{table}");
        let table = text((1..40).map(|at| step(at, "1", "lock mutex 1")).collect());
        assert!(table.contains("last 25 of 39 rows"), "{table}");
        assert_eq!(table.matches("lock").count(), 25, "{table}");
    }
}
