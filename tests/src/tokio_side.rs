//! Runs a contract on the real tokio. One function for each kind of contract; each returns what
//! the contract noted, after checking that several runs noted the same.

use crate::Log;
use crate::contract::{Contract, erased};
use tokio::runtime::{Builder, Runtime};

/// Runs on two worker threads, where real races happen.
const THREADED_RUNS: usize = 12;

fn paused() -> Runtime {
    Builder::new_current_thread()
        .enable_all()
        .start_paused(true)
        .build()
        .expect("a current_thread runtime")
}

fn threaded() -> Runtime {
    Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .expect("a multi_thread runtime")
}

fn once(runtime: &Runtime, contract: &Contract) -> Vec<String> {
    let log = Log::new();
    runtime.block_on(contract(log.clone()));
    log.lines()
}

fn same_again(runtime: &Runtime, contract: &Contract, expected: &[String]) {
    let seen = once(runtime, contract);
    assert_eq!(seen, expected, "two runs on tokio noted different things");
}

/// Holds for every schedule: on one thread, and on two.
pub fn any<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
) -> Vec<String> {
    let contract = erased(contract);
    let expected = once(&paused(), &contract);
    let threaded = threaded();
    for _ in 0..THREADED_RUNS {
        same_again(&threaded, &contract, &expected);
    }
    expected
}

/// Holds for every schedule under a paused clock.
pub fn clock<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
) -> Vec<String> {
    fifo(contract)
}

/// Needs threads that may block.
pub fn multi<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
) -> Vec<String> {
    let (contract, threaded) = (erased(contract), threaded());
    let expected = once(&threaded, &contract);
    for _ in 0..THREADED_RUNS {
        same_again(&threaded, &contract, &expected);
    }
    expected
}

/// Holds where tasks run in the order in which they were woken.
pub fn fifo<F: Future<Output = ()> + 'static>(
    contract: impl Fn(Log) -> F + Send + Sync + 'static,
) -> Vec<String> {
    let contract = erased(contract);
    let expected = once(&paused(), &contract);
    same_again(&paused(), &contract, &expected);
    expected
}
