//! The floor: the least an executor can do between two polls.
//!
//! One thread, an index for a waker, a pair of ready queues, no choice, no record.
#![expect(
    unsafe_code,
    clippy::undocumented_unsafe_blocks,
    reason = "a raw waker without reference counts, and cells without checks; the argument for all of them stands once, in exec.rs"
)]

mod exec;
mod network;
mod rt;

mod workloads {
    include!("../workloads.rs");
}

use super::Params;
pub(super) use network::exchange;

/// Runs that many iterations.
pub(super) fn iterate(workload: &str, params: Params, iterations: u64) {
    let name: &'static str = workload.to_owned().leak();
    for _ in 0..iterations {
        exec::run(async move {
            workloads::run(name, params).await;
        });
    }
}
