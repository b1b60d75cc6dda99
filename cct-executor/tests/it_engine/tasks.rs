//! Affinity, blocking, aborting, cancelling.

use crate::{GRANULARITIES, checker, failed, within};
use cct_executor::runtime::{Handle, Runtime};
use cct_executor::task::{LocalSet, block_in_place, spawn_blocking, spawn_local, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Checker, Granularity, Origin, cancellable, nondet, spawn};
use cct_sync::{Mutex, Notify, mpsc, oneshot};
use std::cell::Cell;
use std::future::{pending, poll_fn};
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, Ordering::SeqCst};
use std::task::{Poll, Wake, Waker};
use std::time::Duration;

#[test]
fn members_of_a_local_set_never_interleave_inside_a_poll() {
    for granularity in GRANULARITIES {
        for strategy in ["random", "pct:d=3"] {
            let outside = Arc::new(AtomicU64::new(0));
            let theirs = outside.clone();
            let report = checker("local set")
                .granularity(granularity)
                .strategy_text(strategy)
                .iterations(300)
                .run(move || interleave(theirs.clone()));
            assert!(
                report.passed(),
                "{granularity:?} {strategy}: {}",
                report.text()
            );
            let seen = outside.load(SeqCst);
            // Tasks outside the set do come in between, where there are points in polls.
            assert_eq!(
                seen > 0,
                granularity != Granularity::Await,
                "{granularity:?} {strategy}"
            );
        }
    }
}

async fn interleave(outside: Arc<AtomicU64>) {
    let inside = Rc::new(Cell::new(false));
    let polls = Arc::new(AtomicU32::new(0));
    let theirs = polls.clone();
    let stranger = spawn(async move {
        for _ in 0..6 {
            theirs.fetch_add(1, SeqCst);
            nondet::point();
            yield_now().await;
        }
    });
    let set = LocalSet::new();
    let member = |inside: Rc<Cell<bool>>| {
        let (polls, outside) = (polls.clone(), outside.clone());
        let mutex = Arc::new(Mutex::new(0));
        async move {
            for _ in 0..3 {
                assert!(
                    !inside.replace(true),
                    "a member came into the poll of another"
                );
                let before = polls.load(SeqCst);
                nondet::point();
                drop(mutex.try_lock());
                nondet::point();
                outside.fetch_add(u64::from(polls.load(SeqCst) != before), SeqCst);
                inside.set(false);
                yield_now().await;
            }
        }
    };
    for _ in 0..2 {
        set.spawn_local(member(inside.clone()));
    }
    let driver = member(inside.clone());
    set.run_until(async move {
        let third = spawn_local(member(inside));
        driver.await;
        third.await.unwrap();
    })
    .await;
    set.await;
    stranger.await.unwrap();
}

#[test]
fn members_run_only_while_the_set_is_driven() {
    let report = checker("driven").iterations(200).run(|| async {
        let count = Rc::new(Cell::new(0));
        let mut set = LocalSet::new();
        let theirs = count.clone();
        set.spawn_local(async move {
            loop {
                theirs.set(theirs.get() + 1);
                sleep(Duration::from_millis(1)).await;
            }
        });
        sleep(Duration::from_millis(5)).await;
        assert_eq!(count.get(), 0, "before anybody drives it");
        set.run_until(sleep(Duration::from_millis(3))).await;
        let seen = count.get();
        assert!(seen >= 3, "{seen}");
        sleep(Duration::from_millis(5)).await;
        assert_eq!(count.get(), seen, "after run_until");
        assert!(timeout(Duration::from_millis(3), &mut set).await.is_err());
        // In the poll that gives up, the set was polled too.
        yield_now().await;
        let seen = count.get();
        assert!(seen >= 5, "{seen}");
        sleep(Duration::from_millis(5)).await;
        assert_eq!(count.get(), seen, "after it was awaited with a timeout");
        {
            let mut kept = Box::pin(set.run_until(pending::<()>()));
            assert!(timeout(Duration::from_millis(3), &mut kept).await.is_err());
            yield_now().await;
            let seen = count.get();
            sleep(Duration::from_millis(5)).await;
            assert_eq!(count.get(), seen, "while run_until is kept but not polled");
        }
        drop(set);
        assert_eq!(
            Rc::strong_count(&count),
            1,
            "the member is dropped with its set"
        );
    });
    assert!(report.passed(), "{}", report.text());
}

