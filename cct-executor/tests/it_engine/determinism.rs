//! Same seed, same trace: alone or in a batch, on any thread, with any number of workers. And what
//! is said about programs that do not behave the same twice.

use crate::{GRANULARITIES, checker, failed, within};
use cct_executor::strategy::{Flow, Random, Strategy, StrategySpec};
use cct_executor::task::{Builder, JoinSet, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::words::{
    EnabledSet, FailureKind, Iteration, IterationEnd, Pick, SchedulingPoint,
};
use cct_executor::{Checker, Clock, Granularity, Isolation, Report, Seed, nondet, spawn};
use cct_sync::{Mutex, mpsc};
use std::cell::Cell;
use std::collections::BTreeMap;
use std::future::poll_fn;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

type Runs = Arc<std::sync::Mutex<BTreeMap<u64, Run>>>;

/// One iteration: what was offered and picked, and the hash at the end.
#[derive(Clone, Default, PartialEq, Debug)]
struct Run {
    picks: Vec<(u64, u64, Vec<u64>, u64)>,
    hash: u64,
    fingerprint: u64,
}

/// A strategy that writes down what another one picks.
struct Recording {
    inner: Box<dyn Strategy>,
    /// Pretends that every iteration is this one.
    pinned: Option<Iteration>,
    index: u64,
    run: Run,
    runs: Runs,
}

impl Recording {
    fn new(inner: Box<dyn Strategy>, pinned: Option<Iteration>, runs: &Runs) -> Recording {
        Recording {
            inner,
            pinned,
            index: 0,
            run: Run::default(),
            runs: runs.clone(),
        }
    }
}

impl Strategy for Recording {
    fn describe(&self) -> String {
        self.inner.describe()
    }
    fn lanes(&self) -> cct_executor::strategy::Lanes {
        self.inner.lanes()
    }
    fn interests(&self) -> cct_executor::strategy::Interests {
        self.inner.interests()
    }
    fn observe(&mut self, event: &cct_executor::strategy::StepEvent<'_>) {
        self.inner.observe(event);
    }
    fn begin(&mut self, iteration: &Iteration) -> Flow {
        let iteration = self.pinned.unwrap_or(*iteration);
        self.index = iteration.index;
        self.run = Run::default();
        self.inner.begin(&iteration)
    }
    fn pick(&mut self, point: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        let pick = self.inner.pick(point, enabled);
        let ids = enabled.iter().map(|pick| enabled.id(pick).0).collect();
        self.run
            .picks
            .push((point.step, point.fingerprint.0, ids, enabled.id(pick).0));
        pick
    }
    fn end(&mut self, end: &IterationEnd) {
        (self.run.hash, self.run.fingerprint) = (end.schedule_hash, end.fingerprint.0);
        self.runs
            .lock()
            .unwrap()
            .insert(self.index, std::mem::take(&mut self.run));
        self.inner.end(end);
    }
}

/// A bit of everything; fails under few schedules if asked to.
async fn mixture(fails: bool) {
    let mutex = Arc::new(Mutex::new(0_u32));
    let (sender, mut receiver) = mpsc::channel(2);
    let mut set = JoinSet::new();
    for i in 0..3 {
        let (mutex, sender) = (mutex.clone(), sender.clone());
        set.spawn(async move {
            for _ in 0..2 {
                let seen = *mutex.lock().await;
                sleep(Duration::from_millis(u64::from(nondet::choose(3)))).await;
                *mutex.lock().await = seen + 1;
                let _ = sender.send(i).await;
            }
        });
    }
    drop(sender);
    let mut got = 0;
    while let Ok(Some(i)) = timeout(Duration::from_millis(2), receiver.recv()).await {
        got = got * 3 + i;
    }
    drop(receiver);
    cct_executor::observe("got", got);
    while set.join_next().await.is_some() {}
    assert!(!fails || got % 23 != 5, "got {got}");
}

fn batch(
    strategy: &'static str,
    granularity: Granularity,
    workers: usize,
    fails: bool,
) -> (Report, BTreeMap<u64, Run>) {
    let runs = Runs::default();
    let theirs = runs.clone();
    let report = checker("mixture")
        .seed(Seed(5))
        .granularity(granularity)
        .clock(Clock::Racing(Duration::from_millis(1)))
        .workers(workers)
        .iterations(160)
        .strategy(move || {
            let inner = StrategySpec::parse(strategy).unwrap().build();
            Recording::new(inner, None, &theirs)
        })
        .run(move || mixture(fails));
    let runs = runs.lock().unwrap().clone();
    (report, runs)
}

#[test]
fn a_run_does_not_depend_on_thread_or_number_of_workers() {
    for granularity in GRANULARITIES {
        for strategy in ["random", "pct:d=3"] {
            let (first, runs) = batch(strategy, granularity, 1, false);
            assert!(first.passed(), "{}", first.text());
            assert_eq!(runs.len(), 160);
            assert!(first.coverage.schedules > 20, "{granularity:?} {strategy}");
            for workers in [1, 2, 3, 7] {
                let context = format!("{granularity:?} {strategy} {workers} workers");
                let (again, others) =
                    within(60, move || batch(strategy, granularity, workers, false));
                for (index, run) in &runs {
                    assert!(run == &others[index], "{context}: iteration {index}");
                }
                assert_eq!(
                    again.coverage.schedules, first.coverage.schedules,
                    "{context}"
                );
                assert_eq!(again.coverage.states, first.coverage.states, "{context}");
                assert_eq!(again.coverage.steps, first.coverage.steps, "{context}");
            }
        }
    }
}

#[test]
fn the_failure_found_does_not_depend_on_the_number_of_workers() {
    let find = |workers| {
        let (report, _) = batch("random", Granularity::Op, workers, true);
        let failure = failed(&report);
        assert!(failure.reproduced, "{}", report.text());
        (
            report.iterations(),
            failure.iteration(),
            failure.kind.clone(),
            failure.token.to_string(),
        )
    };
    let first = find(1);
    for workers in [2, 3, 7, 1] {
        assert_eq!(
            within(60, move || find(workers)),
            first,
            "{workers} workers"
        );
    }
}

#[test]
fn each_iteration_alone_is_what_it_was_in_the_batch() {
    let (_, runs) = batch("random", Granularity::Op, 2, false);
    for index in [0, 1, 17, 159] {
        let pinned = Iteration {
            index,
            seed: Seed(5).iteration(index),
            max_steps: 100_000,
        };
        let alone = Runs::default();
        let theirs = alone.clone();
        let report = checker("alone")
            .clock(Clock::Racing(Duration::from_millis(1)))
            .iterations(1)
            .strategy(move || Recording::new(Box::new(Random::new()), Some(pinned), &theirs))
            .run(|| mixture(false));
        assert!(report.passed(), "{}", report.text());
        assert!(
            alone.lock().unwrap()[&index] == runs[&index],
            "iteration {index}"
        );
    }
}

#[track_caller]
fn nondeterminism(report: &Report) -> String {
    let FailureKind::Nondeterminism { message } = &failed(report).kind else {
        panic!("{}", report.text())
    };
    assert!(message.contains("likely causes"), "{message}");
    assert!(message.contains("call `fastrand::seed`"), "{message}");
    assert_eq!(failed(report).again, None, "says it twice");
    message.clone()
}

#[test]
fn a_program_that_follows_a_static_is_reported_with_the_step() {
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    let report = checker("static order")
        .determinism_check(true)
        .run(|| async {
            let first = BEGUN.fetch_add(1, SeqCst);
            for key in first..first + 10 {
                if key % 7 < 3 {
                    nondet::point();
                } else {
                    yield_now().await;
                }
                drop(spawn(async {}));
            }
        });
    let message = nondeterminism(&report);
    assert!(message.contains("first at step "), "{message}");
    assert!(message.contains("it_engine/determinism.rs:"), "{message}");
    assert!(message.contains("task 0 `main`"), "{message}");
}

#[test]
fn a_program_that_reads_the_wall_clock_is_reported_unless_that_is_virtual() {
    let report = checker("wall clock").determinism_check(true).run(|| async {
        let now = std::time::SystemTime::now()
            .duration_since(std::time::UNIX_EPOCH)
            .unwrap();
        drop(spawn(async {}));
        for _ in 0..now.subsec_nanos() / 100 % 97 {
            yield_now().await;
        }
        sleep(Duration::from_millis(1)).await;
    });
    if cct_interpose::CONTROLLED {
        report.assert_passed();
    } else {
        assert!(nondeterminism(&report).contains("wall clock"));
    }
}

#[test]
fn a_static_counter_is_reported() {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let report = checker("static").determinism_check(true).run(|| async {
        let count = COUNTER.fetch_add(1, SeqCst);
        drop(Builder::new().name("other").spawn(async {}));
        if count % 2 == 0 {
            nondet::point();
        }
        sleep(Duration::from_millis(1)).await;
    });
    let message = nondeterminism(&report);
    assert!(
        message.contains("statics") && message.contains("first at step "),
        "{message}"
    );
}

thread_local! {
    static VISITS: Cell<u32> = const { Cell::new(0) };
}

#[test]
fn a_repetition_that_panics_is_quoted() {
    // What the first iteration keeps is another iteration's in the second, which then poisons the lock.
    let kept = Arc::new(std::sync::Mutex::new(None));
    let report = checker("kept").determinism_check(true).run(move || {
        let kept = kept.clone();
        async move {
            let task = spawn(async {});
            let mut kept = kept.lock().unwrap();
            assert!(kept.is_none(), "of another iteration");
            *kept = Some(task);
        }
    });
    let message = nondeterminism(&report);
    let quoted = "it passed when it was found, but failed when it was repeated: panic at ";
    assert!(message.contains(quoted), "{message}");
    assert!(message.contains("of another iteration"), "{message}");
    // One that differs and passes has nothing to be quoted.
    let report = checker("counted").determinism_check(true).run(|| async {
        static COUNTER: AtomicU64 = AtomicU64::new(0);
        for _ in 0..COUNTER.fetch_add(1, SeqCst) {
            yield_now().await;
        }
    });
    assert!(!nondeterminism(&report).contains("but failed"));
}

#[test]
fn what_differs_the_first_time_only_is_not_said_to_be_hashed_or_observed() {
    static USED: std::sync::Once = std::sync::Once::new();
    let report = checker("first use").determinism_check(true).run(|| async {
        let mut first = false;
        USED.call_once(|| first = true);
        if first {
            yield_now().await;
        }
        spawn(yield_now()).await.unwrap();
    });
    let message = nondeterminism(&report);
    assert!(message.contains("the first time only"), "{message}");
}

#[test]
fn thread_locals_are_reported_unless_iterations_have_threads_of_their_own() {
    let run = |isolation| {
        checker("thread local")
            .isolation(isolation)
            .iterations(20)
            .determinism_check(true)
            .run(|| async {
                VISITS.set(VISITS.get() + 1);
                drop(spawn(async {}));
                for _ in 0..VISITS.get() {
                    yield_now().await;
                }
                cct_executor::sometimes!(VISITS.get() > 1, "visited twice");
            })
    };
    nondeterminism(&run(Isolation::None));
    let report = within(30, move || run(Isolation::Thread));
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.iterations(), 20);
    assert_eq!(report.coverage.checked_twice, 6);
    assert_eq!(
        report.never_reached().collect::<Vec<_>>(),
        ["visited twice"]
    );
}

