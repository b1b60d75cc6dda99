//! Whether a failure takes threads, in a line or two.

use super::summary::{grouped, plural};
use crate::explore::AtAwait;
use std::fmt::Write as _;

/// Answers what is asked first of a failure in the middle of a poll: can my runtime do that?
pub(super) fn at_await_text(found: &AtAwait) -> String {
    if let Some(schedule) = found.same {
        return format!(
            "  fails at granularity `await` too, in schedule {}: one thread is enough\n",
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
    if found.cut == found.schedules {
        return format!(
            "  tried at granularity `await` too, but every schedule was cut ({tried})\n"
        );
    }
    let (fails, takes) = if found.all && found.cut == 0 {
        ("does not fail", "takes")
    } else {
        ("not seen", "seems to take")
    };
    format!(
        "  {fails} at granularity `await` ({tried}): it {takes} a switch inside a poll, as threads\n  \
         make them; if this code runs on one thread only, test it with `granularity = \"await\"`\n"
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
    use crate::words::FailureKind;

    fn found(schedules: u64) -> AtAwait {
        AtAwait {
            schedules,
            cut: 0,
            all: false,
            out_of_time: false,
            same: None,
            other: None,
        }
    }

    #[test]
    fn claims_go_as_far_as_the_search() {
        let waits = FailureKind::Deadlock { waiting: 2 };
        let one_thread = "as threads\n  make them; if this code runs on one thread only, test it \
                          with `granularity = \"await\"`\n";
        let cases = [
            (
                AtAwait {
                    same: Some(3),
                    other: Some((1, waits.clone())),
                    ..found(3)
                },
                "  fails at granularity `await` too, in schedule 3: one thread is enough\n".into(),
            ),
            (
                found(1_000),
                format!(
                    "  not seen at granularity `await` (1,000 schedules): it seems to take a \
                     switch inside a poll, {one_thread}"
                ),
            ),
            (
                AtAwait {
                    all: true,
                    ..found(6)
                },
                format!(
                    "  does not fail at granularity `await` (all 6 schedules): it takes a switch \
                     inside a poll, {one_thread}"
                ),
            ),
            (
                AtAwait {
                    all: true,
                    ..found(1)
                },
                format!(
                    "  does not fail at granularity `await` (the only schedule): it takes a \
                     switch inside a poll, {one_thread}"
                ),
            ),
            (
                AtAwait {
                    cut: 2,
                    out_of_time: true,
                    ..found(57)
                },
                format!(
                    "  not seen at granularity `await` (57 schedules, 2 of them cut, all that a \
                     second allowed): it seems to take a switch inside a poll, {one_thread}"
                ),
            ),
            (
                AtAwait { cut: 4, ..found(4) },
                "  tried at granularity `await` too, but every schedule was cut (4 schedules, 4 \
                 of them cut)\n"
                    .into(),
            ),
            (
                AtAwait {
                    out_of_time: true,
                    ..found(0)
                },
                "  tried at granularity `await` too, but no schedule ended within a second\n"
                    .into(),
            ),
            (
                AtAwait {
                    other: Some((12, waits)),
                    ..found(1_000)
                },
                "  not seen at granularity `await` (1,000 schedules), but something else, in \
                 schedule 12:\n    deadlock: 2 task(s) wait for what will never come\n"
                    .into(),
            ),
        ];
        for (found, expected) in cases {
            assert_eq!(at_await_text(&found), expected);
        }
    }
}
