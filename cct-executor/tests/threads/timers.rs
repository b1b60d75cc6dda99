//! Threads that are some timer's: they wait for time to pass, by the machine's clock, and then do what a task waits for.

use super::{OFF, again, is_again, said};
use cct_executor::time::{Duration, sleep};
use cct_executor::{select, spawn};
use cct_sync::oneshot;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, LazyLock, Mutex};
use std::thread;
use std::time::Instant;

type Timers = Arc<Mutex<Vec<(Instant, oneshot::Sender<()>)>>>;

static TIMERS: LazyLock<Timers> = LazyLock::new(|| {
    let timers = Timers::default();
    let all = timers.clone();
    thread::spawn(move || {
        loop {
            thread::sleep(Duration::from_millis(1));
            let now = Instant::now();
            let mut left = all.lock().unwrap();
            let timers = std::mem::take(&mut *left).into_iter();
            let (due, later): (Vec<_>, Vec<_>) = timers.partition(|timer| timer.0 <= now);
            *left = later;
            drop(left);
            for (_, waits) in due {
                let _ = waits.send(());
            }
        }
    });
    timers
});

async fn by_a_thread(time: Duration) {
    let (sender, receiver) = oneshot::channel();
    TIMERS.lock().unwrap().push((Instant::now() + time, sender));
    let _ = receiver.await;
}

/// The test passes, and is left to one run.
fn is_run_once(test: &str, how: &str) {
    let output = again(test, how, &OFF);
    let text = said(&output);
    assert!(output.status.success(), "{text}");
    assert!(text.contains("which nobody can repeat ("), "{text}");
}

/// What is found where the test is explored counts.
fn fails(test: &str) {
    let output = again(test, "explore", &OFF);
    let text = said(&output);
    assert!(!output.status.success(), "{text}");
    let told = format!("cct: FAILED threads::{test}: panic");
    assert!(text.contains(&told), "{text}");
}

/// Whichever comes first, which is the thread's.
async fn limited(time: Duration) {
    select! {
        () = by_a_thread(time) => {}
        () = sleep(Duration::from_secs(99)) => {}
    }
}

/// Where nobody waits for the thread, the limits end at once, in any order.
#[cct_executor::test(determinism_check = false)]
async fn the_shortest() {
    if is_again() {
        let first = select! {
            () = limited(Duration::from_millis(20)) => 1,
            () = limited(Duration::from_millis(400)) => 2,
            () = limited(Duration::from_millis(800)) => 3,
        };
        assert_eq!(first, 1);
    }
}

#[test]
fn time_does_not_overtake_the_timer_of_a_thread() {
    if is_again() {
        return;
    }
    for how in ["once", "explore"] {
        is_run_once("timers::the_shortest", how);
    }
}

/// A thread that does something by its own time, which wakes nobody: a sleep here is as long as one there.
#[cct_executor::test(determinism_check = false)]
async fn ticks() {
    static TICKS: AtomicU32 = AtomicU32::new(0);
    if !is_again() {
        return;
    }
    let (stop, stopped) = std::sync::mpsc::channel::<()>();
    let thread = thread::spawn(move || {
        let tick = || stopped.recv_timeout(Duration::from_millis(100));
        while tick() == Err(std::sync::mpsc::RecvTimeoutError::Timeout) {
            TICKS.fetch_add(1, SeqCst);
        }
    });
    sleep(Duration::from_millis(1_500)).await;
    let before = TICKS.load(SeqCst);
    sleep(Duration::from_millis(600)).await;
    assert!(TICKS.load(SeqCst) > before, "after {before}");
    drop(stop);
    thread.join().unwrap();
}

#[test]
fn time_passes_as_for_a_thread_that_ticks() {
    if is_again() {
        return;
    }
    is_run_once("timers::ticks", "once");
}

/// It loses an update in some orders, and the thread has no part in that.
async fn lose() {
    LazyLock::force(&TIMERS);
    let balance = Arc::new(cct_sync::Mutex::new(0));
    let tasks = [1, 2].map(|amount| {
        let balance = balance.clone();
        spawn(async move {
            let before = *balance.lock().await;
            *balance.lock().await = before + amount;
        })
    });
    for task in tasks {
        task.await.unwrap();
    }
    assert_eq!(*balance.lock().await, 3);
}

#[cct_executor::test(determinism_check = false)]
async fn loses_at_once() {
    if is_again() {
        lose().await;
    }
}

#[test]
fn what_takes_no_time_is_explored() {
    if is_again() {
        return;
    }
    fails("timers::loses_at_once");
}

/// The same, after some time has passed in which the thread might have acted.
#[cct_executor::test(determinism_check = false)]
async fn loses_later() {
    if is_again() {
        sleep(Duration::from_millis(3)).await;
        lose().await;
    }
}

#[test]
fn what_a_thread_does_not_do_while_time_passes_is_explored() {
    if is_again() {
        return;
    }
    fails("timers::loses_later");
}
