//! Whether two schedules fail in the same way.

use crate::words::FailureKind;

/// Of the same kind, and, where a failure has a place, at the same one: the rest of what it says
/// may differ from schedule to schedule.
pub(super) fn same(one: &FailureKind, other: &FailureKind) -> bool {
    use FailureKind::{Abort, Broken, Deadlock, Hang, Leaked, Panic, PartialDeadlock};
    match (one, other) {
        (
            Panic {
                location: Some(one),
                ..
            },
            Panic {
                location: Some(other),
                ..
            },
        )
        | (
            Abort {
                location: Some(one),
                ..
            },
            Abort {
                location: Some(other),
                ..
            },
        )
        | (
            Broken { location: one, .. },
            Broken {
                location: other, ..
            },
        ) => one == other,
        (Deadlock { .. }, Deadlock { .. })
        | (PartialDeadlock { .. }, PartialDeadlock { .. })
        | (Hang { .. }, Hang { .. })
        | (Leaked { .. }, Leaked { .. }) => true,
        _ => one == other,
    }
}

/// The same, and they say it in the same words, numbers aside: one place may fail for several reasons, as
/// an `unwrap` does. (Of what is said the first line counts. The others have values, as those of
/// `assert_eq!`.)
pub(super) fn alike(one: &FailureKind, other: &FailureKind) -> bool {
    use FailureKind::Error;
    let both_errors = matches!((one, other), (Error { .. }, Error { .. }));
    (both_errors || same(one, other)) && words(one) == words(other)
}

fn words(kind: &FailureKind) -> Vec<&str> {
    use FailureKind::{Abort, Broken, Error, Panic};
    let (Panic { message, .. }
    | Abort { message, .. }
    | Broken { message, .. }
    | Error { message }) = kind
    else {
        return Vec::new();
    };
    let line = message.lines().next().unwrap_or_default();
    let words = line.split(|c: char| !c.is_alphabetic());
    words.filter(|word| !word.is_empty()).collect()
}

/// Equal, but for ports of this machine: what a test has made with the standard library has one that the kernel
/// drew, another one each time, and clients name it in their errors. And but for stacks, which errors of `anyhow` and
/// others tell: whoever has called the test in the end, which is not always the same, is part of them.
pub(super) fn equal(one: &FailureKind, other: &FailureKind) -> bool {
    one == other || same(one, other) && lasting(one) == lasting(other)
}

/// What is said in each run.
fn lasting(kind: &FailureKind) -> String {
    const HERE: [&str; 5] = ["127.0.0.1:", "0.0.0.0:", "[::1]:", "[::]:", "localhost:"];
    let text = kind.to_string();
    let is_stack = |line: &&str| line.trim().eq_ignore_ascii_case("stack backtrace:");
    let lines = text.lines().take_while(|line| !is_stack(line));
    let mut text = lines.collect::<Vec<_>>().join("\n");
    for host in HERE {
        let mut parts = text.split(host);
        let mut rest = parts.next().unwrap_or_default().to_owned();
        for part in parts {
            rest.push_str(host);
            rest.push_str(part.trim_start_matches(|c: char| c.is_ascii_digit()));
        }
        text = rest;
    }
    text
}

/// Equal, but for numbers and addresses in what is said: those of what counts on through the process, as the ids of a
/// library's objects do, or of a number that is the reason.
pub(super) fn but_for_numbers(one: &FailureKind, other: &FailureKind) -> bool {
    same(one, other) && without_numbers(&lasting(one)) == without_numbers(&lasting(other))
}

/// The text without its numbers, of which addresses have letters.
fn without_numbers(text: &str) -> String {
    let mut parts = text.split("0x");
    let first = parts.next().unwrap_or_default().to_owned();
    let rest = parts.map(|part| part.trim_start_matches(|c: char| c.is_ascii_hexdigit()));
    let all = rest.fold(first, |all, part| all + part);
    all.replace(|c: char| c.is_ascii_digit(), "")
}

