//! The workloads on cct.

use super::Params;
use cct_executor::strategy::{Flow, Interests, RoundRobin, StepEvent, Strategy};
use cct_executor::words::{EnabledSet, Iteration, Pick, SchedulingPoint};
use cct_executor::{Checker, Granularity};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

pub(super) mod workloads {
    include!("workloads.rs");
}

/// Runs that many iterations on one worker. Returns how often the workload ran.
pub(super) fn iterate(
    workload: &str,
    params: Params,
    strategy: &str,
    (granularity, budget): (Granularity, bool),
    iterations: u64,
) -> u64 {
    let name: &'static str = workload.to_owned().leak();
    let checker = checker(strategy, granularity).coop_budget(budget);
    count_runs(checker, iterations, move || async move {
        workloads::run(name, params).await;
    })
}

/// Checks the scenario, and returns how often it ran: of a strategy that learns each lane begins with
/// iteration 0, and only one of these runs counts as an iteration.
pub(super) fn count_runs<F>(
    checker: Checker,
    iterations: u64,
    scenario: impl Fn() -> F + Send + Sync + 'static,
) -> u64
where
    F: Future<Output = ()> + 'static,
{
    let runs = Arc::new(AtomicU64::new(0));
    let theirs = runs.clone();
    let report = checker.iterations(iterations).run(move || {
        theirs.fetch_add(1, Relaxed);
        scenario()
    });
    report.assert_passed();
    // What a run sets up would pass for the cost of the iterations that it did not do.
    let (done, strategy) = (report.iterations, &report.strategy);
    assert_eq!(done, iterations, "{strategy} ends a run by itself");
    runs.load(Relaxed)
}

pub(super) fn checker(strategy: &str, granularity: Granularity) -> Checker {
    let checker = Checker::new().use_environment(false);
    let checker = match strategy {
        "round-robin" => checker.strategy(PlainOrder::default),
        _ => checker.strategy_text(strategy),
    };
    checker
        .granularity(granularity)
        .workers(1)
        .time_budget(None)
        .max_steps(10_000_000)
        .determinism_check(false)
}

/// `round-robin` again and again: by itself it has one iteration, which tells more of how a run begins.
#[derive(Default)]
struct PlainOrder(RoundRobin);

impl Strategy for PlainOrder {
    fn describe(&self) -> String {
        self.0.describe()
    }

    fn interests(&self) -> Interests {
        self.0.interests()
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        self.0 = RoundRobin::new();
        self.0.begin(iteration)
    }

    fn observe(&mut self, event: &StepEvent<'_>) {
        self.0.observe(event);
    }

    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        self.0.pick(point, enabled)
    }
}

pub(super) mod rt {
    //! What the workloads need.

    use std::time::Duration;

    pub(crate) use std::sync::Arc as Shared;

    pub(crate) type Mutex = cct_sync::Mutex<u64>;
    pub(crate) type Tx = cct_sync::mpsc::Sender<u64>;
    pub(crate) type Rx = cct_sync::mpsc::Receiver<u64>;
    pub(crate) type UnboundedTx = cct_sync::mpsc::UnboundedSender<u64>;
    pub(crate) type UnboundedRx = cct_sync::mpsc::UnboundedReceiver<u64>;

    pub(crate) use cct_executor::spawn;
    pub(crate) use cct_executor::task::yield_now;
    pub(crate) use cct_sync::mpsc::{channel, unbounded_channel as unbounded};

    pub(crate) async fn join<T>(task: cct_executor::task::JoinHandle<T>) -> T {
        task.await.unwrap()
    }

    pub(crate) fn sleep_ms(ms: u64) -> impl Future<Output = ()> {
        cct_executor::time::sleep(Duration::from_millis(ms))
    }

    pub(crate) fn lock(mutex: &Mutex) -> impl Future<Output = cct_sync::MutexGuard<'_, u64>> {
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

    pub(crate) type Wire = cct_net::TcpStream;

    /// Starts a node with a server; returns a connection to it.
    pub(crate) async fn server<F>(
        number: u64,
        serve: impl FnOnce(Wire) -> F + Send + 'static,
    ) -> Wire
    where
        F: Future<Output = ()> + Send + 'static,
    {
        let node = cct_net::node(format!("server-{number}")).start(|| async {});
        let bound = node.spawn(cct_net::TcpListener::bind("0.0.0.0:80"));
        let listener = bound.await.unwrap().unwrap();
        let addr = cct_net::node::addresses(&node)[0];
        drop(node.spawn(async move {
            let (wire, _) = listener.accept().await.unwrap();
            serve(wire).await;
        }));
        cct_net::TcpStream::connect((addr, 80)).await.unwrap()
    }

    pub(crate) async fn read_exact(wire: &mut Wire, buf: &mut [u8]) -> bool {
        futures::io::AsyncReadExt::read_exact(wire, buf)
            .await
            .is_ok()
    }

    pub(crate) async fn write_all(wire: &mut Wire, buf: &[u8]) -> bool {
        futures::io::AsyncWriteExt::write_all(wire, buf)
            .await
            .is_ok()
    }
}