#[test]
fn a_member_whose_destructor_panics_tells_its_handle() {
    struct Panics;
    impl Drop for Panics {
        fn drop(&mut self) {
            panic!("dropped with its set");
        }
    }
    let run = |awaited: bool| {
        checker("set dropped").run(move || async move {
            let set = LocalSet::new();
            let value = Panics;
            let task = set.spawn_local(async move {
                let _value = value;
                pending::<()>().await;
            });
            drop(set);
            if awaited {
                assert!(task.await.unwrap_err().is_panic());
            } else {
                drop(task);
            }
        })
    };
    let report = run(true);
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.coverage.joined_panics, report.iterations());
    let report = run(false);
    assert!(
        failed(&report)
            .kind
            .to_string()
            .contains("dropped with its set")
    );
}

#[test]
fn blocking_closures_shake_hands_with_tasks() {
    for granularity in GRANULARITIES {
        let report = within(60, move || {
            checker("handshake")
                .granularity(granularity)
                .iterations(300)
                .run(|| async {
                    let (request, mut requests) = mpsc::channel::<oneshot::Sender<u32>>(1);
                    let server = spawn_blocking(move || {
                        let mut served = 0;
                        while let Some(reply) = requests.blocking_recv() {
                            served += 1;
                            reply.send(served).unwrap();
                        }
                        served
                    });
                    let client = |request: mpsc::Sender<oneshot::Sender<u32>>| async move {
                        let (reply, answer) = oneshot::channel();
                        request.send(reply).await.unwrap();
                        answer.await.unwrap()
                    };
                    let first = spawn(client(request.clone()));
                    let theirs = request.clone();
                    let second = spawn_blocking(move || {
                        let (reply, answer) = oneshot::channel();
                        theirs.blocking_send(reply).unwrap();
                        answer.blocking_recv().unwrap()
                    });
                    drop(request);
                    let sum = first.await.unwrap() + second.await.unwrap();
                    assert_eq!((sum, server.await.unwrap()), (3, 2));
                })
        });
        assert!(report.passed(), "{granularity:?}: {}", report.text());
    }
}

#[test]
fn block_on_nests_where_tokio_allows_it() {
    for granularity in GRANULARITIES {
        let report = checker("nested")
            .granularity(granularity)
            .iterations(100)
            .run(|| async {
                let mutex = Arc::new(Mutex::new(0));
                let deep = |mutex: Arc<Mutex<u32>>| {
                    move || {
                        Handle::current().block_on(async {
                            *mutex.lock().await += 1;
                            let refused =
                                std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                                    Handle::current().block_on(async {})
                                }));
                            assert!(refused.is_err());
                            block_in_place(|| {
                                Handle::current().block_on(async {
                                    sleep(Duration::from_millis(1)).await;
                                    *mutex.lock().await += 1;
                                    spawn_blocking(|| 5).await.unwrap()
                                })
                            })
                        })
                    }
                };
                let other = spawn_blocking(deep(mutex.clone()));
                let here = block_in_place(deep(mutex.clone()));
                assert_eq!((here, other.await.unwrap(), *mutex.lock().await), (5, 5, 4));
            });
        assert!(report.passed(), "{granularity:?}: {}", report.text());
    }
}

/// What a task that may be aborted at any moment has done so far.
#[derive(Default)]
struct Progress {
    steps: AtomicU32,
    dropped: AtomicU32,
}

struct Dropped(Arc<Progress>);

impl Drop for Dropped {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
    }
}

#[test]
fn abort_comes_at_every_moment_and_never_in_the_middle_of_a_poll() {
    let at: Arc<[AtomicU64; 4]> = Arc::default();
    let seen = at.clone();
    let report = checker("abort")
        .granularity(Granularity::Sync)
        .iterations(1_500)
        .run(move || {
            let at = at.clone();
            async move {
                let progress = Arc::new(Progress::default());
                let value = Dropped(progress.clone());
                let task = spawn(async move {
                    let value = value;
                    for _ in 0..2 {
                        value.0.steps.fetch_add(10, SeqCst);
                        nondet::point();
                        value.0.steps.fetch_sub(9, SeqCst);
                        yield_now().await;
                    }
                });
                for _ in 0..nondet::choose(4) {
                    nondet::point();
                }
                task.abort();
                let ended = task.await;
                let steps = progress.steps.load(SeqCst);
                assert!(steps < 3, "aborted in the middle of a poll: {steps}");
                assert_eq!(progress.dropped.load(SeqCst), 1);
                let index = match ended {
                    Ok(()) => 3,
                    Err(error) => {
                        assert!(error.is_cancelled());
                        steps
                    }
                };
                at[index as usize].fetch_add(1, SeqCst);
            }
        });
    assert!(report.passed(), "{}", report.text());
    for (index, count) in seen.iter().enumerate() {
        assert!(count.load(SeqCst) > 0, "never aborted after {index} polls");
    }
}