/// What a program makes once for all would be made by several worlds at a time, and fail or not as threads go.
#[test]
fn the_first_iteration_runs_alone() {
    static BEGUN: AtomicU64 = AtomicU64::new(0);
    static FIRST_IS_OVER: AtomicU64 = AtomicU64::new(0);
    let report = within(30, || {
        checker("first alone")
            .workers(3)
            .iterations(30)
            .run(|| async {
                if BEGUN.fetch_add(1, SeqCst) == 0 {
                    for _ in 0..5_000 {
                        yield_now().await;
                    }
                    FIRST_IS_OVER.store(1, SeqCst);
                }
                assert_eq!(FIRST_IS_OVER.load(SeqCst), 1, "two at a time");
            })
    });
    report.assert_passed();
}

#[test]
fn a_wake_up_from_a_foreign_thread_is_reported_with_the_task() {
    let wait = |late: bool| async move {
        let mut thread = None;
        poll_fn(|cx| {
            if thread.is_some() {
                return Poll::Ready(());
            }
            let waker = cx.waker().clone();
            let wake = move || {
                if late {
                    std::thread::sleep(Duration::from_millis(20));
                }
                waker.wake();
            };
            let named = std::thread::Builder::new().name("the network".to_owned());
            thread = Some(named.spawn(wake).unwrap());
            if !late {
                thread.take().unwrap().join().unwrap();
                thread = Some(std::thread::spawn(|| ()));
            }
            Poll::Pending
        })
        .await;
        thread.unwrap().join().unwrap();
    };
    for late in [false, true] {
        let report = within(30, move || {
            checker("foreign").run(move || async move {
                Builder::new()
                    .name("fetcher")
                    .spawn(wait(late))
                    .unwrap()
                    .await
                    .unwrap();
            })
        });
        let expected = FailureKind::Uncontrolled {
            task: "1 `fetcher`".to_owned(),
            thread: Some("the network".to_owned()),
        };
        assert_eq!(
            failed(&report).kind,
            expected,
            "late {late}: {}",
            report.text()
        );
        let text = report.text();
        assert!(
            text.contains("a foreign thread (`the network`) woke task 1 `fetcher`"),
            "{text}"
        );
        assert!(text.contains("have threads of their own"), "{text}");
    }
}

