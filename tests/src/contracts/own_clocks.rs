//! Runtimes of one thread whose clocks are paused: each is its own.

use super::rt::{runtime, sync::Notify, task as tasks, time};
use cct_tests::{Log, note};
use runtime::{Builder, Runtime};
use std::sync::Arc;
use std::time::Duration;
use tasks::{LocalSet, yield_now};
use time::{Instant, advance, pause, resume, sleep, sleep_until, timeout};

const SECOND: Duration = Duration::from_secs(1);

fn paused() -> Runtime {
    let mut builder = Builder::new_current_thread();
    builder.enable_time().start_paused(true).build().unwrap()
}

/// Runs the body where it may block.
async fn on_a_thread(body: impl FnOnce() + Send + 'static) {
    let done = tasks::spawn_blocking(body).await;
    done.expect("the body does not panic");
}

fn now(runtime: &Runtime) -> Instant {
    runtime.block_on(async { Instant::now() })
}

pub(crate) async fn one_stands_while_another_goes_on(log: Log) {
    on_a_thread(move || {
        let (one, other) = (paused(), paused());
        let begin = [&one, &other].map(now);
        one.block_on(async { sleep(10 * SECOND).await });
        other.block_on(async { advance(3 * SECOND).await });
        let passed = [(&one, begin[0]), (&other, begin[1])];
        note!(log, "{:?}", passed.map(|(runtime, begin)| now(runtime) - begin));
        // Who enters it without driving it sees where it stands.
        one.block_on(async { sleep(SECOND).await });
        let _inside = other.enter();
        note!(log, "{:?}", begin[1].elapsed());
    })
    .await;
}

pub(crate) async fn they_go_on_in_turn(log: Log) {
    on_a_thread(move || {
        let hosts = [(); 3].map(|()| (paused(), LocalSet::new()));
        let begin: Vec<Instant> = hosts.iter().map(|(runtime, _)| now(runtime)).collect();
        for (number, (runtime, set)) in hosts.iter().enumerate() {
            let (log, begin) = (log.clone(), begin[number]);
            let _inside = runtime.enter();
            set.spawn_local(async move {
                for _ in 0..3 {
                    sleep(20 * SECOND).await;
                    note!(log, "{number}: {:?}", begin.elapsed());
                }
            });
        }
        for _ in 0..7 {
            for (runtime, set) in &hosts {
                runtime.block_on(set.run_until(async { sleep(9 * SECOND).await }));
            }
        }
    })
    .await;
}

/// Deadlines are by the clock of the runtime in which a timer is set, whatever has passed elsewhere.
pub(crate) async fn timers_are_kept_while_it_stands(log: Log) {
    on_a_thread(move || {
        let (one, other) = (paused(), paused());
        let begin = now(&one);
        let told = Arc::new(Notify::new());
        for seconds in [4, 2, 6] {
            let (log, told) = (log.clone(), told.clone());
            one.spawn(async move {
                sleep_until(begin + seconds * SECOND).await;
                note!(log, "{seconds}: {:?}", begin.elapsed());
                told.notify_one();
            });
        }
        let given_up = one.spawn(async { timeout(3 * SECOND, std::future::pending::<()>()).await });
        one.block_on(yield_now());
        other.block_on(async { sleep(100 * SECOND).await });
        one.block_on(told.notified());
        other.block_on(async { sleep(100 * SECOND).await });
        // One is dropped that is kept.
        given_up.abort();
        note!(log, "{}", one.block_on(given_up).is_err());
        one.block_on(async {
            told.notified().await;
            told.notified().await;
        });
    })
    .await;
}

pub(crate) async fn it_is_paused_inside(log: Log) {
    on_a_thread(move || {
        let mut builder = Builder::new_current_thread();
        let one = builder.enable_time().build().unwrap();
        let other = paused();
        let begin = one.block_on(async {
            pause();
            Instant::now()
        });
        other.block_on(async { sleep(100 * SECOND).await });
        note!(log, "{:?}", now(&one) - begin);
        one.block_on(async {
            advance(SECOND).await;
            note!(log, "{:?}", begin.elapsed());
            sleep(SECOND).await;
            resume();
        });
        let again = one.block_on(async { std::panic::catch_unwind(resume).is_err() });
        let paused_twice = other.block_on(async { std::panic::catch_unwind(pause).is_err() });
        note!(log, "{}", again && paused_twice);
    })
    .await;
}
