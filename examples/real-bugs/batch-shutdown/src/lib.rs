//! Requests that are done in batches by a worker, which is told to shut down.
//!
//! The bug, in batch-aint-one 0.15.1: the worker ends when it was told to and has nothing left to do, and does
//! not look whether items have been sent to it in the meantime. They are lost, and their requests fail with
//! a channel that was closed, although new items are accepted while the worker shuts down. Gone in 0.16.0
//! (its changelog: "Items added just as a shutting-down worker exits are now processed").
//!
//! The scenario does not wait for the end of the worker: in 0.16.0 too `wait_for_shutdown` may hang, as its question is sent while
//! the worker drops the receiver. The default strategy finds that (at granularity `spawn`).
//!
//! batch-aint-one is written for tokio. It is the published one, untouched; the folder `tokio` beside this one
//! stands in for tokio.

use batch_aint_one::error::BatchError;
use batch_aint_one::{Batcher, BatchingPolicy, Limits, Processor};
use cct_executor::spawn;

/// Doubles numbers.
#[derive(Clone, Debug)]
struct Double;

impl Processor for Double {
    type Key = ();
    type Input = u32;
    type Output = u32;
    type Error = String;
    type Resources = ();

    async fn acquire_resources(&self, (): ()) -> Result<(), String> {
        Ok(())
    }

    async fn process(
        &self,
        (): (),
        numbers: impl Iterator<Item = u32> + Send,
        (): (),
    ) -> Result<Vec<u32>, String> {
        Ok(numbers.map(|number| 2 * number).collect())
    }
}

/// Three requests, and a shutdown: each request is done, or told that it came too late.
pub async fn scenario() {
    let batcher = Batcher::builder()
        .name("double")
        .processor(Double)
        .limits(Limits::builder().max_batch_size(2).build())
        .batching_policy(BatchingPolicy::Immediate)
        .build();
    let worker = batcher.worker_handle();
    let requests = [1, 2, 3].map(|number| {
        let batcher = batcher.clone();
        spawn(async move { (number, batcher.add((), number).await) })
    });
    worker.shut_down().await;
    for request in requests {
        match request.await.expect("a request does not panic") {
            (number, Ok(doubled)) => assert_eq!(doubled, 2 * number),
            // The worker was gone before the item was sent.
            (_, Err(BatchError::Tx)) => {}
            (number, Err(error)) => panic!("{number} was accepted, and lost: {error}"),
        }
    }
}
