//! A price feed with viewers of different speed.
//!
//! The publisher broadcasts prices and ends the feed by dropping its sender. A viewer that fell
//! behind does not care about old prices: it resubscribes, which skips to the newest.
//!
//! The bug, in tokio 1.19.0 to 1.20.1: a broadcast channel is closed by a marker in its ring, and
//! `resubscribe` starts behind that marker. A viewer that resubscribes after the last sender is gone
//! waits for ever instead of seeing `Closed`. Reported in
//! <https://github.com/tokio-rs/tokio/issues/4814>, fixed in 1.21.0 by
//! <https://github.com/tokio-rs/tokio/pull/4867>.

use cct_executor::spawn;
use cct_executor::task::yield_now;
use tokio::sync::broadcast::{self, error::RecvError};

const PRICES: std::ops::RangeInclusive<u32> = 1..=6;

async fn publish(prices: broadcast::Sender<u32>) {
    for price in PRICES {
        // Nobody watching is no reason to stop.
        let _ = prices.send(price);
        yield_now().await;
    }
}

/// Shows prices until the feed ends; returns those shown.
async fn view(mut prices: broadcast::Receiver<u32>) -> Vec<u32> {
    let mut shown = Vec::new();
    loop {
        match prices.recv().await {
            Ok(price) => {
                shown.push(price);
                // Drawing takes a moment.
                yield_now().await;
            }
            Err(RecvError::Lagged(_)) => prices = prices.resubscribe(),
            Err(RecvError::Closed) => return shown,
        }
    }
}

/// Every viewer comes to an end, and sees prices in the order in which they were published.
pub async fn scenario() {
    let (sender, _) = broadcast::channel(4);
    let viewers: Vec<_> = (0..2).map(|_| spawn(view(sender.subscribe()))).collect();
    let publisher = spawn(publish(sender));

    publisher.await.expect("the publisher does not panic");
    for viewer in viewers {
        let shown = viewer.await.expect("a viewer does not panic");
        assert!(shown.is_sorted(), "prices out of order: {shown:?}");
    }
}
