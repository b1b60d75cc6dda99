//! Clocks of tests without an attribute: in the worlds around their code, before and after.

#![cfg(all(target_os = "linux", target_env = "gnu"))]
#![expect(
    clippy::disallowed_methods,
    clippy::disallowed_types,
    reason = "the clocks of the standard library are what is tested"
)]

mod again;
#[macro_use]
#[path = "again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_executor::runtime::Runtime;
use cct_executor::time::{self, sleep, sleep_until};
use cct_executor::{spawn, task};
use std::fs;
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant, SystemTime};

/// Where they are run once, and where they are explored.
macro_rules! both {
    ($name:ident $body:block) => {
        passes! { ["once" "explore"] $name $body }
    };
}

const NAP: Duration = Duration::from_secs(3);
/// No machine is as slow as this.
const LATE: Duration = Duration::from_secs(2000);
const DAY: Duration = Duration::from_secs(86_400);

/// Sleeps in a world, where there is something to choose.
async fn nap(time: Duration) {
    let others = [0, 1].map(|_| spawn(async { task::yield_now().await }));
    sleep(time).await;
    for other in others {
        other.await.unwrap();
    }
}

fn is_about(time: Duration, expected: Duration) {
    assert!(time >= expected, "{time:?} of {expected:?}");
    assert!(time < expected + LATE, "{time:?} of {expected:?}");
}

both!(what_was_seen_before_a_world_is_before_it {
    let (start, wall, tokio) = (Instant::now(), SystemTime::now(), time::Instant::now());
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        nap(DAY).await;
        is_about(start.elapsed(), DAY);
        is_about(wall.elapsed().unwrap(), DAY);
        is_about(tokio.elapsed(), DAY);
        is_about(Instant::now() - tokio.into_std(), DAY);
        sleep_until(tokio + 2 * DAY).await;
        is_about(start.elapsed(), 2 * DAY);
    });
    is_about(start.elapsed(), 2 * DAY);
    drop(runtime);
    is_about(start.elapsed(), 2 * DAY);
    is_about(wall.elapsed().unwrap(), 2 * DAY);
    is_about(tokio.elapsed(), 2 * DAY);
});

both!(worlds_come_one_after_the_other {
    let first = Runtime::new().unwrap();
    let (start, wall) = first.block_on(async {
        nap(NAP).await;
        (Instant::now(), SystemTime::now())
    });
    drop(first);
    let second = Runtime::new().unwrap();
    second.block_on(async {
        is_about(start.elapsed(), Duration::ZERO);
        is_about(wall.elapsed().unwrap(), Duration::ZERO);
        nap(DAY).await;
    });
    drop(second);
    is_about(start.elapsed(), DAY);
    let third = Runtime::new().unwrap();
    third.block_on(nap(DAY));
    is_about(start.elapsed(), 2 * DAY);
    is_about(wall.elapsed().unwrap(), 2 * DAY);
});

both!(who_has_not_looked_begins_where_every_world_does {
    thread::sleep(Duration::from_millis(1));
    let runtime = Runtime::new().unwrap();
    let wall = runtime.block_on(async {
        nap(NAP).await;
        SystemTime::now()
    });
    let zero = Duration::from_secs(1_793_491_200);
    let passed = wall.duration_since(SystemTime::UNIX_EPOCH).unwrap() - zero;
    assert!(passed >= NAP && passed < NAP + Duration::from_millis(2), "{passed:?}");
});

both!(after_a_day_in_a_world_nobody_waits_for_a_day {
    let runtime = Runtime::new().unwrap();
    runtime.block_on(nap(DAY));
    drop(runtime);
    let start = Instant::now();
    let waits = || {
        let (_sender, receiver) = channel::<()>();
        let before = Instant::now();
        let outcome = receiver.recv_timeout(Duration::from_millis(20));
        assert_eq!(outcome, Err(RecvTimeoutError::Timeout));
        is_about(before.elapsed(), Duration::from_millis(20));
        thread::sleep(Duration::from_millis(1));
    };
    waits();
    thread::spawn(waits).join().unwrap();
    let other = thread::spawn(Instant::now).join().unwrap();
    assert!(start <= other && other <= Instant::now());
    is_about(start.elapsed(), Duration::from_millis(42));
});

both!(files_are_as_old_as_the_test_has_it {
    let path = std::env::temp_dir().join(format!("cct-ages-{}", std::process::id()));
    let age = || fs::metadata(&path).unwrap().modified().unwrap().elapsed().unwrap();
    fs::write(&path, "before it").unwrap();
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async {
        nap(DAY).await;
        is_about(age(), DAY);
        fs::write(&path, "in it").unwrap();
        is_about(age(), Duration::ZERO);
        nap(DAY).await;
    });
    is_about(age(), DAY);
    drop(runtime);
    is_about(age(), DAY);
    fs::write(&path, "after it").unwrap();
    is_about(age(), Duration::ZERO);
    let runtime = Runtime::new().unwrap();
    runtime.block_on(async { nap(NAP).await });
    is_about(age(), NAP);
    fs::remove_file(&path).unwrap();
});
