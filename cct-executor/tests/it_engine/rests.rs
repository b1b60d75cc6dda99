//! Yields that last until the others have got as far as they can.

use crate::{GRANULARITIES, checker};
use cct_executor::task::{JoinHandle, yield_now};
use cct_executor::time::{Instant, sleep, timeout};
use cct_executor::{Checker, Clock, Report, spawn};
use cct_sync::{mpsc, oneshot};
use std::future::poll_fn;
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering::SeqCst};
use std::task::Poll;
use std::time::Duration;

const STRATEGIES: [&str; 5] = ["random", "round-robin", "pct:d=3", "ql", "portfolio"];

fn run<F: Future<Output = ()> + 'static>(
    lasting: bool,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) -> Vec<Report> {
    let run = |strategy: &str, checker: Checker| {
        let checker = checker.strategy_text(strategy).iterations(100);
        checker.lasting_yields(lasting).run(scenario.clone())
    };
    let runs = STRATEGIES.iter().flat_map(|strategy| {
        GRANULARITIES.map(|level| run(strategy, checker("rests").granularity(level)))
    });
    runs.collect()
}

fn assert_passed(reports: &[Report]) {
    reports.iter().for_each(Report::assert_passed);
}

/// A task that starts others one after the other; counts those that are done.
fn chain(count: Arc<AtomicU32>, more: u32) -> Pin<Box<dyn Future<Output = ()> + Send>> {
    Box::pin(async move {
        count.fetch_add(1, SeqCst);
        if more > 0 {
            spawn(chain(count, more - 1));
        }
    })
}

/// All that one yield leaves to be done.
async fn counts_on_one_yield() {
    let count = Arc::new(AtomicU32::new(0));
    spawn(chain(count.clone(), 5));
    yield_now().await;
    assert_eq!(count.load(SeqCst), 6, "too early");
}

#[test]
fn one_yield_lets_all_others_go_on() {
    let reports = run(true, counts_on_one_yield);
    assert_passed(&reports);
    // There are still schedules: whose turn it is among the others.
    let reports = run(false, counts_on_one_yield);
    let failed = reports.iter().filter(|report| report.failure.is_some());
    assert!(failed.count() >= reports.len() / 2);
}

#[test]
fn the_others_are_in_any_order_meanwhile() {
    let reports = run(true, || async {
        let first = Arc::new(AtomicU32::new(0));
        for me in 1..=2 {
            let first = first.clone();
            spawn(async move {
                let _ = first.compare_exchange(0, me, SeqCst, SeqCst);
            });
        }
        yield_now().await;
        assert_eq!(first.load(SeqCst), 1, "the second was first");
    });
    let random = &reports[..GRANULARITIES.len()];
    assert!(random.iter().all(|report| report.failure.is_some()));
}

/// Polls a future within another one's waker, as combinators with wakers of their own do.
async fn by_another_waker<F: Future>(future: F) -> F::Output {
    let mut joined = futures::stream::FuturesUnordered::from_iter([future]);
    let output = futures::StreamExt::next(&mut joined).await;
    output.expect("one was put in")
}

