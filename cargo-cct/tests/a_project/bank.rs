//! The tests of the project: one loses an update in some schedules, one has a third party wait for an hour, one asks
//! two third parties for random choices, one is no test of tokio.

#![cfg(test)]

use std::{sync::Arc, time::Duration};
use tokio::sync::{mpsc, Mutex};
use futures::FutureExt as _;
use tokio_stream::{wrappers::ReceiverStream, StreamExt, StreamMap};

pub async fn deposit(balance: Arc<Mutex<u64>>, amount: u64) {
    let before = *balance.lock().await;
    *balance.lock().await = before + amount;
}

#[tokio::test]
async fn deposits_add_up() {
    let balance = Arc::new(Mutex::new(0));
    let rent = tokio::spawn(deposit(balance.clone(), 700));
    let food = tokio::spawn(deposit(balance.clone(), 50));
    rent.await.unwrap();
    food.await.unwrap();
    assert_eq!(*balance.lock().await, 750);
}

#[tokio::test]
async fn a_stream_ends_late() {
    let (sender, receiver) = mpsc::channel(1);
    tokio::spawn(async move {
        tokio::time::sleep(Duration::from_secs(3600)).await;
        sender.send(7).await.unwrap();
    });
    let all: Vec<i32> = ReceiverStream::new(receiver).collect().await;
    assert_eq!(all, [7]);
}

/// Both draw from counters of the process, which the copies of these crates do not.
#[tokio::test]
async fn random_branches_are_the_same_when_run_again() {
    let mut order = String::new();
    for _ in 0..10 {
        futures::select! {
            () = std::future::ready(()).fuse() => order.push('a'),
            () = std::future::ready(()).fuse() => order.push('b'),
        }
        let mut streams = StreamMap::new();
        streams.insert('c', tokio_stream::once(()));
        streams.insert('d', tokio_stream::once(()));
        let (first, ()) = streams.next().await.unwrap();
        order.push(first);
        for _ in 0..u32::from(order.ends_with('d')) + 2 * u32::from(order.contains("ac")) {
            tokio::task::yield_now().await;
        }
    }
}

/// Until whoever has started this hangs up.
#[test]
fn patient() {
    if std::env::var_os("BANK_WAITS").is_some() {
        std::io::copy(&mut std::io::stdin(), &mut std::io::sink()).unwrap();
    }
}
