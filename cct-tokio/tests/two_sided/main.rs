//! What is only here: written once, run on tokio and on what stands in for it. Both must note the same, ours
//! under every schedule.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

// The contracts' side of tokio.
extern crate real_tokio as tokio;

#[path = "../../../cct-net/tests/two_sided/results.rs"]
mod results;
#[path = "../../../cct-net/tests/two_sided/contracts.rs"]
mod two_sided;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use two_sided::{Log, contracts, ours};

#[path = "."]
mod on_tokio {
    use super::Log;
    use real_tokio as rt;

    pub(crate) mod clocks;
    pub(crate) mod copying;
    #[cfg(target_os = "linux")]
    pub(crate) mod datagrams;
    pub(crate) mod memory;
    pub(crate) mod own_addresses;
    #[cfg(target_os = "linux")]
    pub(crate) mod room;
    pub(crate) mod yields;
}

#[path = "."]
mod on_cct {
    use super::Log;
    use cct_tokio as rt;

    pub(crate) mod clocks;
    pub(crate) mod copying;
    #[cfg(target_os = "linux")]
    pub(crate) mod datagrams;
    pub(crate) mod memory;
    pub(crate) mod own_addresses;
    #[cfg(target_os = "linux")]
    pub(crate) mod room;
    pub(crate) mod yields;
}

fn real<F: Future<Output = ()>>(contract: impl Fn(Log) -> F) -> Vec<String> {
    two_sided::real(&mut tokio::runtime::Builder::new_current_thread(), contract)
}

contracts! {
    copying: order failures both_ways streams budget;
    memory: there_and_back little_room one_direction budget;
    own_addresses: listened_at nobody_listens of_datagrams towards_others;
}

#[cfg(target_os = "linux")]
mod of_one_machine {
    use super::{contracts, on_cct, on_tokio, ours, real};

    contracts! { datagrams: in_order at_once of_peers to_nobody too_many; }
}

/// Megabytes for each schedule: a few do.
#[cfg(target_os = "linux")]
mod room {
    use super::{Log, on_cct, on_tokio, real};

    macro_rules! contracts {
        ($($name:ident)*) => {$(
            #[test]
            fn $name() {
                let expected = real(on_tokio::room::$name);
                let ours = move || {
                    let expected = expected.clone();
                    async move {
                        let log = Log::default();
                        on_cct::room::$name(log.clone()).await;
                        assert_eq!(log.lines(), expected);
                    }
                };
                cct_executor::Checker::new().iterations(10).run(ours).assert_passed();
            }
        )*};
    }

    contracts! { of_connections of_unix_streams }
}

/// What `#[tokio::test]` makes of a world: one thread, and a clock as on any machine.
mod of_a_test {
    use super::{Log, on_cct, on_tokio, worlds};

    macro_rules! contracts {
        ($($file:ident::$name:ident)*) => {
            $(#[test]
            fn $name() {
                let expected = super::real(on_tokio::$file::$name);
                worlds::everywhere(stringify!($name), 40, |checker| {
                    let expected = expected.clone();
                    checker.lasting_yields(true).late_timers(true).run(move || {
                        let expected = expected.clone();
                        async move {
                            let log = Log::default();
                            on_cct::$file::$name(log.clone()).await;
                            assert_eq!(log.lines(), expected, "ours noted what tokio does not");
                        }
                    })
                });
            })*
        };
    }

    contracts! { yields::of_the_test yields::of_another_task yields::of_all clocks::due_now clocks::paused_on_the_way clocks::paused_and_resumed clocks::looks }
}