/// As with a lock in a `static`, which the world of another test opens.
#[test]
fn a_wake_up_from_another_world_is_blamed_on_what_they_share() {
    let report = checker("static").run(|| {
        poll_fn(|cx| {
            let waker = cx.waker().clone();
            let other = move || {
                let waker = waker.clone();
                Checker::new()
                    .iterations(1)
                    .determinism_check(false)
                    .run(move || {
                        let waker = waker.clone();
                        async move { waker.wake_by_ref() }
                    })
                    .assert_passed();
            };
            std::thread::spawn(other).join().unwrap();
            Poll::<()>::Pending
        })
    });
    let text = report.text();
    assert_eq!(failed(&report).kind.class(), "uncontrolled concurrency");
    assert!(text.contains("they share a static"), "{text}");
    assert!(!text.contains("have threads of their own"), "{text}");
}

#[test]
fn an_abort_by_a_foreign_thread_is_reported() {
    let report = checker("a thread aborts")
        .iterations(1)
        .determinism_check(false)
        .run(|| async {
            let task = spawn(std::future::pending::<()>());
            let handle = task.abort_handle();
            std::thread::spawn(move || handle.abort()).join().unwrap();
            let _ = task.await;
        });
    let failure = report.failure().expect("nothing controls the thread");
    assert_eq!(failure.kind.class(), "uncontrolled concurrency");
}

