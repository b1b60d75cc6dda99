//! What was traced in a failing run.

use super::failure::{node, time_text};
use super::panics::said;
use crate::words::explanation::{Explanation, LogLine};
use std::fmt::Write as _;
use tracing::Level;

/// Lines of the log shown.
const LAST_LOG_LINES: usize = 50;
/// Lines of one text that was traced.
const TRACED_MAX: usize = 5;

/// The last lines that the program has traced, and the engine.
pub(super) fn traced(out: &mut String, explanation: &Explanation) {
    let log = &explanation.log;
    if log.is_empty() {
        return;
    }
    // The finest lines are the first to be left out: libraries have hundreds of them.
    let coarse = log.iter().filter(|line| line.level < Level::TRACE);
    let mut shown: Vec<&LogLine> = coarse.collect();
    let all = log.len() <= LAST_LOG_LINES || shown.is_empty();
    if all {
        shown = log.iter().collect();
    }
    let shown = &shown[shown.len().saturating_sub(LAST_LOG_LINES)..];
    let _ = writeln!(
        out,
        "\n  last {} of {} lines traced{}:",
        shown.len(),
        log.len(),
        if all {
            ""
        } else {
            ", without those of level TRACE"
        }
    );
    for LogLine { step, text, .. } in shown {
        let at = explanation.steps.iter().rev().find(|s| s.step <= *step);
        let time = at.map_or_else(|| "0ms".to_owned(), |s| time_text(s.time_ns));
        let node = at.map_or_else(|| "n0".to_owned(), node);
        let _ = writeln!(out, "    step {step} {time} {node} {}", beginning(text));
    }
    out.push('\n');
}

/// What was traced, without the rest of a long text: an error may have a whole stack.
fn beginning(text: &str) -> String {
    let mut lines = text.trim_end().lines();
    let first: Vec<&str> = lines.by_ref().take(TRACED_MAX).collect();
    let mut shown = said(&first.join("\n      "));
    match lines.count() {
        0 => {}
        more => {
            let _ = write!(shown, "\n      ... ({more} more lines)");
        }
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::{TRACED_MAX, beginning};

    #[test]
    fn of_a_long_text_the_beginning_is_shown() {
        assert_eq!(beginning("one\ntwo\n"), "one\n      two");
        let stack: Vec<String> = (0..60).map(|frame| format!("frame {frame}")).collect();
        let shown = beginning(&stack.join("\n"));
        assert_eq!(shown.lines().count(), TRACED_MAX + 1);
        assert!(shown.ends_with("... (55 more lines)"), "{shown}");
    }
}
