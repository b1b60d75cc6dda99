//! Threads of `std` that have entered the test's runtime, and wait by themselves for what they make there.

use super::closures::block_on;
use super::rt;
use rt::runtime::Handle;
use rt::sync::oneshot;
use rt::time::{Instant, interval, sleep, timeout};
use std::pin::pin;
use std::thread;
use std::time::Duration;

const TIME: Duration = Duration::from_millis(5);
const LONG: Duration = Duration::from_secs(3600);

/// On a thread that has entered the runtime of the test.
fn entered<R: Send + 'static>(run: impl FnOnce() -> R + Send + 'static) -> thread::JoinHandle<R> {
    let handle = Handle::current();
    thread::spawn(move || {
        let _entered = handle.enter();
        run()
    })
}

/// What waits for time to pass is made and polled there.
pub(crate) async fn have_timers() {
    let (tell, told) = oneshot::channel();
    let thread = entered(move || {
        drop(sleep(LONG));
        block_on(sleep(TIME));
        let begin = Instant::now();
        let mut slept = pin!(sleep(LONG));
        assert!(block_on(timeout(TIME, slept.as_mut())).is_err());
        assert!(!slept.is_elapsed());
        slept.as_mut().reset(Instant::now() + TIME);
        block_on(slept.as_mut());
        assert!(slept.is_elapsed());
        let mut ticks = interval(TIME);
        for _ in 0..3 {
            block_on(ticks.tick());
        }
        assert!(begin.elapsed() >= 4 * TIME);
        assert_eq!(block_on(timeout(LONG, told)), Ok(Ok(7)));
    });
    sleep(10 * TIME).await;
    tell.send(7).unwrap();
    thread.join().unwrap();
}

/// It is made there, and waited for elsewhere.
pub(crate) async fn make_timers() {
    let slept = entered(|| sleep(TIME)).join().unwrap();
    slept.await;
    let handle = Handle::current();
    let limited = thread::spawn(move || {
        let slept = {
            let _entered = handle.enter();
            timeout(TIME, sleep(LONG))
        };
        handle.block_on(slept)
    });
    while !limited.is_finished() {
        sleep(TIME).await;
    }
    assert!(limited.join().unwrap().is_err());
    // Made here, and waited for there.
    let slept = sleep(TIME);
    let there = thread::spawn(move || block_on(slept));
    while !there.is_finished() {
        sleep(TIME).await;
    }
    there.join().unwrap();
}
