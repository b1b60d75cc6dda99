//! Contracts: written once, run on tokio and on ours. Both must note the same, ours under every schedule.

use crate::worlds::everywhere;
use std::fmt::Display;
use std::sync::{Arc, Mutex};

/// What a contract saw.
#[derive(Clone, Default)]
pub(crate) struct Log(Arc<Mutex<Vec<String>>>);

impl Log {
    pub(crate) fn note(&self, line: impl Display) {
        self.0.lock().unwrap().push(line.to_string());
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.0.lock().unwrap().clone()
    }
}

/// What a contract notes on this runtime of tokio's.
pub(crate) fn real<F: Future<Output = ()>>(
    builder: &mut tokio::runtime::Builder,
    contract: impl Fn(Log) -> F,
) -> Vec<String> {
    let runtime = builder.enable_all().build().expect("a runtime");
    let log = Log::default();
    runtime.block_on(contract(log.clone()));
    log.lines()
}

/// Runs a contract on ours, where it must note this.
pub(crate) fn ours<F: Future<Output = ()> + 'static>(
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

/// Tests by file and contract. `real` runs one on tokio; `on_tokio` and `on_cct` have them.
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

pub(crate) use contracts;