#[test]
fn a_failure_that_reads_otherwise_when_replayed_is_not_of_the_schedule_alone() {
    static RUNS: AtomicU64 = AtomicU64::new(0);
    let report = checker("a static").iterations(9).run(|| async {
        let runs = RUNS.fetch_add(1, SeqCst) + 1;
        yield_now().await;
        assert_eq!(runs, 0, "counts its runs");
    });
    let failure = failed(&report);
    assert!(failure.reproduced);
    let again = failure.again.as_ref().expect("another count");
    assert_ne!(*again, failure.kind);
    assert!(failure.counts_on);
    let text = report.text();
    assert!(text.contains("fails with other numbers"), "{text}");

    let report = checker("a static").iterations(9).run(|| async {
        let runs = RUNS.fetch_add(1, SeqCst);
        yield_now().await;
        let parity = if runs % 2 == 0 { "even" } else { "odd" };
        assert_eq!(parity, "none", "after {parity} runs");
    });
    assert!(!failed(&report).counts_on);
    let text = report.text();
    assert!(text.contains("such as a static of the test"), "{text}");
    assert!(text.contains("fails otherwise"), "{text}");

    let report = checker("the same each time").run(|| async { panic!("always") });
    assert_eq!(failed(&report).again, None);
    assert!(!report.text().contains("such as a static"));
}
