//! What a report says of panics of tasks.

use crate::explore::FailureReport;
use crate::words::explanation::{EarlierPanic, Explanation};
use std::fmt::Write as _;

/// Earlier panics shown: the first ones, as what comes after them may be their consequence.
const PANICS_MAX: usize = 3;

/// Characters of a line that are shown, if it has more than twice as many.
const LINE_MAX: usize = 1_000;

/// What failed, as it says itself, but for the rest of lines that nobody reads to their end: an `assert_eq!` of two
/// megabytes prints both.
pub(super) fn said(text: &str) -> String {
    let mut out = String::new();
    for line in text.split_inclusive('\n') {
        match line.char_indices().nth(LINE_MAX) {
            Some((at, _)) if line.len() > 2 * LINE_MAX => {
                let more = line.trim_end().chars().count() - LINE_MAX;
                let _ = write!(out, "{}... ({more} more characters)", &line[..at]);
                out.push_str(if line.ends_with('\n') { "\n" } else { "" });
            }
            _ => out.push_str(line),
        }
    }
    out
}

/// Whose panic it was, if tokio would have gone on.
pub(super) fn unheard(out: &mut String, explanation: &Explanation) {
    if let Some(task) = &explanation.unheard {
        let _ = writeln!(
            out,
            "  it is the panic of task {task}, and nobody asked its JoinHandle for it: tokio would go on in \
             silence;\n  where it is expected, await the handle"
        );
    }
}

/// Panics that came before the failure, and may have brought it about: such as one that has poisoned
/// a lock. Those that the failure itself tells of are left out.
pub(super) fn earlier_panics(out: &mut String, failure: &FailureReport) {
    let told = failure.kind.to_string();
    let earlier = failure.explanation.panics.iter();
    let earlier: Vec<&EarlierPanic> = earlier
        .filter(|panic| !told.contains(&panic.said))
        .collect();
    for EarlierPanic { task, step, said } in earlier.iter().take(PANICS_MAX) {
        let said = self::said(said).replace('\n', "\n    ");
        let _ = writeln!(
            out,
            "  before that, task {task} panicked in step {step}: {said}"
        );
    }
    if earlier.len() > PANICS_MAX {
        let more = earlier.len() - PANICS_MAX;
        let _ = writeln!(out, "  and so did {more} more");
    }
}

#[cfg(test)]
mod tests {
    use super::said;

    #[test]
    fn long_lines_are_cut_and_others_are_not() {
        let usual = format!("assertion failed\n  left: {}\n", "x".repeat(1_900));
        assert_eq!(said(&usual), usual);
        let long = format!("a\n{}\nright: 1", "é".repeat(5_000));
        let cut = format!(
            "a\n{}... (4000 more characters)\nright: 1",
            "é".repeat(1_000)
        );
        assert_eq!(said(&long), cut);
    }
}
