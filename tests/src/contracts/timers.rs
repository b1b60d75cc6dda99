//! In which order timers fire, and what changes that.

use super::rt::{spawn, task as tasks, time, time::Instant};
use cct_tests::{Log, note};
use std::future::{Future, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::time::Duration;

fn millis(count: u64) -> Duration {
    Duration::from_millis(count)
}

/// A waker that notes its number.
struct Bell(u64, Arc<Mutex<Vec<u64>>>);

impl Wake for Bell {
    fn wake(self: Arc<Self>) {
        self.1.lock().unwrap().push(self.0);
    }
}

type Sleeps = Vec<Pin<Box<time::Sleep>>>;

/// Sleeps for each of `pauses`, polled in this order, each with a bell of its own.
fn sleeps(pauses: &[u64]) -> (Sleeps, Arc<Mutex<Vec<u64>>>) {
    let rung = Arc::new(Mutex::new(Vec::new()));
    let mut sleeps = Vec::new();
    for pause in pauses {
        let bell = Waker::from(Arc::new(Bell(*pause, rung.clone())));
        let mut sleep = Box::pin(time::sleep(millis(*pause)));
        assert!(
            sleep
                .as_mut()
                .poll(&mut Context::from_waker(&bell))
                .is_pending()
        );
        sleeps.push(sleep);
    }
    (sleeps, rung)
}

pub(crate) async fn deadlines_decide_the_order(log: Log) {
    let (_sleeps, rung) = sleeps(&[500, 3, 64, 63, 4097, 65, 1, 4096, 262_200, 128, 2]);
    time::sleep(millis(300_000)).await;
    note!(log, "{:?}", rung.lock().unwrap());
}

pub(crate) async fn advance_fires_in_the_order_of_deadlines(log: Log) {
    let (_sleeps, rung) = sleeps(&[50, 3, 64, 63, 200, 65, 1]);
    time::advance(millis(100)).await;
    note!(log, "{:?}", rung.lock().unwrap());
}

pub(crate) async fn a_reset_timer_fires_at_its_new_time_only(log: Log) {
    let start = Instant::now();
    let (mut sleeps, rung) = sleeps(&[10, 20, 30]);
    sleeps[0].as_mut().reset(start + millis(25));
    sleeps[2].as_mut().reset(start + millis(5));
    for now in [5, 10, 20, 25, 30] {
        time::sleep_until(start + millis(now)).await;
        note!(log, "{now}: {:?}", rung.lock().unwrap());
    }
}

pub(crate) async fn a_reset_timer_keeps_its_waker(log: Log) {
    let start = Instant::now();
    let (mut sleeps, rung) = sleeps(&[10]);
    time::sleep(millis(10)).await;
    note!(log, "{:?} {}", rung.lock().unwrap(), sleeps[0].is_elapsed());
    sleeps[0].as_mut().reset(start + millis(20));
    time::sleep(millis(30)).await;
    note!(
        log,
        "{} {}",
        rung.lock().unwrap().len(),
        sleeps[0].is_elapsed()
    );
}

pub(crate) async fn dropped_timers_do_not_ring(log: Log) {
    let (mut sleeps, rung) = sleeps(&[1, 2, 3, 4, 5]);
    drop(sleeps.remove(3));
    drop(sleeps.remove(1));
    time::sleep(millis(10)).await;
    note!(log, "{:?}", rung.lock().unwrap());
}

pub(crate) async fn timers_of_many_tasks_keep_their_distance(_: Log) {
    let start = Instant::now();
    let joins: Vec<_> = (1..20_u64)
        .map(|task| {
            spawn(async move {
                let mut due = start;
                for round in 1..4 {
                    let pause = millis(task * round * 7 % 23 + 1);
                    due += pause;
                    time::sleep(pause).await;
                    assert_eq!(Instant::now(), due);
                }
            })
        })
        .collect();
    for join in joins {
        join.await.unwrap();
    }
}

pub(crate) async fn work_after_a_timer_happens_at_its_time(log: Log) {
    let start = Instant::now();
    let inner = log.clone();
    let first = spawn(async move {
        time::sleep(millis(5)).await;
        for _ in 0..5 {
            tasks::yield_now().await;
        }
        note!(inner, "work done at {:?}", start.elapsed());
    });
    let inner = log.clone();
    let second = spawn(async move {
        time::sleep(millis(6)).await;
        note!(inner, "second at {:?}", start.elapsed());
    });
    first.await.unwrap();
    second.await.unwrap();
}

pub(crate) async fn nested_timeouts_and_intervals(log: Log) {
    let start = Instant::now();
    let mut interval = time::interval(millis(4));
    let ticking = async {
        let mut ticks = 0;
        loop {
            interval.tick().await;
            ticks += 1;
            if time::timeout(millis(1), std::future::pending::<()>())
                .await
                .is_ok()
            {
                return ticks;
            }
            if ticks == 4 {
                return ticks;
            }
        }
    };
    note!(
        log,
        "{:?} at {:?}",
        time::timeout(millis(14), ticking).await,
        start.elapsed()
    );
}

/// As keep-alives do that are written by hand: what they have reset they do not poll.
pub(crate) async fn a_timer_that_is_over_wakes_at_its_next_deadline(log: Log) {
    let start = Instant::now();
    let mut sleep = Box::pin(time::sleep(millis(10)));
    let mut beats = 0;
    poll_fn(|cx| {
        note!(log, "polled after {:?}", start.elapsed());
        if sleep.as_mut().poll(cx).is_ready() {
            beats += 1;
            sleep.as_mut().reset(Instant::now() + millis(20));
        }
        if beats == 3 {
            Poll::Ready(())
        } else {
            Poll::Pending
        }
    })
    .await;
}
