//! What a process hears of its signals, written once and run on tokio, with real signals, and on ours: both
//! must note the same, ours under every schedule.
//!
//! Real signals are for the whole process, so the contracts take turns. Each registers for what it raises
//! first, unless that is ignored.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

use crate::two_sided::{self, Log, contracts, ours};
use std::sync::{Mutex, PoisonError};
use tokio::runtime::Builder;

#[path = "."]
mod on_tokio {
    mod tokio_side;

    use super::Log;
    use tokio_side as rt;

    pub(super) mod hearing;
    pub(super) mod names;
}

#[path = "."]
mod on_cct {
    mod cct_side;

    use super::Log;
    use cct_side as rt;

    pub(super) mod hearing;
    pub(super) mod names;
}

fn real<F: Future<Output = ()>>(contract: impl Fn(Log) -> F) -> Vec<String> {
    static TURN: Mutex<()> = Mutex::new(());

    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    two_sided::real(&mut Builder::new_current_thread(), contract)
}

contracts! {
    hearing: heard from_itself merged all_listeners nobody_listens_any_more too_late ignored cancelled polled
        woken ctrl_c kinds;
    names: refused numbers traits;
}
