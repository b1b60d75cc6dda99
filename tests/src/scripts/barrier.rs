//! Barriers of several sizes.

use super::rt::sync::Barrier;
use super::rt::task::yield_now;
use cct_tests::fuzz::{Script, Stage, Turn, then};
use cct_tests::{Log, note};

pub(crate) async fn play(script: Script, log: Log) {
    let barrier = Barrier::new(usize::from(script.setting % 5));
    let mut stage = Stage::<bool>::new(&log).in_no_order();
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(leads) => note!(log, "    leads: {leads}"),
            Turn::Own(_) => {
                let future = then(barrier.wait(), |result| result.is_leader());
                stage.put(act, format_args!("wait"), future);
            }
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        stage.woken();
    }
    stage.finish();
}
