//! openraft's runtime on cct: its tasks, clock, channels and randomness are ours.

mod channels;
mod instant;

use cct_executor::task::{JoinError, JoinHandle};
use cct_executor::time::{Sleep, Timeout, error::Elapsed};
use cct_executor::{nondet, time};
use instant::Moment;
use openraft::{AsyncRuntime, OptionalSend};
use std::future::Future;
use std::io;
use std::time::Duration;

/// Runs openraft inside a checked world.
#[derive(Debug)]
pub(crate) struct CctRuntime;

impl AsyncRuntime for CctRuntime {
    type JoinError = JoinError;
    type JoinHandle<T: OptionalSend + 'static> = JoinHandle<T>;
    type Sleep = Sleep;
    type Instant = Moment;
    type TimeoutError = Elapsed;
    type Timeout<R, T: Future<Output = R> + OptionalSend> = Timeout<T>;
    type ThreadLocalRng = rand_pcg::Pcg64Mcg;
    type Mpsc = channels::Mpsc;
    type Watch = channels::Watch;
    type Oneshot = channels::Oneshot;
    type Mutex<T: OptionalSend + 'static> = channels::Mutex<T>;

    #[track_caller]
    fn spawn<T>(future: T) -> Self::JoinHandle<T::Output>
    where
        T: Future + OptionalSend + 'static,
        T::Output: OptionalSend + 'static,
    {
        cct_executor::spawn(future)
    }

    #[track_caller]
    fn sleep(duration: Duration) -> Sleep {
        time::sleep(duration)
    }

    #[track_caller]
    fn sleep_until(deadline: Moment) -> Sleep {
        time::sleep_until(deadline.0)
    }

    #[track_caller]
    fn timeout<R, F: Future<Output = R> + OptionalSend>(
        duration: Duration,
        future: F,
    ) -> Timeout<F> {
        time::timeout(duration, future)
    }

    #[track_caller]
    fn timeout_at<R, F: Future<Output = R> + OptionalSend>(
        deadline: Moment,
        future: F,
    ) -> Timeout<F> {
        time::timeout_at(deadline.0, future)
    }

    fn is_panic(error: &JoinError) -> bool {
        error.is_panic()
    }

    fn thread_rng() -> Self::ThreadLocalRng {
        nondet::rng()
    }

    fn new(_: usize) -> Self {
        CctRuntime
    }

    fn block_on<F, T>(&mut self, future: F) -> T
    where
        F: Future<Output = T>,
    {
        cct_executor::runtime::Handle::current().block_on(future)
    }

    async fn spawn_blocking<F, T>(work: F) -> Result<T, io::Error>
    where
        F: FnOnce() -> T + Send + 'static,
        T: Send + 'static,
    {
        let work = cct_executor::task::spawn_blocking(work);
        work.await.map_err(io::Error::from)
    }
}
