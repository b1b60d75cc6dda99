//! A job queue that shuts down gracefully.
//!
//! Clients reserve a slot before they prepare a job, so that no work is wasted on a full queue, and
//! give the slot back when there turns out to be nothing to do. On shutdown the worker closes the
//! queue and, as tokio's documentation asks, receives until it sees `None`.
//!
//! The bug, in tokio 1.52.2 and before: `OwnedPermit::release` returns the slot without telling the
//! receiver. When the slot given back is the last one outstanding on a closed channel, and some
//! sender is still alive, the receiver sleeps for ever. Fixed in 1.52.3 by
//! <https://github.com/tokio-rs/tokio/pull/8075>.

use cct_executor::task::{JoinHandle, yield_now};
use cct_executor::{select, spawn};
use tokio::sync::{mpsc, oneshot};

/// What a client wants done.
type Job = u32;

/// A worker task and the two ways to reach it.
struct Service {
    jobs: mpsc::Sender<Job>,
    stop: oneshot::Sender<()>,
    worker: JoinHandle<Vec<Job>>,
}

impl Service {
    fn start() -> Self {
        let (jobs, queue) = mpsc::channel(16);
        let (stop, stopped) = oneshot::channel();
        Service {
            jobs,
            stop,
            worker: spawn(work(queue, stopped)),
        }
    }

    /// Ends when every job that was accepted is done; returns those jobs.
    async fn shutdown(self) -> Vec<Job> {
        let _ = self.stop.send(());
        self.worker.await.expect("the worker does not panic")
    }
}

async fn work(mut queue: mpsc::Receiver<Job>, mut stopped: oneshot::Receiver<()>) -> Vec<Job> {
    let mut done = Vec::new();
    loop {
        select! {
            _ = &mut stopped => break,
            job = queue.recv() => match job {
                Some(job) => done.push(perform(job).await),
                None => return done,
            },
        }
    }
    queue.close();
    while let Some(job) = queue.recv().await {
        done.push(perform(job).await);
    }
    done
}

/// Stands for the I/O that a job needs.
async fn perform(job: Job) -> Job {
    yield_now().await;
    job
}

/// Stands for looking up what there is to do; every second time there is nothing.
async fn prepare(client: u32, round: u32) -> Option<Job> {
    yield_now().await;
    (round % 2 == 0).then_some(client * 100 + round)
}

/// Offers jobs until the service closes; returns those that were accepted.
async fn client(id: u32, mut jobs: mpsc::Sender<Job>) -> Vec<Job> {
    let mut accepted = Vec::new();
    for round in 0..4 {
        let Ok(slot) = jobs.reserve_owned().await else {
            break;
        };
        jobs = match prepare(id, round).await {
            Some(job) => {
                accepted.push(job);
                slot.send(job)
            }
            None => slot.release(),
        };
    }
    accepted
}

/// Every accepted job is done by the time the service has shut down.
pub async fn scenario() {
    let service = Service::start();
    let clients: Vec<_> = (1..=3)
        .map(|id| spawn(client(id, service.jobs.clone())))
        .collect();
    yield_now().await;

    let mut done = service.shutdown().await;
    let mut accepted = Vec::new();
    for client in clients {
        accepted.extend(client.await.expect("a client does not panic"));
    }
    done.sort_unstable();
    accepted.sort_unstable();
    assert_eq!(done, accepted, "an accepted job was not done");
}
