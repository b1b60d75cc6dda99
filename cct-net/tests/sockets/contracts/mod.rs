//! What sockets do, written once and run on tokio over loopback and on ours: both must note the
//! same, ours under every schedule.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same contracts"
)]

use crate::two_sided::{self, Log, contracts, ours};
use tokio::runtime::Builder;

#[path = "."]
pub(super) mod on_tokio {
    mod tokio_side;

    use super::Log;
    use tokio_side as rt;

    pub(crate) mod begun;
    pub(crate) mod by_descriptor;
    pub(crate) mod descriptors;
    pub(crate) mod fresh;
    pub(crate) mod known;
    pub(crate) mod streams_by_descriptor;
    pub(crate) mod tcp;
    pub(crate) mod tcp_errors;
    pub(crate) mod udp;
    pub(crate) mod unix;
    pub(crate) mod unix_socket;
}

#[path = "."]
pub(super) mod on_cct {
    mod cct_side;

    use super::Log;
    use cct_side as rt;

    pub(crate) mod begun;
    pub(crate) mod by_descriptor;
    pub(crate) mod descriptors;
    pub(crate) mod fresh;
    pub(crate) mod known;
    pub(crate) mod streams_by_descriptor;
    pub(crate) mod tcp;
    pub(crate) mod tcp_errors;
    pub(crate) mod udp;
    pub(crate) mod unix;
    pub(crate) mod unix_socket;
}

fn real<F: Future<Output = ()>>(contract: impl Fn(Log) -> F) -> Vec<String> {
    two_sided::real(Builder::new_multi_thread().worker_threads(2), contract)
}

socket_contracts!(contracts);
