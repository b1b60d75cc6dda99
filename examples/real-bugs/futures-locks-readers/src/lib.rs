//! A list of prices that is read under a time limit, and renewed now and then.
//!
//! Requests read the list. While it is renewed they wait, but not for long.
//!
//! The bug, in futures-locks 0.7.1, the newest version: when the writer is done, it counts the readers
//! that wait, and those as well that have given up since. They never leave, so the lock counts as read
//! for ever, and no writer gets it any more. Found by a test like this one, and not reported that we
//! know of. The `control` package runs the same scenario on the `RwLock` of async-lock.

#[cfg(feature = "control")]
use async_lock::RwLock;
#[cfg(not(feature = "control"))]
use futures_locks::RwLock;

use cct_executor::spawn;
use cct_executor::time::{sleep, timeout};
use std::sync::Arc;
use std::time::Duration;

type Prices = Arc<RwLock<Vec<u32>>>;

/// The clock policy this bug needs: a time limit may be over just before the list is there.
pub const SLACK: Duration = Duration::from_millis(5);

const RENEWALS: u32 = 3;
const TIME_LIMIT: Duration = Duration::from_millis(10);

/// Renews the list; the file it reads takes its time.
async fn renew(prices: Prices) {
    for price in 1..=RENEWALS {
        let mut list = prices.write().await;
        sleep(Duration::from_millis(8)).await;
        list.push(price);
        drop(list);
        sleep(Duration::from_millis(8)).await;
    }
}

/// Asks for the newest price, five times; those that come too late do not count.
async fn ask(prices: Prices) {
    for _ in 0..5 {
        if let Ok(list) = timeout(TIME_LIMIT, prices.read()).await {
            assert!(
                list.last()
                    .is_none_or(|&price| price as usize == list.len())
            );
        }
        sleep(Duration::from_millis(3)).await;
    }
}

/// Whoever gives up, the list is renewed to the end.
pub async fn scenario() {
    let prices = Prices::default();
    let renewal = spawn(renew(prices.clone()));
    let requests = [spawn(ask(prices.clone())), spawn(ask(prices.clone()))];
    for request in requests {
        request.await.expect("a request does not panic");
    }
    renewal.await.expect("the renewal does not panic");
    assert_eq!(*prices.read().await, [1, 2, 3]);
}
