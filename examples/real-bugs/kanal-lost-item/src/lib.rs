//! A batcher between producers and a slow writer.
//!
//! Items are written in batches: a batch ends when it is full or when its time is up, whatever
//! comes first.
//!
//! The bug, in kanal 0.1.1 and before: a sender hands its item straight to a receive future that
//! waits. When that future is dropped before it is polled again, as `select!` drops it when the time
//! is up, the item is dropped with it although `send` returned `Ok`. Known to the crate
//! (<https://github.com/fereidani/kanal/issues/24>, <https://github.com/fereidani/kanal/issues/50>)
//! and documented there as a limitation; there is no fixed version. The `control` package runs the
//! same scenario on `async-channel`, whose receive future loses nothing.

#[cfg(feature = "control")]
use async_channel::{Receiver, Sender, bounded as channel};
#[cfg(not(feature = "control"))]
use kanal::{AsyncReceiver as Receiver, AsyncSender as Sender, bounded_async as channel};

use cct_executor::time::sleep;
use cct_executor::{select, spawn};
use std::pin::pin;
use std::time::Duration;

type Item = u32;

/// The clock policy this bug needs: an item may arrive just when the time of a batch is up.
pub const SLACK: Duration = Duration::from_millis(5);

const BATCH_ITEMS: usize = 3;
const BATCH_TIME: Duration = Duration::from_millis(10);

/// One batch; `None` when all producers are gone and nothing is left.
async fn next_batch(items: &Receiver<Item>) -> Option<Vec<Item>> {
    let mut batch = Vec::new();
    let mut time_is_up = pin!(sleep(BATCH_TIME));
    while batch.len() < BATCH_ITEMS {
        select! {
            item = items.recv() => match item {
                Ok(item) => batch.push(item),
                Err(_) if batch.is_empty() => return None,
                Err(_) => break,
            },
            () = &mut time_is_up => break,
        }
    }
    Some(batch)
}

/// Sends an item now and then; returns how many the channel took.
async fn produce(id: Item, items: Sender<Item>) -> usize {
    let mut sent = 0;
    for n in 0..4 {
        sleep(Duration::from_millis(5)).await;
        if items.send(id * 100 + n).await.is_ok() {
            sent += 1;
        }
    }
    sent
}

/// What was sent is either received or still queued.
pub async fn scenario() {
    let (sender, receiver) = channel(4);
    let producers: Vec<_> = (1..=2)
        .map(|id| spawn(produce(id, sender.clone())))
        .collect();
    drop(sender);

    let mut received = 0;
    while let Some(batch) = next_batch(&receiver).await {
        received += batch.len();
    }
    let mut sent = 0;
    for producer in producers {
        sent += producer.await.expect("a producer does not panic");
    }
    assert_eq!(
        sent,
        received + receiver.len(),
        "sent items are neither received nor queued"
    );
}
