//! What is only here: written once, run on tokio and on what stands in for it. Both must note the same, ours
//! under every schedule.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

#[path = "../sockets/log.rs"]
mod log;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use log::Log;

#[path = "."]
mod on_tokio {
    use super::Log;
    use real_tokio as rt;

    pub(crate) mod copying;
    pub(crate) mod memory;
}

#[path = "."]
mod on_ours {
    use super::Log;
    use cct_tokio as rt;

    pub(crate) mod copying;
    pub(crate) mod memory;
}

/// What a contract notes on tokio.
fn real<F: Future<Output = ()>>(contract: impl Fn(Log) -> F) -> Vec<String> {
    let mut builder = real_tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().build().expect("a runtime");
    let log = Log::default();
    runtime.block_on(contract(log.clone()));
    log.lines()
}

fn ours<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: &[String],
) {
    assert!(!expected.is_empty(), "a contract that notes nothing");
    worlds::everywhere(name, 40, |checker| {
        let expected = expected.to_vec();
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
                    super::ours(stringify!($name), super::on_ours::$file::$name, &expected);
                }
            )*
        })*
    };
}

contracts! {
    copying: order failures both_ways streams budget;
    memory: there_and_back little_room one_direction budget;
}
