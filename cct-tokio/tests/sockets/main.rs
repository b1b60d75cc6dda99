//! The contracts of sockets hold through tokio's paths and I/O traits as well: they note what they note on
//! `cct_net`, whose tests compare that with tokio.

#![cfg(unix)]
#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

// The contracts' side of tokio is compiled against what stands in for it.
extern crate cct_tokio as tokio;

#[macro_use]
#[path = "../../../cct-net/tests/sockets/contracts/list.rs"]
mod list;
mod machine;
#[path = "../../../cct-net/tests/two_sided/results.rs"]
mod results;
#[expect(unused, reason = "nothing runs on tokio here")]
#[path = "../../../cct-net/tests/two_sided/contracts.rs"]
mod two_sided;
#[path = "../../../cct-net/tests/two_sided/worlds.rs"]
mod worlds;

use two_sided::{Log, ours};
use worlds::checker;

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

    pub(crate) mod begun;
    pub(crate) mod by_descriptor;
    pub(crate) mod descriptors;
    pub(crate) mod known;
    pub(crate) mod streams_by_descriptor;
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

    pub(crate) mod begun;
    pub(crate) mod by_descriptor;
    pub(crate) mod descriptors;
    pub(crate) mod known;
    pub(crate) mod streams_by_descriptor;
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

macro_rules! contracts {
    ($($file:ident: $($name:ident)*;)*) => {
        $(mod $file {
            $(
                #[test]
                fn $name() {
                    let expected = super::noted(super::directly::$file::$name);
                    assert!(!expected.is_empty(), "a contract that notes nothing");
                    super::ours(stringify!($name), super::through_tokio::$file::$name, &expected);
                }
            )*
        })*
    };
}

socket_contracts!(contracts);
