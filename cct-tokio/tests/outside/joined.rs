//! How much time has passed once a thread has ended that was joined, or begins.

use super::rt;
use rt::time::Instant;
use std::thread;
use std::time::Duration;

const TIME: Duration = Duration::from_millis(300);

pub(crate) async fn has_slept() {
    let begin = (Instant::now(), std::time::Instant::now());
    thread::spawn(|| thread::sleep(TIME)).join().unwrap();
    assert!(begin.0.elapsed() >= TIME && begin.1.elapsed() >= TIME);
}

pub(crate) async fn has_slept_on_a_runtime() {
    let begin = (Instant::now(), std::time::Instant::now());
    let thread = thread::spawn(|| {
        let runtime = rt::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime
            .unwrap()
            .block_on(async { rt::time::sleep(TIME).await });
    });
    thread.join().unwrap();
    assert!(begin.0.elapsed() >= TIME && begin.1.elapsed() >= TIME);
}

/// Time has passed before it was started: so it has for the thread.
pub(crate) async fn starts_later() {
    rt::time::sleep(10 * TIME).await;
    let begin = std::time::Instant::now();
    let due = begin + TIME;
    let (tell, told) = rt::sync::oneshot::channel();
    thread::spawn(move || {
        let mut now = std::time::Instant::now();
        while now < due {
            thread::sleep(TIME / 10);
            now = std::time::Instant::now();
        }
        tell.send(now).unwrap();
    });
    let then = rt::time::timeout(5 * TIME, told).await.unwrap().unwrap();
    assert!(then >= due && then <= std::time::Instant::now());
}

/// A thread uses what belongs to the runtime of another, which waits for it in the middle of a poll.
pub(crate) async fn is_heard_by_a_runtime() {
    const ROUNDS: u32 = 10;
    let thread = thread::spawn(|| {
        let runtime = rt::runtime::Builder::new_current_thread()
            .enable_all()
            .build();
        runtime.unwrap().block_on(async {
            let begin = Instant::now();
            for round in 0..ROUNDS {
                let (send, mut receive) = rt::sync::mpsc::unbounded_channel();
                let (tell, told) = std::sync::mpsc::channel();
                thread::spawn(move || {
                    send.send(round).unwrap();
                    tell.send(()).unwrap();
                });
                told.recv().unwrap();
                assert_eq!(receive.recv().await, Some(round));
            }
            begin.elapsed()
        })
    });
    assert!(thread.join().unwrap() < ROUNDS * 2 * TIME);
}
