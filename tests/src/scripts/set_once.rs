//! A value that many wait for.

use super::rt::sync::SetOnce;
use super::rt::task::yield_now;
use cct_tests::fuzz::{Script, Stage, Turn, Value, then};
use cct_tests::{Log, note};

pub(crate) async fn play(script: Script, log: Log) {
    let given = (script.setting % 8 == 0).then(|| Value::new(0, &log));
    let cell = SetOnce::new_with(given);
    let mut stage = Stage::<String>::new(&log);
    for act in script.acts {
        match stage.turn(act) {
            Turn::Ready(text) => note!(log, "    {text}"),
            Turn::Own(what) if what % 8 == 0 && act.b < 64 => {
                let number = stage.name();
                let result = cell.set(Value::new(number, &log));
                note!(log, "  set {number}: {result:?}");
            }
            Turn::Own(what) if what % 8 == 1 => note!(log, "  {:?}", cell.clone()),
            Turn::Own(_) => {
                let future = then(cell.wait(), |value| format!("{value:?}"));
                stage.put(act, format_args!("wait"), future);
            }
            Turn::Yield => yield_now().await,
            Turn::Over => {}
        }
        note!(log, "    {cell:?} {:?}", cell.get());
        stage.woken();
    }
    stage.finish();
    drop(stage);
    note!(log, "  {:?}", cell.into_inner());
}
