//! What a process hears of its signals, written once and run on tokio, with real signals, and on ours: both
//! must note the same, ours under every schedule.
//!
//! Real signals are for the whole process, so the contracts take turns. Each registers for what it raises
//! first, unless that is ignored.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

use super::worlds::everywhere;
use std::fmt::Display;
use std::sync::{Arc, Mutex, PoisonError};

/// What a contract saw.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

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
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .expect("a runtime");
    let log = Log::default();
    runtime.block_on(contract(log.clone()));
    log.lines()
}

fn ours<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: &[String],
) {
    let expected = expected.to_vec();
    everywhere(name, 40, |checker| {
        let expected = expected.clone();
        checker.run(move || {
            let expected = expected.clone();
            async move {
                let log = Log::default();
                contract(log.clone()).await;
                assert_eq!(log.lines(), expected, "ours noted what tokio does not");
            }
        })
    });
}

macro_rules! contracts {
    ($($file:ident: $($name:ident)*;)*) => {
        $(mod $file {
            $(
                #[test]
                fn $name() {
                    let expected = super::real(super::on_tokio::$file::$name);
                    assert!(!expected.is_empty(), "a contract that notes nothing");
                    super::ours(stringify!($name), super::on_cct::$file::$name, &expected);
                }
            )*
        })*
    };
}

contracts! {
    hearing: heard merged all_listeners nobody_listens_any_more too_late ignored cancelled polled
        woken ctrl_c kinds;
    names: refused numbers traits;
}
