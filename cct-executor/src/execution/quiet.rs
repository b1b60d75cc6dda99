//! How long the others of a test that is run once are waited for, where no timer of its world is to fire.
//!
//! Who waits for a process or a thread waits for as long as it takes, as on tokio. But that nobody will ever come is a
//! deadlock, and the test is to end. So the wait goes on while a child of the process runs or other threads work, and a
//! while longer.

use cct_interpose::{children_run, time_of_others};
use std::time::Duration;

/// So long nobody has to do anything.
const PATIENCE: Duration = Duration::from_secs(30);
/// Other threads work that take more than this part of the time: those that look now and then whether there is something
/// to do, as those of other worlds, take less.
const WORK: u32 = 4;

pub(super) struct Quiet {
    until: Duration,
    /// What other threads had taken of the processor's time when it was looked last.
    worked: Duration,
}

impl Quiet {
    /// It begins now.
    pub(super) fn new() -> Quiet {
        Quiet {
            until: PATIENCE,
            worked: time_of_others(),
        }
    }

    /// Whether nothing will come any more, after a wait of so long.
    pub(super) fn is_for_ever(&mut self, waited: Duration) -> bool {
        waited >= self.until && self.looked(waited, time_of_others(), children_run())
    }

    fn looked(&mut self, waited: Duration, worked: Duration, children_run: bool) -> bool {
        let since = worked.saturating_sub(self.worked);
        self.worked = worked;
        self.until = waited + PATIENCE;
        since <= PATIENCE / WORK && !children_run
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_goes_on_while_others_work() {
        let mut quiet = Quiet::new();
        assert!(!quiet.is_for_ever(PATIENCE / 2));
        let little = PATIENCE / WORK;
        let before = quiet.worked;
        assert!(!quiet.looked(PATIENCE, before + little + little, false));
        assert!(!quiet.is_for_ever(PATIENCE + PATIENCE / 2));
        assert!(!quiet.looked(PATIENCE * 2, before + little * 3, true));
        assert!(quiet.looked(PATIENCE * 3, before + little * 4, false));
    }
}
