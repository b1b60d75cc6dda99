//! How much time has passed once a thread has ended that was joined.

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
