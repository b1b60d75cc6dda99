//! Whether a failure takes threads, or another order than tokio's, in a line or two.

use super::summary::{grouped, plural};
use crate::explore::{AtAwait, Departure, FailureReport, InOrder};
use crate::words::FailureKind;
use std::fmt::Write as _;

/// Schedules without the failure that suggest something; at least, and for each that it took to fail.
const TELLING: u64 = 100;
const TELLING_EACH: u64 = 2;

/// Says so where tokio's own order hides the failure, or only what is random there does; not where what it takes is a
/// fault, a cancellation or a value, and no order of tasks.
pub(super) fn order_text(failure: &FailureReport) -> &'static str {
    let is_of_order = |one: &Departure| !one.is_value && one.taken.starts_with("task ");
    if failure.in_order == Some(InOrder::FailsByFirstValues) {
        return "  it takes no other order of tasks, but the first of the values that are chosen, as of the branches with which a \
                `select!`\n  may begin: drawn at random, as on tokio, they hide it\n";
    }
    let departures = failure.departures.as_ref();
    if departures.is_some_and(|all| !all.iter().any(is_of_order)) {
        return "";
    }
    match (failure.in_order, &failure.at_await) {
        (Some(InOrder::Passes), Some(_)) => {
            "  (with `strategy = \"round-robin\"` it passes: there tasks go on in the order in which they \
             became ready, as in\n  tokio's `current_thread` runtime)\n"
        }
        (Some(InOrder::Passes), None) => {
            "  passes with `strategy = \"round-robin\"`, where tasks go on in the order in which they \
             became ready, as in\n  tokio's `current_thread` runtime\n"
        }
        (Some(InOrder::FailsByValues), _) => {
            "  in the order of tokio's `current_thread` runtime it passes with some values and fails with \
             others (of `rand`, or\n  where a `select!` begins): it may take no other order of tasks\n"
        }
        _ => "",
    }
}

/// Answers what is asked first of a failure in the middle of a poll: can my runtime do that?
pub(super) fn at_await_text(failure: &FailureReport, found: &AtAwait) -> String {
    if let Some(schedule) = found.same {
        let what = match &failure.kind {
            // Nothing says that it is the very same.
            FailureKind::Deadlock { .. } => "a deadlock",
            FailureKind::PartialDeadlock { .. } => "a partial deadlock",
            FailureKind::Leaked { .. } => "leaks tasks",
            _ => "fails",
        };
        return format!(
            "  {what} at granularity `await` too, in schedule {}: one thread is enough\n",
            grouped(schedule)
        );
    }
    if found.schedules == 0 {
        return "  tried at granularity `await` too, but no schedule ended within a second\n"
            .to_owned();
    }
    let tried = tried(found);
    if let Some((schedule, kind)) = &found.other {
        let kind = kind.to_string();
        let kind = kind.lines().next().unwrap_or_default();
        return format!(
            "  not seen at granularity `await` ({tried}), but something else, in schedule {}:\n    \
             {kind}\n",
            grouped(*schedule)
        );
    }
    let to_failure = failure.iteration().saturating_add(1);
    let telling = TELLING.max(to_failure.saturating_mul(TELLING_EACH));
    let whole = found.schedules - found.cut;
    let (fails, takes) = if found.all && found.cut == 0 {
        ("does not fail", "takes")
    } else if whole >= telling {
        ("not seen", "seems to take")
    } else {
        return format!(
            "  not seen at granularity `await` ({tried}): too few to say whether it takes threads\n"
        );
    };
    let story = &failure.explanation;
    let interrupts = story.left_out > 0 || story.steps.iter().any(|step| step.preempts);
    if !interrupts && story.gave_way == 0 && !found.all && !story.steps.is_empty() {
        return format!(
            "  not seen at granularity `await` ({tried}), but none of its steps interrupts a poll: it may be rare, and take no \
             threads\n"
        );
    }
    let rest = match story.gave_way {
        0 => {
            "\n  make them; if this code runs on one thread only, test it with `granularity = \"await\"`"
                .to_owned()
        }
        // Sockets do that on one thread too, and `await` does not show it.
        times => format!(
            " make\n  them, or a read or write of a stream that returns `Pending` once more than it has to \
             (here {} did),\n  as those of a socket may on one thread too",
            grouped(times)
        ),
    };
    format!(
        "  {fails} at granularity `await` ({tried}): it {takes} a switch inside a poll, as threads{rest}\n"
    )
}