/// Whether the failure comes from the order of steps, and shows in a schedule alone. A poll that does not
/// return may be an accident of suspending polls, of which the report speaks anyway; a hang shows beside
/// schedules that end; the others have causes outside.
pub(super) fn of_order(kind: &FailureKind) -> bool {
    !matches!(
        kind,
        FailureKind::Stuck { .. }
            | FailureKind::Hang { .. }
            | FailureKind::Endless
            | FailureKind::Uncontrolled { .. }
            | FailureKind::Nondeterminism { .. }
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn panic(message: &str, location: &str) -> FailureKind {
        FailureKind::Panic {
            message: message.to_owned(),
            location: Some(location.to_owned()),
        }
    }

    #[test]
    fn a_panic_is_the_same_wherever_its_numbers_differ() {
        let one = panic("lost 3 of 10\n left: 7", "a.rs:1:2");
        assert!(alike(&one, &panic("lost 1 of 20\n right: x", "a.rs:1:2")));
        assert!(!alike(&one, &panic("lost 3 of 10", "a.rs:2:2")));
        assert!(!alike(&one, &panic("found 3 of 10", "a.rs:1:2")));
        assert!(same(&one, &panic("found 3 of 10", "a.rs:1:2")));
    }

    #[test]
    fn what_is_equal_may_tell_another_stack() {
        let error =
            |what: &str, stack: &str| panic(&format!("Error: {what}\n\n{stack}"), "a.rs:1:2");
        let one = error("lost", "Stack backtrace:\n   0: one\n   1: two");
        assert!(equal(&one, &error("lost", "Stack backtrace:\n   0: one")));
        assert!(!equal(&one, &error("found", "Stack backtrace:\n   0: one")));
        assert!(!equal(&one, &error("lost", "Caused by:\n   0: one")));
    }

    #[test]
    fn what_is_equal_may_name_another_port_of_this_machine_and_nothing_else() {
        let refused = |url: &str| panic(&format!("no answer from \"{url}/a\": 3"), "a.rs:1:2");
        let one = refused("http://127.0.0.1:35613");
        assert!(equal(&one, &one));
        assert!(equal(&one, &refused("http://127.0.0.1:9")));
        assert!(equal(&refused("[::1]:80"), &refused("[::1]:8080")));
        assert!(!equal(&one, &refused("http://localhost:35613")));
        assert!(!equal(
            &refused("http://10.0.0.1:1"),
            &refused("http://10.0.0.1:2")
        ));
        let counted = |count: u32| panic(&format!("the {count}th call"), "a.rs:1:2");
        assert!(!equal(&counted(4), &counted(5)));
    }

    #[test]
    fn what_counts_on_is_told_from_what_is_said_otherwise() {
        let one = panic("actor 7 at 0x7fa0 is gone\n left: 3", "a.rs:1:2");
        let counted = panic("actor 19 at 0x7fb8c is gone\n left: 4", "a.rs:1:2");
        assert!(but_for_numbers(&one, &counted) && !equal(&one, &counted));
        let elsewhere = panic("actor 7 at 0x7fa0 is gone\n left: 3", "a.rs:3:2");
        assert!(!but_for_numbers(&one, &elsewhere));
        let other = panic("actor 7 at 0x7fa0 is gone\n left: None", "a.rs:1:2");
        assert!(!but_for_numbers(&one, &other));
    }

    #[test]
    fn errors_are_the_same_by_their_words_and_deadlocks_by_being_one() {
        let error = |message: &str| FailureKind::Error {
            message: message.to_owned(),
        };
        assert!(alike(&error("Timeout(3)"), &error("Timeout(4)")));
        assert!(!alike(&error("Timeout(3)"), &error("Refused(3)")));
        let (two, three) = (
            FailureKind::Deadlock { waiting: 2 },
            FailureKind::Deadlock { waiting: 3 },
        );
        assert!(alike(&two, &three));
        assert!(!alike(&two, &error("")));
    }
}
