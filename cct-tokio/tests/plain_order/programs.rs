//! Programs that are drawn: tasks with channels, locks, notifications, limits and yields, which note what they do.

use super::rt;
use rt::sync::{Mutex, Notify, Semaphore, mpsc};
use rt::task::yield_now;
use rt::time::{sleep, timeout};
use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

/// Which programs are drawn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Shape {
    /// Tasks may call `yield_now`.
    pub(crate) yields: bool,
    /// The test itself does what a task does, and does not only wait for them.
    pub(crate) test_acts: bool,
}

/// Numbers that look drawn (xorshift).
struct Draws(u64);

impl Draws {
    fn below(&mut self, count: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) % count
    }
}

#[derive(Clone)]
struct Shared {
    notes: Arc<std::sync::Mutex<String>>,
    send: mpsc::Sender<u64>,
    receive: Arc<Mutex<mpsc::Receiver<u64>>>,
    lock: Arc<Mutex<()>>,
    bell: Arc<Notify>,
    permit: Arc<Semaphore>,
    yields: bool,
}

impl Shared {
    fn note(&self, what: std::fmt::Arguments<'_>) {
        self.notes.lock().unwrap().write_fmt(what).unwrap();
    }

    /// One operation, and what came of it.
    async fn act(&self, what: u64, number: u64, draws: &mut Draws) -> u64 {
        let time = Duration::from_millis(draws.below(4));
        let limit = time + Duration::from_millis(1);
        match what {
            0 if self.yields => yield_now().await,
            0 | 1 => sleep(time).await,
            2 => return timeout(limit, self.send.send(number)).await.is_ok().into(),
            3 => {
                let received = async { self.receive.lock().await.recv().await };
                return timeout(limit, received).await.map_or(0, Option::unwrap);
            }
            4 => self.bell.notify_one(),
            5 => return timeout(limit, self.bell.notified()).await.is_ok().into(),
            6 => {
                let _held = self.lock.lock().await;
                sleep(time).await;
            }
            7 => {
                let _held = self.permit.acquire().await.unwrap();
                if self.yields {
                    yield_now().await;
                }
            }
            8 => self.bell.notify_waiters(),
            9 => {
                let shared = self.clone();
                let other = rt::spawn(async move {
                    sleep(time).await;
                    shared.note(format_args!("of {number} "));
                });
                match time.as_millis() {
                    0 => {}
                    1 => other.abort(),
                    _ => other.await.unwrap(),
                }
            }
            10 => {
                return rt::select! {
                    biased;
                    () = self.bell.notified() => 1,
                    () = sleep(time) => 2,
                    _held = self.permit.acquire() => 3,
                };
            }
            11 => {
                let rung = timeout(time, self.bell.notified());
                let (rung, ()) = rt::join!(rung, sleep(Duration::from_millis(1)));
                return rung.is_ok().into();
            }
            _ => return self.send.try_send(number).is_ok().into(),
        }
        0
    }

    async fn run(self, task: u64, mut draws: Draws) {
        for step in 0..3 + draws.below(5) {
            let what = draws.below(13);
            let number = 100 * task + step;
            let result = self.act(what, number, &mut draws).await;
            self.note(format_args!("{number}:{what}={result} "));
        }
        self.note(format_args!("end {task} "));
    }
}

/// Runs the program of this number, and returns what it has noted.
pub(crate) async fn run(number: u64, shape: Shape) -> String {
    let mut draws = Draws(number.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
    let (send, receive) = mpsc::channel(1 + draws.below(2) as usize);
    let shared = Shared {
        notes: Arc::default(),
        send,
        receive: Arc::new(Mutex::new(receive)),
        lock: Arc::default(),
        bell: Arc::default(),
        permit: Arc::new(Semaphore::new(1)),
        yields: shape.yields,
    };
    let notes = shared.notes.clone();
    let mut seed = || Draws(2 * draws.below(1 << 50) + 1);
    let count = 2 + seed().below(3);
    let tasks: Vec<_> = (1..=count)
        .map(|task| rt::spawn(shared.clone().run(task, seed())))
        .collect();
    if shape.test_acts {
        shared.run(0, seed()).await;
    } else {
        drop(shared);
    }
    for task in tasks {
        task.await.unwrap();
    }
    let notes = notes.lock().unwrap();
    notes.clone()
}
