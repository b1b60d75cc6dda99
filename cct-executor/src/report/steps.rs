//! The table of the last steps.
//!
//! Columns: the step's number; virtual time; node; task; `!` where the task that ran before could have
//! gone on, or a timer fired although a task was ready; the operation, or `poll again` where the task
//! waited for something of another crate; how many things could have happened instead; where the
//! operation, or the last one, was called.
//!
//! A long stretch in which tasks do nothing but wake themselves is told in one line: what led to it is
//! what matters.

use super::failure::{node, time_text};
use super::summary::grouped;
use crate::words::explanation::{Explanation, Step};
use std::collections::BTreeSet;
use std::fmt::Write as _;

/// Lines shown before the failure.
const LAST_LINES: usize = 25;
/// Faults shown that came before these steps.
const EARLIER_FAULTS: usize = 20;
/// So many steps in which nothing happens are one line; of the stretch, the first and the last are shown.
const STRETCH: usize = 10;

/// One line of the table.
enum Line<'a> {
    Step(&'a Step),
    /// So many more in which these tasks wake themselves and no more.
    Idle(usize, BTreeSet<&'a str>),
}

pub(super) fn steps(out: &mut String, explanation: &Explanation) {
    let steps = &explanation.steps;
    if steps.is_empty() {
        return;
    }
    let mut lines = folded(steps);
    let lines = lines.split_off(lines.len().saturating_sub(LAST_LINES));
    let last: usize = lines.iter().map(Line::steps).sum();
    // What went wrong long before is what the end is to be explained by.
    let earlier = &steps[..steps.len() - last];
    let faults: Vec<&Step> = earlier.iter().filter(|step| is_fault(step)).collect();
    let faults = &faults[faults.len().saturating_sub(EARLIER_FAULTS)..];
    let before = match faults.len() {
        0 => "",
        _ => ", and the faults before them",
    };
    let _ = writeln!(
        out,
        "\n  last {last} of {} steps{before} (! = preemption):",
        steps.len()
    );
    let gap = !faults.is_empty();
    let faults = faults.iter().copied().map(Line::Step);
    table(out, faults.collect(), gap, lines);
}

/// Lines with columns as wide as it takes.
fn table(out: &mut String, faults: Vec<Line<'_>>, gap: bool, last: Vec<Line<'_>>) {
    let heads = ["step", "time", "node", "task", "action", "choices"].map(str::to_owned);
    let mut widths = heads.clone().map(|head| head.len());
    for line in faults.iter().chain(&last) {
        let Line::Step(step) = line else { continue };
        for (width, cell) in widths.iter_mut().zip(row(step)) {
            *width = (*width).max(cell.chars().count());
        }
    }
    table_line(out, &heads, widths, "at");
    let begin = faults.len();
    for (at, line) in faults.into_iter().chain(last).enumerate() {
        if gap && at == begin {
            out.push_str("    ...\n");
        }
        match line {
            Line::Step(step) => {
                table_line(out, &row(step), widths, step.site.as_deref().unwrap_or(""));
            }
            Line::Idle(count, tasks) => idle_line(out, count, &tasks),
        }
    }
}

impl Line<'_> {
    /// How many steps it stands for.
    fn steps(&self) -> usize {
        match self {
            Line::Step(_) => 1,
            Line::Idle(count, _) => *count,
        }
    }
}

/// The steps, with long stretches in which nothing happens in one line each.
fn folded(steps: &[Step]) -> Vec<Line<'_>> {
    let mut lines = Vec::new();
    for stretch in steps.chunk_by(|one, next| is_idle(one) && is_idle(next)) {
        match stretch {
            [first, between @ .., last] if stretch.len() >= STRETCH => {
                let tasks = between.iter().filter_map(|step| step.task.as_deref());
                lines.push(Line::Step(first));
                lines.push(Line::Idle(between.len(), tasks.collect()));
                lines.push(Line::Step(last));
            }
            _ => lines.extend(stretch.iter().map(Line::Step)),
        }
    }
    lines
}

/// The task only asked to be polled again.
fn is_idle(step: &Step) -> bool {
    step.task.is_some() && matches!(step.what.as_str(), "poll again" | "yield")
}

/// Faults and what mends them are nobody's steps.
fn is_fault(step: &Step) -> bool {
    step.task.is_none() && step.what.starts_with("fault ")
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

fn row(step: &Step) -> [String; 6] {
    let mark = if step.preempts { " !" } else { "" };
    [
        step.step.to_string(),
        time_text(step.time_ns),
        node(step),
        step.task.clone().unwrap_or_else(|| "-".to_owned()),
        format!("{}{mark}", step.what),
        step.choices.to_string(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(step: u64, task: &str, what: &str) -> Step {
        Step {
            step,
            time_ns: 0,
            node: 0,
            node_name: String::new(),
            task: Some(task.to_owned()),
            what: what.to_owned(),
            site: Some("a.rs:1".to_owned()),
            choices: 1,
            preempts: false,
        }
    }

    fn text(steps: Vec<Step>) -> String {
        let mut out = String::new();
        let explanation = Explanation {
            steps,
            ..Explanation::default()
        };
        super::steps(&mut out, &explanation);
        out
    }

    #[test]
    fn a_long_stretch_of_idle_polls_does_not_hide_what_led_to_it() {
        let idle = (2..5_000).map(|at| step(at, ["1", "2"][at as usize % 2], "poll again"));
        let steps = [step(1, "1", "lock mutex 1")].into_iter().chain(idle);
        assert_eq!(
            text(steps.collect()),
            "\n  last 4999 of 4999 steps (! = preemption):\n    \
             step  time  node  task  action        choices  at\n       \
             1   0ms  n0    1     lock mutex 1        1  a.rs:1\n       \
             2   0ms  n0    1     poll again          1  a.rs:1\n    \
             ... 4,996 more in which nothing but such polls happens, of tasks 1, 2\n    \
             4999   0ms  n0    2     poll again          1  a.rs:1\n"
        );
    }

    #[test]
    fn a_few_idle_polls_are_shown_one_by_one() {
        let table = text((1..10).map(|at| step(at, "1", "yield")).collect());
        assert_eq!(table.matches("yield").count(), 9, "{table}");
        let table = text((1..40).map(|at| step(at, "1", "lock mutex 1")).collect());
        assert!(table.contains("last 25 of 39 steps"), "{table}");
        assert_eq!(table.matches("lock").count(), 25, "{table}");
    }
}
