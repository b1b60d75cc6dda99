//! The contracts of sockets hold through tokio's paths and I/O traits as well: they note what they note on
//! `cct_net`, whose tests compare that with tokio.

#![cfg(unix)]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

// The contracts' side of tokio is compiled against what stands in for it.
extern crate cct_tokio as tokio;

mod log;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use log::Log;
use worlds::{checker, everywhere};

#[path = "../../../cct-net/tests/sockets/contracts"]
mod through_tokio {
    #[expect(dead_code, reason = "paths are of a world here")]
    mod tokio_side;

    mod rt {
        pub(crate) use super::tokio_side::*;

        /// A path that nobody uses: sockets of a world have no files.
        pub(crate) fn path(name: &str) -> std::path::PathBuf {
            std::path::PathBuf::from("/run").join(name)
        }

        pub(crate) fn unlink(path: &std::path::Path) -> std::io::Result<()> {
            cct_net::unix::unlink(path)
        }
    }

    use super::Log;

    pub(crate) mod descriptors;
    pub(crate) mod known;
    pub(crate) mod tcp;
    pub(crate) mod tcp_errors;
    pub(crate) mod udp;
    pub(crate) mod unix;
    pub(crate) mod unix_socket;
}

#[path = "../../../cct-net/tests/sockets/contracts"]
mod directly {
    mod cct_side;

    use super::Log;
    use cct_side as rt;

    pub(crate) mod descriptors;
    pub(crate) mod known;
    pub(crate) mod tcp;
    pub(crate) mod tcp_errors;
    pub(crate) mod udp;
    pub(crate) mod unix;
    pub(crate) mod unix_socket;
}

/// What a contract notes in one world.
fn noted<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
) -> Vec<String> {
    let kept = Log::default();
    let log = kept.clone();
    let once = checker("directly").iterations(1).determinism_check(false);
    let report = once.run(move || contract(log.clone()));
    report.assert_passed();
    kept.lines()
}

fn notes_the_same<F: Future<Output = ()> + 'static>(
    name: &str,
    contract: impl Fn(Log) -> F + Send + Sync + Copy + 'static,
    expected: &[String],
) {
    assert!(!expected.is_empty(), "a contract that notes nothing");
    everywhere(name, 3, |checker| {
        let expected = expected.to_vec();
        checker.run(move || {
            let expected = expected.clone();
            async move {
                let log = Log::default();
                contract(log.clone()).await;
                assert_eq!(log.lines(), expected);
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
                    let expected = super::noted(super::directly::$file::$name);
                    super::notes_the_same(
                        stringify!($name),
                        super::through_tokio::$file::$name,
                        &expected,
                    );
                }
            )*
        })*
    };
}

contracts! {
    tcp: hello half_close peek_and_try split_and_reunite back_pressure backlog early_bird
        vectored version_6 both_versions readiness names growing_buffers what_panics_may_pass service;
    tcp_errors: refused taken shared_port elsewhere close_with_unread_data zero_linger data_before_reset
        write_to_closed write_after_shutdown listener_dropped bad_names forgotten_peer numbers
        reset_at_the_end all_addresses;
    udp: echo connected unreachable truncated peeking nothing_there forbidden_broadcast
        growing_buffers senders settings poll_peek elsewhere numbers order_of_errors both_versions
        narrowed;
    known: reading peeking writing closed_while_full half_written own_operations udp udp_error
        budget datagrams again_until_it_works only_who_waits dropped woken_for_nothing
        several_interests nothing_at_all;
    unix: pair listen_and_connect closed paths no_paths datagrams datagrams_to_nobody full growing_buffers
        strangers hang_up by_address not_accepted end_of_much new_peers full_and_nowhere;
    descriptors: everybody_has_one options there_and_back listeners_there_and_back
        datagrams_there_and_back unix_there_and_back listeners_of_the_standard_library several_of_them
        sockets_of_others credentials those_that_block;
    unix_socket: names backlog not_listening datagrams of_the_wrong_kind unlinked;
}
