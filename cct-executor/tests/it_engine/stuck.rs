//! Polls that do not return.

use crate::{checker, failed, within};
use cct_executor::task::{Builder, spawn_blocking, yield_now};
use cct_executor::time::sleep;
use cct_executor::words::FailureKind;
use cct_executor::{Checker, Isolation, Report, nondet, spawn};
use cct_sync::Mutex;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::time::{Duration, Instant};

/// Ends the spinning threads of a test, which nothing else can.
#[derive(Default)]
struct Release(Arc<AtomicBool>);

impl Drop for Release {
    fn drop(&mut self) {
        self.0.store(true, SeqCst);
    }
}

async fn scenario(released: Arc<AtomicBool>, begun: Arc<AtomicU64>) {
    begun.fetch_add(1, SeqCst);
    let mutex = Arc::new(Mutex::new(0));
    let theirs = mutex.clone();
    drop(Builder::new().name("spinner").spawn(async move {
        for _ in 0..nondet::choose(4) {
            yield_now().await;
        }
        *theirs.lock().await += 1;
        while !released.load(SeqCst) {
            std::hint::spin_loop();
        }
    }));
    loop {
        *mutex.lock().await += 1;
        yield_now().await;
    }
}

fn spinning(isolation: Isolation) -> Checker {
    checker("spins")
        .isolation(isolation)
        .poll_limit(Duration::from_millis(300))
        .max_steps(200)
}

fn is_reported(isolation: Isolation, strategy: &str) {
    let release = Release::default();
    let begun = Arc::new(AtomicU64::new(0));
    let (released, theirs) = (release.0.clone(), begun.clone());
    let run = move || scenario(released.clone(), theirs.clone());
    let again = run.clone();
    let strategy = strategy.to_owned();
    let before = Instant::now();
    let report = within(20, move || {
        spinning(isolation)
            .strategy_text(&strategy)
            .workers(2)
            .iterations(1_000_000)
            .run(run)
    });
    assert!(
        before.elapsed() < Duration::from_secs(4),
        "{:?}",
        before.elapsed()
    );
    let failure = failed(&report);
    assert_eq!(
        failure.kind,
        FailureKind::Stuck {
            task: "1 `spinner`".to_owned()
        }
    );
    assert!(failure.reproduced, "{}", report.text());
    assert!(!failure.explanation.steps.is_empty());
    assert!(report.text().contains("the token c1-"), "{}", report.text());
    let where_it_is = if cct_interpose::CONTROLLED {
        assert!(failure.stuck_at[0].contains("it_engine/stuck.rs:"));
        "it works, spins or waits for longer than `poll_limit` (or CCT_POLL_LIMIT), while which no other task goes on, at "
    } else {
        "it spins or blocks its thread, or has work for longer than `poll_limit` (or CCT_POLL_LIMIT); a debugger"
    };
    assert!(report.text().contains(where_it_is), "{}", report.text());
    assert!(
        report.text().contains("): was running; last"),
        "{}",
        report.text()
    );
    // The other worker does not explore on behind the caller's back, once it gets to know.
    std::thread::sleep(Duration::from_millis(100));
    let seen = begun.load(SeqCst);
    std::thread::sleep(Duration::from_millis(100));
    assert_eq!(begun.load(SeqCst), seen);
    let token = failure.token.clone();
    let replayed = within(20, move || spinning(isolation).replay(token).run(again));
    assert_eq!(failed(&replayed).kind, failure.kind, "{}", replayed.text());
    assert_eq!(failed(&replayed).step, failure.step);
}

#[test]
fn a_poll_that_does_not_return_is_reported_and_replayed() {
    is_reported(Isolation::None, "random");
    // Lanes that are primed may hang before their own first iteration.
    is_reported(Isolation::None, "portfolio");
}

/// Time moves for those who only yield after a part of the steps that an iteration may have, which is
/// the same part while the way to the poll is replayed.
#[test]
fn the_way_to_a_poll_that_does_not_return_is_replayed_under_its_own_limits() {
    let release = Release::default();
    let released = release.0.clone();
    let report = within(20, move || {
        spinning(Isolation::None).max_steps(2_000).run(move || {
            let released = released.clone();
            async move {
                drop(Builder::new().name("spinner").spawn(async move {
                    sleep(Duration::from_millis(1)).await;
                    while !released.load(SeqCst) {
                        std::hint::spin_loop();
                    }
                }));
                loop {
                    yield_now().await;
                }
            }
        })
    });
    let failure = failed(&report);
    let task = "1 `spinner`".to_owned();
    assert_eq!(
        failure.kind,
        FailureKind::Stuck { task },
        "{}",
        report.text()
    );
    assert!(
        failure.step > 1_000 && failure.reproduced,
        "{}",
        report.text()
    );
}