/// How much was tried.
fn tried(found: &AtAwait) -> String {
    let mut text = plural(found.schedules, "schedule", "schedules");
    if found.all {
        text.insert_str(0, "all ");
        if found.schedules == 1 {
            return "the only schedule".to_owned();
        }
    }
    if found.cut > 0 {
        let _ = write!(text, ", {} of them cut", grouped(found.cut));
    }
    if found.out_of_time {
        text.push_str(", all that a second allowed");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::explore::Origin;
    use crate::words::explanation::Explanation;
    use crate::words::{Failure, ReplayToken, Seed, Trace, WorldConfig};

    const WAITS: FailureKind = FailureKind::Deadlock { waiting: 2 };

    fn found(schedules: u64, cut: u64) -> AtAwait {
        AtAwait {
            schedules,
            cut,
            all: false,
            out_of_time: false,
            same: None,
            other: None,
        }
    }

    /// A failure of this kind in the iteration of this number.
    fn failure(kind: FailureKind, iteration: u64) -> FailureReport {
        FailureReport::new(
            Failure { kind, step: 1 },
            Origin::Iteration(iteration),
            String::new(),
            Seed(0),
            ReplayToken::new("", &WorldConfig::default(), Trace::default(), 0),
            Explanation::default(),
        )
    }

    /// What is said of it.
    fn text(kind: FailureKind, iteration: u64, found: &AtAwait) -> String {
        at_await_text(&failure(kind, iteration), found)
    }

    #[test]
    fn what_fails_there_too_needs_one_thread() {
        let mut found = found(3, 0);
        (found.same, found.other) = (Some(3), Some((1, WAITS)));
        for (kind, what) in [
            (WAITS, "a deadlock"),
            (FailureKind::Leaked { tasks: 1 }, "leaks tasks"),
            (
                FailureKind::LimitReached(crate::words::Limit::Steps),
                "fails",
            ),
        ] {
            let expected = "at granularity `await` too, in schedule 3: one thread is enough";
            assert_eq!(text(kind, 0, &found), format!("  {what} {expected}\n"));
        }
    }

    #[test]
    fn what_is_not_seen_there_says_as_much_as_was_tried() {
        let threads = "a switch inside a poll, as threads\n  make them; if this code runs on one \
                       thread only, test it with `granularity = \"await\"`\n";
        let few = "too few to say whether it takes threads\n";
        let all = |schedules, cut| AtAwait {
            all: true,
            ..found(schedules, cut)
        };
        let hurried = |schedules, cut| AtAwait {
            out_of_time: true,
            ..found(schedules, cut)
        };
        let cases = [
            (0, found(1_000, 0), "1,000 schedules", ""),
            (499, found(1_000, 0), "1,000 schedules", ""),
            (500, found(1_000, 0), "1,000 schedules", few),
            (0, all(6, 0), "all 6 schedules", "does not fail"),
            (0, all(1, 0), "the only schedule", "does not fail"),
            (0, found(1, 0), "1 schedule", few),
            (0, found(110, 11), "110 schedules, 11 of them cut", few),
            (
                0,
                hurried(110, 2),
                "110 schedules, 2 of them cut, all that a second allowed",
                "",
            ),
            (
                0,
                hurried(57, 0),
                "57 schedules, all that a second allowed",
                few,
            ),
        ];
        for (iteration, found, tried, rest) in cases {
            let expected = match rest {
                "" => format!(
                    "  not seen at granularity `await` ({tried}): it seems to take {threads}"
                ),
                "does not fail" => {
                    format!("  does not fail at granularity `await` ({tried}): it takes {threads}")
                }
                few => format!("  not seen at granularity `await` ({tried}): {few}"),
            };
            assert_eq!(text(WAITS, iteration, &found), expected);
        }
    }

    #[test]
    fn what_may_come_of_a_stream_that_is_not_ready_is_not_blamed_on_threads_alone() {
        let mut failure = failure(WAITS, 0);
        failure.explanation.gave_way = 3;
        assert_eq!(
            at_await_text(&failure, &found(1_000, 0)),
            "  not seen at granularity `await` (1,000 schedules): it seems to take a switch inside a \
             poll, as threads make\n  them, or a read or write of a stream that returns `Pending` once \
             more than it has to (here 3 did),\n  as those of a socket may on one thread too\n"
        );
    }

    #[test]
    fn something_else_and_nothing_at_all_are_told_apart() {
        let mut nothing = found(0, 0);
        nothing.out_of_time = true;
        assert_eq!(
            text(WAITS, 0, &nothing),
            "  tried at granularity `await` too, but no schedule ended within a second\n"
        );
        let mut other = found(1_000, 0);
        other.other = Some((12, WAITS));
        assert_eq!(
            text(FailureKind::Leaked { tasks: 1 }, 0, &other),
            "  not seen at granularity `await` (1,000 schedules), but something else, in schedule \
             12:\n    deadlock: 2 task(s) wait for what will never come\n"
        );
    }
}
