//! Why a history is not linearizable, for people.

use super::Model;
use super::history::Entry;
use std::fmt::{self, Write as _};

/// Operations shown before the one that fits nowhere.
const SHOWN: usize = 12;

/// A history that no sequential order explains, or of which that was not found out.
#[derive(Clone, PartialEq, Eq)]
pub struct NotLinearizable {
    text: String,
    undecided: bool,
}

/// As it is shown: `unwrap` prints it so.
impl fmt::Debug for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

impl NotLinearizable {
    pub(super) fn new<M: Model>(
        model: &M,
        entries: &[Entry<M::Op, M::Output>],
        best: &[usize],
    ) -> Self {
        let mut text = "no order of the operations explains what they returned\n".to_owned();
        let mut state = model.initial();
        let skipped = best.len().saturating_sub(SHOWN);
        let _ = writeln!(text, "the longest order that does, from state {state:?}:");
        if skipped > 0 {
            let _ = writeln!(text, "  ... {skipped} operations ...");
        }
        for (place, &i) in best.iter().enumerate() {
            let entry = &entries[i];
            let output = entry.returned.as_ref().map(|(_, output)| output);
            if let Some(after) = model.apply(&state, &entry.op, output) {
                state = after;
            }
            if place >= skipped {
                let _ = writeln!(text, "  {}   then {state:?}", line(entry));
            }
        }
        text.push_str("what fits nowhere after that:\n");
        let left = |&i: &usize| !best.contains(&i) && entries[i].returned.is_some();
        let first_return = (0..entries.len())
            .filter(left)
            .filter_map(|i| entries[i].returned.as_ref().map(|(event, _)| *event))
            .min();
        let open = |&i: &usize| first_return.is_some_and(|event| entries[i].invoked < event);
        for i in (0..entries.len()).filter(left).filter(open) {
            let _ = writeln!(text, "  {}", line(&entries[i]));
        }
        NotLinearizable {
            text,
            undecided: false,
        }
    }

    pub(super) fn gave_up(operations: usize, open: usize, effort: u64) -> Self {
        NotLinearizable {
            undecided: true,
            text: format!(
                "undecided: {operations} operations of one part, of which {open} never returned, and \
                 {effort} placements tried; record fewer operations, above all such as never return, or \
                 let the model divide them into parts"
            ),
        }
    }

    /// Whether the search was given up: there may be an order that explains the history.
    pub fn is_undecided(&self) -> bool {
        self.undecided
    }
}

/// One operation: when, who, what.
fn line<Op: fmt::Debug, Output: fmt::Debug>(entry: &Entry<Op, Output>) -> String {
    let (until, output) = match &entry.returned {
        Some((event, output)) => (event.to_string(), format!("{output:?}")),
        None => ("?".to_owned(), "never returned".to_owned()),
    };
    format!(
        "[{:>4} to {until:>4}] {}: {:?} -> {output}",
        entry.invoked, entry.client, entry.op
    )
}

impl fmt::Display for NotLinearizable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text.trim_end())
    }
}

impl std::error::Error for NotLinearizable {}