#[test]
fn a_poll_that_does_not_return_on_a_thread_of_its_own() {
    is_reported(Isolation::Thread, "random");
}

#[test]
fn long_iterations_are_not_stuck() {
    for isolation in [Isolation::None, Isolation::Thread] {
        let report = within(60, move || {
            checker("long")
                .isolation(isolation)
                .determinism_check(true)
                .poll_limit(Duration::from_millis(600))
                .iterations(2)
                .run(|| async {
                    for _ in 0..60 {
                        // Time of another thread: here it would be virtual.
                        let nap = || std::thread::sleep(Duration::from_millis(15));
                        std::thread::spawn(nap).join().unwrap();
                        yield_now().await;
                    }
                })
        });
        assert!(report.passed(), "{isolation:?}: {}", report.text());
    }
}

/// One task is suspended with a lock, another one spins for it: the world's thread is lost.
#[test]
fn a_lock_of_another_make_is_thought_of() {
    let release = Release::default();
    let released = release.0.clone();
    let report = within(20, move || {
        checker("locked")
            .poll_limit(Duration::from_millis(300))
            .workers(1)
            .run(move || {
                let released = released.clone();
                async move {
                    let lock = Arc::new(AtomicBool::new(false));
                    for _ in 0..2 {
                        let (lock, released) = (lock.clone(), released.clone());
                        drop(spawn(async move {
                            while lock.swap(true, SeqCst) && !released.load(SeqCst) {
                                std::hint::spin_loop();
                            }
                            nondet::point();
                            lock.store(false, SeqCst);
                        }));
                    }
                    yield_now().await;
                }
            })
    });
    assert_eq!(failed(&report).kind.class(), "poll that does not return");
    let text = report.text();
    assert!(text.contains("on a lock or channel that cct"), "{text}");
    assert!(
        text.contains("could run, in the middle of a poll: "),
        "{text}"
    );
}

/// A thread of the test's own wants something of the world, and a poll waits for the thread.
fn joins_a_thread() -> Report {
    within(20, || {
        checker("joins a thread")
            // On a busy machine a thread takes its time to begin.
            .poll_limit(Duration::from_secs(1))
            .workers(1)
            .run(|| async {
                let (tx, mut rx) = cct_sync::mpsc::channel(1);
                std::thread::spawn(move || tx.blocking_send(1))
                    .join()
                    .unwrap()
                    .unwrap();
                assert_eq!(rx.recv().await, Some(1));
            })
    })
}

#[test]
fn a_thread_that_waits_for_the_poll_is_thought_of() {
    let report = joins_a_thread();
    let failure = failed(&report);
    assert!(matches!(failure.kind, FailureKind::Stuck { .. }));
    assert!(failure.threads_wait, "{}", report.text());
    assert!(report.text().contains("use spawn_blocking instead of"));
}

/// The thread wants nothing of the world; but it waits for what a task is to do.
#[test]
fn a_thread_that_the_poll_waits_for_is_thought_of() {
    let (release, released) = std::sync::mpsc::channel::<()>();
    let released = Arc::new(std::sync::Mutex::new(released));
    let report = within(20, || {
        checker("joins a thread that waits")
            .poll_limit(Duration::from_millis(300))
            .workers(1)
            .run(move || {
                let released = released.clone();
                async move {
                    let thread = std::thread::spawn(move || released.lock().unwrap().recv());
                    let _ = thread.join();
                }
            })
    });
    drop(release);
    let failure = failed(&report);
    assert!(matches!(failure.kind, FailureKind::Stuck { .. }));
    let told = (failure.threads_wait, failure.joins_thread);
    assert_eq!(told, (false, true), "{}", report.text());
    assert!(report.text().contains("waits for a thread of std to end"));
}

/// The thread of the run before still waits, but not for this world.
#[test]
fn a_thread_that_waits_for_another_run_is_not_blamed() {
    assert!(failed(&joins_a_thread()).threads_wait);
    let report = within(20, || {
        checker("blocks alone")
            .poll_limit(Duration::from_millis(300))
            .workers(1)
            .run(|| async {
                let (_open, never) = std::sync::mpsc::channel::<()>();
                let _ = never.recv();
            })
    });
    let failure = failed(&report);
    assert!(matches!(failure.kind, FailureKind::Stuck { .. }));
    assert!(!failure.threads_wait, "{}", report.text());
    assert!(report.text().contains("in a `block_on` of another crate"));
}

