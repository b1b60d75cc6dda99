//! The workloads on tokio's current-thread runtime with a paused clock: the reference.

use super::Params;

mod workloads {
    include!("workloads.rs");
}

/// Runs that many iterations, each with a runtime of its own.
pub(super) fn iterate(workload: &str, params: Params, iterations: u64) {
    for _ in 0..iterations {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_time()
            .start_paused(true)
            .build()
            .expect("a current-thread runtime needs no resources");
        runtime.block_on(workloads::run(workload, params));
    }
}

mod rt {
    //! What the workloads need.

    use std::time::Duration;

    pub(crate) use std::sync::Arc as Shared;

    pub(crate) type Mutex = tokio::sync::Mutex<u64>;
    pub(crate) type Tx = tokio::sync::mpsc::Sender<u64>;
    pub(crate) type Rx = tokio::sync::mpsc::Receiver<u64>;
    pub(crate) type UnboundedTx = tokio::sync::mpsc::UnboundedSender<u64>;
    pub(crate) type UnboundedRx = tokio::sync::mpsc::UnboundedReceiver<u64>;

    pub(crate) use tokio::spawn;
    pub(crate) use tokio::sync::mpsc::{channel, unbounded_channel as unbounded};
    pub(crate) use tokio::task::yield_now;

    pub(crate) async fn join<T>(task: tokio::task::JoinHandle<T>) -> T {
        task.await.unwrap()
    }

    pub(crate) fn sleep_ms(ms: u64) -> impl Future<Output = ()> {
        tokio::time::sleep(Duration::from_millis(ms))
    }

    pub(crate) fn lock(mutex: &Mutex) -> impl Future<Output = tokio::sync::MutexGuard<'_, u64>> {
        mutex.lock()
    }

    pub(crate) async fn send(tx: &Tx, value: u64) {
        tx.send(value).await.unwrap();
    }

    pub(crate) async fn recv(rx: &mut Rx) -> Option<u64> {
        rx.recv().await
    }

    pub(crate) fn usend(tx: &UnboundedTx, value: u64) {
        tx.send(value).unwrap();
    }

    pub(crate) async fn urecv(rx: &mut UnboundedRx) -> Option<u64> {
        rx.recv().await
    }

    pub(crate) type Wire = tokio::io::DuplexStream;

    /// Starts a server; returns the client's end of a pipe to it.
    pub(crate) async fn server<F>(_: u64, serve: impl FnOnce(Wire) -> F) -> Wire
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let (here, there) = tokio::io::duplex(1024);
        drop(spawn(serve(there)));
        here
    }

    pub(crate) async fn read_exact(wire: &mut Wire, buf: &mut [u8]) -> bool {
        tokio::io::AsyncReadExt::read_exact(wire, buf).await.is_ok()
    }

    pub(crate) async fn write_all(wire: &mut Wire, buf: &[u8]) -> bool {
        tokio::io::AsyncWriteExt::write_all(wire, buf).await.is_ok()
    }
}