#[test]
fn an_abort_during_a_blocking_wait_is_not_lost() {
    let report = checker("abort while blocked")
        .iterations(200)
        .run(|| async {
            let (sender, mut receiver) = mpsc::channel(1);
            let ready = Arc::new(Notify::new());
            let theirs = ready.clone();
            let task = spawn(async move {
                block_in_place(|| {
                    theirs.notify_one();
                    assert_eq!(receiver.blocking_recv(), Some(1));
                });
                pending::<()>().await;
            });
            ready.notified().await;
            task.abort();
            sleep(Duration::from_millis(1)).await;
            assert!(!task.is_finished(), "aborted in the middle of a poll");
            sender.send(1).await.unwrap();
            assert!(task.await.unwrap_err().is_cancelled());
        });
    assert!(report.passed(), "{}", report.text());
}

#[test]
fn a_blocking_closure_is_aborted_only_before_it_begins() {
    let seen: Arc<[AtomicU64; 2]> = Arc::default();
    let counts = seen.clone();
    let report = checker("abort blocking").iterations(300).run(move || {
        let counts = counts.clone();
        async move {
            let begun = Arc::new(AtomicU32::new(0));
            let theirs = begun.clone();
            let task = spawn_blocking(move || {
                theirs.fetch_add(1, SeqCst);
                Handle::current().block_on(sleep(Duration::from_millis(1)));
                theirs.fetch_add(1, SeqCst);
            });
            nondet::point();
            task.abort();
            let result = task.await;
            let begun = begun.load(SeqCst);
            assert_eq!(begun, if result.is_ok() { 2 } else { 0 });
            counts[usize::from(result.is_ok())].fetch_add(1, SeqCst);
        }
    });
    assert!(report.passed(), "{}", report.text());
    assert!(seen.iter().all(|count| count.load(SeqCst) > 0), "{seen:?}");
}

#[test]
fn cancellable_cancels_before_the_first_poll_and_at_every_wait() {
    let at: Arc<[AtomicU64; 4]> = Arc::default();
    let seen = at.clone();
    let report = checker("cancellable").iterations(2_000).run(move || {
        let at = at.clone();
        async move {
            let polls = Arc::new(AtomicU32::new(0));
            let theirs = polls.clone();
            let cancelled = cancellable(async move {
                for _ in 0..2 {
                    theirs.fetch_add(10, SeqCst);
                    nondet::point();
                    theirs.fetch_sub(9, SeqCst);
                    yield_now().await;
                }
            });
            let other = spawn(async {
                for _ in 0..3 {
                    yield_now().await;
                }
            });
            let index = match cancelled.await {
                Some(()) => 3,
                None => polls.load(SeqCst),
            };
            assert!(index <= 3, "cancelled in the middle of a poll: {index}");
            at[index as usize].fetch_add(1, SeqCst);
            other.await.unwrap();
        }
    });
    assert!(report.passed(), "{}", report.text());
    assert!(seen.iter().all(|count| count.load(SeqCst) > 0), "{seen:?}");
}

#[test]
fn spurious_polls_come_without_a_wake_up_and_only_where_asked_for() {
    for spurious in [false, true] {
        let extra = Arc::new(AtomicU64::new(0));
        let theirs = extra.clone();
        let report = checker("spurious")
            .spurious_polls(spurious)
            .iterations(200)
            .run(move || {
                let extra = theirs.clone();
                async move {
                    let (sender, mut receiver) = mpsc::channel(1);
                    let task = spawn(async move {
                        let mut polls = 0;
                        poll_fn(|cx| {
                            polls += 1;
                            if polls == 1 {
                                let waker = cx.waker().clone();
                                drop(spawn(async move {
                                    sleep(Duration::from_millis(5)).await;
                                    waker.wake();
                                }));
                                return Poll::Pending;
                            }
                            Poll::Ready(())
                        })
                        .await;
                        let early = cct_executor::time::Instant::now();
                        sender.send(early).await.unwrap();
                    });
                    let begun = cct_executor::time::Instant::now();
                    let early = receiver.recv().await.unwrap() - begun;
                    extra.fetch_add(u64::from(early < Duration::from_millis(5)), SeqCst);
                    task.await.unwrap();
                }
            });
        assert!(report.passed(), "{}", report.text());
        assert_eq!(extra.load(SeqCst) > 0, spurious);
    }
}