#[test]
fn a_socket_of_the_standard_library_that_blocks_is_thought_of() {
    let report = within(20, || {
        checker("receives")
            .poll_limit(Duration::from_millis(300))
            .workers(1)
            .run(|| async {
                let socket = std::net::UdpSocket::bind("127.0.0.1:0").expect("a port");
                let _ = socket.recv(&mut [0]);
            })
    });
    let text = report.text();
    assert!(matches!(failed(&report).kind, FailureKind::Stuck { .. }));
    assert_eq!(failed(&report).awaits_machine, cct_interpose::CONTROLLED);
    let remedy = "an `accept` or `read` of `std::net`";
    assert!(text.contains(remedy), "{text}");
    assert!(text.contains("channels and sockets of tokio"), "{text}");
}

/// Whatever else goes on.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn a_channel_of_the_standard_library_that_blocks_is_thought_of() {
    for ticks in [false, true] {
        let report = within(20, move || {
            checker("hears")
                .granularity(cct_executor::Granularity::Sync)
                .max_steps(2_000)
                .fail_on_limit(true)
                .workers(1)
                .run(move || async move {
                    let (tell, told) = std::sync::mpsc::channel();
                    if ticks {
                        cct_executor::spawn(async {
                            loop {
                                cct_executor::time::sleep(Duration::from_millis(1)).await;
                            }
                        });
                    }
                    let kept = tell.clone();
                    cct_executor::spawn(async move { tell.send(1) });
                    assert_eq!(told.recv(), Ok(1));
                    drop(kept);
                })
        });
        let text = report.text();
        assert!(text.contains("use channels of tokio"), "{text}");
    }
}

/// Whatever the program makes of the error; but who is connected is accepted.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn to_accept_where_nobody_can_connect_fails_at_once() {
    let report = within(20, || {
        checker("accepts").workers(1).run(|| async {
            let listener = std::net::TcpListener::bind("127.0.0.1:0").expect("a port");
            let address = listener.local_addr().expect("it is bound");
            let _client = std::net::TcpStream::connect(address).expect("it listens");
            listener.accept().expect("the client");
            let refused = listener.accept().expect_err("nobody");
            assert_eq!(refused.kind(), std::io::ErrorKind::Unsupported);
        })
    });
    let text = report.text();
    assert_eq!(report.iterations, 1);
    assert!(matches!(failed(&report).kind, FailureKind::Panic { .. }));
    assert!(text.contains("use the listeners of tokio"), "{text}");
}

/// Where a poll is that takes memory all the time, and one that waits for the system; also where several are asked.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
#[test]
fn it_is_told_where_the_poll_is() {
    use std::io::Read as _;
    use std::os::unix::net::UnixStream;

    fn lines(report: &Report) -> Vec<u32> {
        let places = failed(report).stuck_at.iter();
        let line = |place: &String| place.rsplit_once("stuck.rs:")?.1.parse().ok();
        places.filter_map(line).collect()
    }
    let release = Release::default();
    let released = release.0.clone();
    let allocates = std::thread::spawn(move || {
        let report = spinning(Isolation::None).run(move || {
            let released = released.clone();
            async move {
                while !released.load(SeqCst) {
                    std::hint::black_box(vec![0_u8; 100]);
                }
            }
        });
        (line!() - 4, lines(&report))
    });
    let (reads, wakes) = UnixStream::pair().expect("two ends");
    let report = spinning(Isolation::None).workers(1).run(move || {
        let mut reads = reads.try_clone().expect("one more");
        async move {
            let mut byte = [0];
            let _ = reads.read_exact(&mut byte);
        }
    });
    let line = line!() - 3;
    assert_eq!(lines(&report)[0], line, "{}", report.text());
    let (line, lines) = allocates.join().expect("a report");
    assert!((line - 1..=line).contains(&lines[0]), "{line} {lines:?}");
    drop((wakes, release));
}

/// Before the step that does not return, the poll is suspended, and a world that closes there lets it go on.
#[test]
fn a_poll_that_keeps_its_world_from_closing_is_named() {
    let report = within(20, || {
        checker("waits elsewhere")
            .poll_limit(Duration::from_millis(300))
            .workers(1)
            .strategy_text("random")
            .run(|| async {
                let gate = Arc::new((parking_lot::Mutex::new(false), parking_lot::Condvar::new()));
                let theirs = gate.clone();
                let waits = spawn_blocking(move || {
                    nondet::point();
                    let mut open = theirs.0.lock();
                    while !*open {
                        theirs.1.wait(&mut open);
                    }
                });
                yield_now().await;
                *gate.0.lock() = true;
                gate.1.notify_all();
                waits.await.unwrap();
            })
    });
    let failure = failed(&report);
    let task = "1".to_owned();
    assert_eq!(failure.kind, FailureKind::Stuck { task });
    assert!(failure.reproduced, "{}", report.text());
    assert!(!failure.explanation.steps.is_empty());
}