/// Ready at the second poll, which it asks for itself.
async fn by_hand() {
    let mut polled = false;
    poll_fn(|cx| {
        if std::mem::replace(&mut polled, true) {
            return Poll::Ready(());
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

#[test]
fn so_does_every_way_to_wake_oneself() {
    let reports = run(true, || async {
        let count = Arc::new(AtomicU32::new(0));
        for (round, way) in [0, 1, 2].into_iter().enumerate() {
            spawn(chain(count.clone(), 2));
            match way {
                0 => by_hand().await,
                1 => by_another_waker(pin!(yield_now())).await,
                _ => by_another_waker(pin!(by_hand())).await,
            }
            assert_eq!(count.load(SeqCst) as usize, 3 * (round + 1), "way {way}");
        }
    });
    assert_passed(&reports);
}

#[test]
fn time_does_not_pass_meanwhile() {
    let reports = run(true, || async {
        let begun = Instant::now();
        let sleeper = spawn(sleep(Duration::from_millis(5)));
        for _ in 0..3 {
            yield_now().await;
        }
        assert_eq!(begun.elapsed(), Duration::ZERO);
        sleeper.await.unwrap();
        assert_eq!(begun.elapsed(), Duration::from_millis(5));
    });
    assert_passed(&reports);
}

/// Waits in a loop over yields until it is told to end.
fn spinner(over: &Arc<AtomicBool>) -> JoinHandle<()> {
    let over = over.clone();
    spawn(async move {
        while !over.load(SeqCst) {
            yield_now().await;
        }
    })
}

#[test]
fn who_spins_is_not_waited_for() {
    let reports = run(true, || async {
        let over = Arc::new(AtomicBool::new(false));
        let spinners = [spinner(&over), spinner(&over)];
        for _ in 0..3 {
            yield_now().await;
        }
        over.store(true, SeqCst);
        for spinner in spinners {
            spinner.await.unwrap();
        }
    });
    assert_passed(&reports);
    assert!(reports.iter().all(|report| report.coverage.cut.is_empty()));
}

/// A wake-up by somebody else is no yield: who was sent something may go on at once.
#[test]
fn who_is_woken_by_others_does_not_rest() {
    let reports = run(true, || async {
        let (told, late) = (
            Arc::new(AtomicBool::new(false)),
            Arc::new(AtomicBool::new(false)),
        );
        let (theirs, after) = (told.clone(), late.clone());
        let handle = spawn(async move { theirs.store(true, SeqCst) });
        spawn(async move { after.store(true, SeqCst) });
        handle.await.unwrap();
        assert!(late.load(SeqCst), "the other task has not run");
    });
    let random = &reports[..GRANULARITIES.len()];
    assert!(random.iter().all(|report| report.failure.is_some()));
}

/// The yields of a task let the test, and other tasks, get as far as they can.
async fn counts_on_yields_of_a_task() {
    let (commands, mut inbox) = mpsc::unbounded_channel();
    let (echo, mut echoes) = mpsc::unbounded_channel();
    let seen = Arc::new(AtomicU32::new(0));
    let theirs = seen.clone();
    let server = spawn(async move {
        for round in 1..=3 {
            commands.send(round).unwrap();
            yield_now().await;
            assert_eq!(theirs.load(SeqCst), round, "too early");
        }
    });
    spawn(async move {
        while let Some(round) = inbox.recv().await {
            echo.send(round).unwrap();
        }
    });
    while let Some(round) = echoes.recv().await {
        seen.store(round, SeqCst);
    }
    server.await.unwrap();
}

#[test]
fn a_yield_of_another_task_lasts_too() {
    assert_passed(&run(true, counts_on_yields_of_a_task));
    let reports = run(false, counts_on_yields_of_a_task);
    let random = &reports[..GRANULARITIES.len()];
    assert!(random.iter().all(|report| report.failure.is_some()));
}

/// tokio polls the future of `block_on` before the tasks that yielded.
#[test]
fn of_those_who_rest_the_test_itself_goes_first() {
    let reports = run(true, || async {
        let count = Arc::new(AtomicU32::new(0));
        for _ in 0..2 {
            let count = count.clone();
            spawn(async move {
                loop {
                    count.fetch_add(1, SeqCst);
                    yield_now().await;
                }
            });
        }
        for round in 1..=5 {
            yield_now().await;
            assert_eq!(count.load(SeqCst), 2 * round);
        }
    });
    assert_passed(&reports);
}

/// As on tokio, where a task that is woken need not wait until its yield is over.
#[test]
fn who_is_woken_meanwhile_rests_no_longer() {
    let reports = run(true, || async {
        let over = Arc::new(AtomicBool::new(false));
        let (theirs, (tell, told)) = (over.clone(), oneshot::channel());
        spawn(async move {
            cct_executor::select! {
                biased;
                told = told => told.unwrap(),
                () = yield_now() => {}
            }
            assert!(!theirs.load(SeqCst), "it still rests");
        });
        let helper = spawn(async move { tell.send(()).unwrap() });
        helper.await.unwrap();
        spawn(async move { over.store(true, SeqCst) })
            .await
            .unwrap();
    });
    // It is enabled from then on, and so it may go before the last task, or after it.
    let random = &reports[..GRANULARITIES.len()];
    assert!(random.iter().all(|report| report.failure.is_some()));
    let plain = &reports[GRANULARITIES.len()..][..GRANULARITIES.len()];
    assert_passed(plain);
}

/// Timers that may fire early do so at once where they are all there is: nobody may rest until then.
#[test]
fn who_rests_is_not_overtaken_by_all_timers() {
    let clocks = [Clock::Racing(Duration::from_millis(1)), Clock::Adversarial];
    let reports = clocks.map(|clock| {
        let checker = checker("rests").strategy_text("random").iterations(100);
        checker.clock(clock).lasting_yields(true).run(|| async {
            let work = async {
                yield_now().await;
                yield_now().await;
            };
            let finished = timeout(Duration::from_secs(30), work).await;
            cct_executor::sometimes!(finished.is_ok(), "the work is done in time");
            cct_executor::sometimes!(finished.is_err(), "it is not");
        })
    });
    for report in &reports {
        report.assert_passed();
        assert_eq!(report.never_reached().count(), 0, "{}", report.text());
    }
    let plain = clocks.map(|clock| {
        let checker = checker("rests").strategy_text("round-robin").clock(clock);
        checker.lasting_yields(true).run(|| async {
            let finished = timeout(Duration::from_secs(30), yield_now()).await;
            finished.expect("in plain order");
        })
    });
    assert_passed(&plain);
}

#[test]
fn an_aborted_task_does_not_rest() {
    let reports = run(true, || async {
        let over = Arc::new(AtomicBool::new(false));
        let spinner = spinner(&over);
        yield_now().await;
        spinner.abort();
        assert!(spinner.await.unwrap_err().is_cancelled());
    });
    assert_passed(&reports);
}
