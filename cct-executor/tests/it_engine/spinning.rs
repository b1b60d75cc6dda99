//! Tasks that wait by waking themselves, and work without end: time passes for them as well.

use crate::{GRANULARITIES, checker};
use cct_executor::runtime::Builder;
use cct_executor::task::{spawn_blocking, yield_now};
use cct_executor::time::{Instant, sleep, timeout};
use cct_executor::{Checker, Granularity, Report, select, spawn};
use cct_sync::{Mutex, Notify, mpsc};
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

/// (Others may let a task spin while one that is ready is never polled, and time has to stand still.)
const STRATEGIES: [&str; 2] = ["random", "round-robin"];

fn run<F: Future<Output = ()> + 'static>(
    configure: impl Fn(Checker) -> Checker,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) -> Vec<Report> {
    let runs = STRATEGIES.iter().flat_map(|strategy| {
        GRANULARITIES.map(|granularity| {
            let checker = checker("spinning")
                .strategy_text(strategy)
                .granularity(granularity)
                .iterations(3)
                .determinism_check(true);
            configure(checker).run(scenario.clone())
        })
    });
    runs.collect()
}

/// A flag, which is set after a while.
fn set_later(after: Duration) -> Arc<AtomicBool> {
    let flag = Arc::new(AtomicBool::new(false));
    let theirs = flag.clone();
    spawn(async move {
        sleep(after).await;
        theirs.store(true, SeqCst);
    });
    flag
}

/// Ready when the flag is set, and asks to be polled again until then.
async fn polled_until_set(flag: &AtomicBool) {
    poll_fn(|cx| {
        if flag.load(SeqCst) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

async fn both_ways_of_waiting() {
    let begun = Instant::now();
    let flag = set_later(Duration::from_millis(20));
    let later = set_later(Duration::from_millis(30));
    let others: Vec<_> = (0..2)
        .map(|_| {
            let flag = flag.clone();
            spawn(async move { polled_until_set(&flag).await })
        })
        .collect();
    while !flag.load(SeqCst) {
        yield_now().await;
    }
    assert_eq!(begun.elapsed(), Duration::from_millis(20));
    polled_until_set(&later).await;
    assert_eq!(begun.elapsed(), Duration::from_millis(30));
    for other in others {
        other.await.unwrap();
    }
}

#[test]
fn who_waits_by_waking_himself_sees_time_pass() {
    for report in run(|checker| checker.max_steps(20_000), both_ways_of_waiting) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), 0, "{}", report.text());
    }
}

/// Without anybody who sleeps.
async fn until_it_is_late() {
    let begun = Instant::now();
    let other = spawn(async move {
        while begun.elapsed() < Duration::from_millis(40) {
            yield_now().await;
        }
    });
    let mut looks = 0;
    while begun.elapsed() < Duration::from_millis(50) {
        yield_now().await;
        looks += 1;
    }
    assert!(looks > 1_000 && begun.elapsed() < Duration::from_secs(1));
    other.await.unwrap();
}

#[test]
fn so_does_who_looks_at_a_clock_over_and_over() {
    for report in run(|checker| checker.max_steps(40_000), until_it_is_late) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), 0, "{}", report.text());
    }
}

#[test]
fn so_does_the_root_of_a_runtime() {
    let root = || async {
        let begun = Instant::now();
        let over = spawn_blocking(|| {
            let runtime = Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async {
                let mut over = Box::pin(sleep(Duration::from_millis(20)));
                poll_fn(|cx| {
                    cx.waker().wake_by_ref();
                    over.as_mut().poll(cx)
                })
                .await;
            });
        });
        over.await.unwrap();
        assert_eq!(begun.elapsed(), Duration::from_millis(20));
    };
    for report in run(|checker| checker.max_steps(20_000), root) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), 0, "{}", report.text());
    }
}

/// Ten thousand turns, under a time limit.
async fn busy() {
    let turns = Arc::new(AtomicU64::new(0));
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let turns = turns.clone();
            spawn(async move {
                for _ in 0..2_500 {
                    turns.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            })
        })
        .collect();
    let all = async {
        for task in tasks {
            task.await.unwrap();
        }
    };
    timeout(Duration::from_millis(1), all)
        .await
        .expect("time stands still while there is work");
    assert_eq!(turns.load(SeqCst), 10_000);
}

#[test]
fn time_stands_still_while_busy_tasks_have_turns_left() {
    for report in run(|checker| checker.max_steps(30_000), busy) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), 0, "{}", report.text());
    }
}

/// One spins, two others keep each other going: who is not idle needs no help.
async fn a_conversation() {
    let flag = set_later(Duration::from_millis(20));
    let (sender, mut receiver) = wire::channel();
    let speaks = spawn(async move {
        loop {
            sender.send();
            yield_now().await;
        }
    });
    let listens = spawn(async move {
        loop {
            receiver.recv().await;
        }
    });
    while !flag.load(SeqCst) {
        yield_now().await;
    }
    speaks.abort();
    listens.abort();
}

/// A channel for unit values, made of a waker.
mod wire {
    use std::future::poll_fn;
    use std::sync::{Arc, Mutex};
    use std::task::{Poll, Waker};

    #[derive(Default)]
    struct State {
        sent: u64,
        waker: Option<Waker>,
    }

    pub(super) struct Sender(Arc<Mutex<State>>);
    pub(super) struct Receiver(Arc<Mutex<State>>);