/// Polls its future only when the future's own waker was woken, as sets of futures do.
async fn only_when_woken<F: Future>(future: F) -> F::Output {
    struct Flag {
        woken: AtomicBool,
        outer: std::sync::Mutex<Option<Waker>>,
    }
    impl Wake for Flag {
        fn wake(self: Arc<Self>) {
            self.woken.store(true, SeqCst);
            let outer = self.outer.lock().unwrap().take();
            outer.into_iter().for_each(Waker::wake);
        }
    }
    let mut future = std::pin::pin!(future);
    let flag = Arc::new(Flag {
        woken: AtomicBool::new(true),
        outer: Default::default(),
    });
    poll_fn(move |cx| {
        *flag.outer.lock().unwrap() = Some(cx.waker().clone());
        if !flag.woken.swap(false, SeqCst) {
            return Poll::Pending;
        }
        let waker = Waker::from(flag.clone());
        future
            .as_mut()
            .poll(&mut std::task::Context::from_waker(&waker))
    })
    .await
}

#[test]
fn wake_ups_reach_wakers_of_foreign_make() {
    for spurious in [false, true] {
        for granularity in GRANULARITIES {
            let report = checker("own wakers")
                .spurious_polls(spurious)
                .granularity(granularity)
                .clock(cct_executor::Clock::Adversarial)
                .iterations(300)
                .run(|| async {
                    let mutex = Arc::new(Mutex::new(0));
                    let (sender, mut receiver) = mpsc::channel(1);
                    let theirs = mutex.clone();
                    let other = spawn(only_when_woken(async move {
                        for i in 0..3 {
                            let mut guard = theirs.lock().await;
                            *guard += 1;
                            yield_now().await;
                            drop(guard);
                            sleep(Duration::from_millis(1)).await;
                            sender.send(i).await.unwrap();
                        }
                    }));
                    only_when_woken(async {
                        for i in 0..3 {
                            *mutex.lock().await += 1;
                            assert_eq!(receiver.recv().await, Some(i));
                            cancellable(only_when_woken(yield_now())).await;
                        }
                        other.await.unwrap();
                    })
                    .await;
                    assert_eq!(*mutex.lock().await, 6);
                });
            assert!(
                report.passed(),
                "{spurious} {granularity:?}: {}",
                report.text()
            );
        }
    }
}

/// What waits for a thread that has run another closure may come too late; what got a new one does not.
#[test]
fn closures_of_a_runtime_that_ends_run_if_a_thread_was_started_for_them() {
    for granularity in GRANULARITIES {
        let late = Arc::new(AtomicU32::new(0));
        let theirs = late.clone();
        let report = checker("threads")
            .granularity(granularity)
            .iterations(200)
            .run(move || {
                let late = theirs.clone();
                async move {
                    let done = spawn_blocking(move || {
                        let runtime = Runtime::new().unwrap();
                        runtime.block_on(runtime.spawn_blocking(|| ())).unwrap();
                        let closures = [1, 2].map(|number| runtime.spawn_blocking(move || number));
                        drop(runtime);
                        // The idle thread is told of one of them at a time.
                        let outer = Handle::current();
                        let ran = closures.map(|closure| outer.block_on(closure).is_ok());
                        assert!(ran.contains(&true));
                        late.fetch_add(u32::from(ran.contains(&false)), SeqCst);
                    });
                    done.await.unwrap();
                }
            });
        assert!(report.passed(), "{granularity:?}: {}", report.text());
        assert_ne!(late.load(SeqCst), 0, "{granularity:?}");
    }
}

/// A new task that runs before its spawner goes on finds what the spawner is about to do not done.
#[test]
fn a_spawned_task_may_go_first() {
    let run = |checker: Checker| {
        checker.iterations(100).run(|| async {
            let ready = Arc::new(AtomicBool::new(false));
            let seen = ready.clone();
            let task = spawn(async move { assert!(seen.load(SeqCst), "not yet") });
            ready.store(true, SeqCst);
            task.await.unwrap();
        })
    };
    run(checker("spawn").granularity(Granularity::Op)).assert_passed();
    failed(&run(checker("spawn").granularity(Granularity::Spawn)));

    let portfolio = || checker("spawn").strategy_text("portfolio");
    run(portfolio().granularity(Granularity::Op)).assert_passed();
    for workers in [1, 2, 5] {
        let report = run(portfolio().workers(workers));
        let failure = failed(&report);
        assert_eq!(failure.token.granularity, Granularity::Spawn);
        let Origin::Iteration(index) = failure.origin else {
            panic!("{:?}", failure.origin);
        };
        assert_eq!(index % 5, 4, "the last of five lanes");
        assert!(
            report.text().contains(", granularity spawn, seed"),
            "{}",
            report.text()
        );
        let token = failure.token.to_string().parse().expect("a token");
        let again = run(portfolio().replay(token));
        assert!(failed(&again).reproduced);
    }
}
