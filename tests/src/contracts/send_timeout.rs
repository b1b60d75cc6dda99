//! The one channel operation that needs the runtime's clock.

use super::rt::{spawn, sync::mpsc, time};
use cct_tests::{Log, note};
use std::time::Duration;

pub(crate) async fn send_timeout_gives_the_value_back(log: Log) {
    let (tx, rx) = mpsc::channel(1);
    let start = time::Instant::now();
    note!(
        log,
        "{:?}",
        tx.send_timeout(1, Duration::from_secs(1)).await
    );
    let late = tx
        .send_timeout(2, Duration::from_secs(1))
        .await
        .unwrap_err();
    note!(
        log,
        "{late} / {late:?} / {} after {:?}",
        late.into_inner(),
        start.elapsed()
    );
    drop(rx);
    let closed = tx
        .send_timeout(3, Duration::from_secs(1))
        .await
        .unwrap_err();
    note!(log, "{closed} / {closed:?} / {}", closed.into_inner());
}

pub(crate) async fn send_timeout_succeeds_when_room_appears(log: Log) {
    let (tx, mut rx) = mpsc::channel(1);
    tx.try_send(1).unwrap();
    let sender = spawn(async move { tx.send_timeout(2, Duration::from_secs(10)).await });
    time::sleep(Duration::from_secs(3)).await;
    note!(log, "{:?}", rx.recv().await);
    note!(log, "{:?} {:?}", sender.await.unwrap(), rx.recv().await);
}