    pub(super) fn channel() -> (Sender, Receiver) {
        let state = Arc::<Mutex<State>>::default();
        (Sender(state.clone()), Receiver(state))
    }

    impl Sender {
        pub(super) fn send(&self) {
            let waker = {
                let mut state = self.0.lock().unwrap();
                state.sent += 1;
                state.waker.take()
            };
            waker.into_iter().for_each(Waker::wake);
        }
    }

    impl Receiver {
        pub(super) async fn recv(&mut self) {
            poll_fn(|cx| {
                let mut state = self.0.lock().unwrap();
                if state.sent > 0 {
                    state.sent -= 1;
                    return Poll::Ready(());
                }
                state.waker = Some(cx.waker().clone());
                Poll::Pending
            })
            .await;
        }
    }
}

#[test]
fn a_world_in_which_something_happens_does_not_spin() {
    for report in run(|checker| checker.max_steps(4_000), a_conversation) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), report.iterations(), "{}", report.text());
    }
}

/// Six tasks make others, as often as they get a turn, until a look after a sleep has seen enough of them.
async fn works_until_told() {
    let (over, made) = (
        Arc::new(AtomicBool::new(false)),
        Arc::new(AtomicU64::new(0)),
    );
    let tasks: Vec<_> = (0..6)
        .map(|_| {
            let (over, made) = (over.clone(), made.clone());
            spawn(async move {
                while !over.load(SeqCst) {
                    drop(spawn(async {}));
                    made.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            })
        })
        .collect();
    let limit = sleep(Duration::from_secs(1));
    cct_executor::pin!(limit);
    cct_executor::select! {
        () = sleep(Duration::from_millis(2)) => {}
        () = &mut limit => unreachable!("work takes no second"),
    }
    sleep(Duration::from_millis(1)).await;
    over.store(true, SeqCst);
    assert!(made.load(SeqCst) > 6);
    for task in tasks {
        task.await.unwrap();
    }
}

#[test]
fn work_without_end_takes_time() {
    for report in run(|checker| checker.usual_steps(10_000), works_until_told) {
        assert!(report.passed(), "{}", report.text());
        assert_eq!(report.cut(), 0, "{}", report.text());
    }
}

/// Of polls that use up their budgets a few are as long as it takes to the next tick.
#[test]
fn who_looks_at_a_lock_over_and_over_sees_many_ticks() {
    let report = checker("ticks")
        .strategy_text("round-robin")
        .granularity(Granularity::Await)
        .run(|| async {
            let ticks = Arc::new(Mutex::new(0));
            let theirs = ticks.clone();
            spawn(async move {
                for _ in 0..300 {
                    sleep(Duration::from_millis(1)).await;
                    *theirs.lock().await += 1;
                }
            });
            while *ticks.lock().await < 300 {}
        });
    report.assert_passed();
    assert_eq!(report.cut(), 0, "{}", report.text());
}

/// While a task works alone nobody else is enabled, but it does not wait by waking itself.
#[test]
fn who_works_alone_does_not_spin() {
    let works = || async {
        let lock = Mutex::new(0);
        let work = async {
            for _ in 0..4_500 {
                *lock.lock().await += 1;
            }
        };
        assert!(timeout(Duration::from_secs(3), work).await.is_ok());
    };
    for report in run(|checker| checker.usual_steps(20_000), works) {
        assert!(report.passed(), "{}", report.text());
    }
}

/// A time limit is far from what so many steps may take.
#[test]
fn much_work_does_not_run_into_a_time_limit() {
    let works = || async {
        let work = async {
            for _ in 0..2_500 {
                drop(spawn(async {}));
                yield_now().await;
            }
        };
        let limit = Duration::from_millis(20);
        assert!(timeout(limit, work).await.is_ok());
    };
    for report in run(|checker| checker.usual_steps(10_000), works) {
        assert!(report.passed(), "{}", report.text());
    }
}

#[test]
fn where_time_stands_still_the_report_says_so() {
    let limited = |checker: Checker| {
        let checker = checker.shrink(false);
        checker.max_steps(4_000).fail_on_limit(true)
    };
    let says = "time stood still at 0ms from step 1 on";
    for report in run(limited, a_conversation) {
        assert!(report.text().contains(says), "{}", report.text());
    }
    // With nobody who sleeps there is no timer that could fire.
    let alone = || async {
        loop {
            yield_now().await;
        }
    };
    for report in run(limited, alone) {
        assert!(report.failure().is_some());
        assert!(!report.text().contains("time stood still"));
    }
}

/// Of what is interesting to `surw` the one that is to go on is blocked, for what another does that is held back.
#[test]
fn one_that_is_blocked_holds_nobody_back_for_ever() {
    let checker = checker("blocked").strategy_text("surw").iterations(200);
    let report = checker.max_steps(20_000).run(|| async {
        let (sender, mut receiver) = mpsc::channel(1);
        let noticed = Arc::new(Notify::new());
        let notices = noticed.clone();
        spawn(async move {
            loop {
                notices.notify_one();
                yield_now().await;
            }
        });
        spawn(async move {
            for number in 0..3 {
                sender.send(number).await.unwrap();
            }
            std::future::pending::<()>().await;
        });
        let mut received = 0;
        while received < 3 {
            select! {
                _ = receiver.recv() => received += 1,
                () = noticed.notified() => {}
            }
        }
    });
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.cut(), 0, "{}", report.text());
}
