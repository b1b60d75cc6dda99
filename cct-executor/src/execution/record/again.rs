//! Polls that did nothing while another stood in its middle: what that had taken, a lock of another crate for one, may
//! be what they lacked.

use super::Turn;
use crate::execution::core::{Core, NONE, state};
use crate::execution::paths::place;

/// So many that stand in the middle are named.
const NAMED: usize = 2;

impl Core {
    /// Says of the last step who stood in the middle meanwhile, if it was a poll that came to nothing.
    #[cold]
    pub(in crate::execution) fn note_polled_in_vain(&mut self) {
        let Some(recorder) = &self.recorder else {
            return;
        };
        let last = recorder.steps.last();
        let Some(key) = last
            .filter(|step| step.turn == Turn::Again && step.outcome.is_none())
            .map(|step| step.key)
        else {
            return;
        };
        let over = state::RUNNING | state::FROZEN | state::DONE | state::ABORTED;
        if self.actions[key as usize].state & over != 0 {
            return;
        }
        let all = self.suspended.iter().zip(0..);
        let mut stand: Vec<u32> = all
            .filter(|(suspended, _)| suspended.worker != NONE)
            .map(|(_, key)| key)
            .collect();
        if stand.is_empty() {
            return;
        }
        let more = stand.len().saturating_sub(NAMED);
        stand.truncate(NAMED);
        let named: Vec<String> = stand
            .iter()
            .map(|&key| {
                let site = self.actions[key as usize].op.site;
                format!("task {} ({})", self.task_name(key), place(site))
            })
            .collect();
        let mut said = format!("in vain, in the middle stood {}", named.join(" and "));
        if more > 0 {
            said.push_str(&format!(" and {more} more"));
        }
        if let Some(step) = self.recorder.as_mut().and_then(|it| it.steps.last_mut()) {
            step.outcome = Some(said);
        }
    }
}
