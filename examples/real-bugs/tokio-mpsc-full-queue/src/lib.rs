//! A job queue that is full when it shuts down.
//!
//! Clients send jobs and wait while the queue is full. On shutdown the worker closes the queue and,
//! as tokio's documentation asks, receives until it sees `None`.
//!
//! The bug, in tokio before 1.53.0: a `send` that waits is handed a slot as soon as the worker has
//! made room. When the queue is closed before that client runs again, `send` fails and the slot
//! goes back without telling the receiver, which counts it as outstanding and sleeps for ever.
//! Fixed in 1.53.0 by <https://github.com/tokio-rs/tokio/pull/8260>.

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
        let (jobs, queue) = mpsc::channel(2);
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

/// Sends jobs until the service closes; returns those that were accepted.
async fn client(id: u32, jobs: mpsc::Sender<Job>) -> Vec<Job> {
    let mut accepted = Vec::new();
    for round in 0..3 {
        let job = id * 100 + round;
        if jobs.send(job).await.is_err() {
            break;
        }
        accepted.push(job);
        yield_now().await;
    }
    accepted
}

/// Every accepted job is done by the time the service has shut down.
pub async fn scenario() {
    let service = Service::start();
    let clients: Vec<_> = (1..=3)
        .map(|id| spawn(client(id, service.jobs.clone())))
        .collect();
    for _ in 0..3 {
        // The program goes about its own business until it is told to stop.
        yield_now().await;
    }

    let mut done = service.shutdown().await;
    let mut accepted = Vec::new();
    for client in clients {
        accepted.extend(client.await.expect("a client does not panic"));
    }
    done.sort_unstable();
    accepted.sort_unstable();
    assert_eq!(done, accepted, "an accepted job was not done");
}
