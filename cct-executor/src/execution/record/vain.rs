//! Wake-ups by other crates' code that reach a task which is dropped, and so are lost.

use super::Recorder;
use crate::execution::core::{Core, state};
use crate::words::explanation::VainWake;
use std::collections::{BTreeMap, BTreeSet};

/// A wake-up: in which step, and by which task, if by one.
type Woken = (u64, Option<u32>);

/// Who was woken by a waker in the hands of others.
#[derive(Default)]
pub(super) struct VainWakes {
    /// Tasks that have not gone on since.
    woken: BTreeMap<u32, Woken>,
    /// Tasks that were aborted.
    aborted: BTreeSet<u32>,
    vain: Vec<(u32, Woken)>,
}

impl VainWakes {
    pub(super) fn begin_poll(&mut self, key: u32, aborted: bool) {
        let woken = self.woken.remove(&key);
        if aborted {
            self.aborted.insert(key);
            self.vain.extend(woken.map(|woken| (key, woken)));
        }
    }
}

impl Recorder {
    pub(super) fn vain_wakes(&self, core: &Core) -> Vec<VainWake> {
        let vain = self.vain_wakes.vain.iter();
        vain.map(|&(task, (step, by))| VainWake {
            task: core.task_name(task),
            step,
            by: by.map(|by| core.task_name(by)),
        })
        .collect()
    }
}

impl Core {
    /// Notes that a waker of this task was used that is in the hands of others.
    #[cold]
    pub(crate) fn note_wake(&mut self, key: u32) {
        let by = Some(self.last()).filter(|last| self.is_running(*last));
        let woken = (self.point.step, by);
        let Some(action) = self.actions.get(key as usize) else {
            return;
        };
        let is_over = action.state & (state::DONE | state::ABORTED) != 0;
        let Some(recorder) = &mut self.recorder else {
            return;
        };
        let wakes = &mut recorder.vain_wakes;
        if is_over {
            // A task that has ended by itself may have left wakers behind that mean nothing any more.
            if wakes.aborted.contains(&key) || action.state & state::DONE == 0 {
                wakes.vain.push((key, woken));
            }
        } else if by != Some(key) {
            wakes.woken.entry(key).or_insert(woken);
        }
    }

    fn is_running(&self, key: u32) -> bool {
        let action = self.actions.get(key as usize);
        action.is_some_and(|action| action.state & state::RUNNING != 0)
    }
}
