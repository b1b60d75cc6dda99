//! Worlds that end while polls are suspended at every kind of point.

use crate::{GRANULARITIES, checker, failed, within};
use cct_executor::runtime::Handle;
use cct_executor::task::{block_in_place, spawn_blocking, yield_now};
use cct_executor::time::{sleep, timeout};
use cct_executor::{Checker, Granularity, Seed, nondet, spawn};
use cct_sync::{Mutex, Notify, RwLock, Semaphore, mpsc};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::time::Duration;

type Body = Pin<Box<dyn Future<Output = ()> + Send>>;

/// What the tasks of one world share.
struct Things {
    mutex: Mutex<u32>,
    rwlock: RwLock<u32>,
    semaphore: Semaphore,
    notify: Notify,
    sender: mpsc::Sender<u32>,
    receiver: Mutex<mpsc::Receiver<u32>>,
}

/// Counts values made and dropped over all iterations of a test.
#[derive(Default)]
struct Balance {
    made: AtomicU64,
    dropped: AtomicU64,
}

struct Counted(Arc<Balance>);

impl Counted {
    fn new(balance: &Arc<Balance>) -> Counted {
        balance.made.fetch_add(1, SeqCst);
        Counted(balance.clone())
    }
}

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.dropped.fetch_add(1, SeqCst);
    }
}

impl Balance {
    #[track_caller]
    fn assert_even(&self, context: &str) {
        let (made, dropped) = (self.made.load(SeqCst), self.dropped.load(SeqCst));
        assert!(
            made > 0 && made == dropped,
            "{context}: {made} made, {dropped} dropped"
        );
    }
}

fn things() -> Arc<Things> {
    let (sender, receiver) = mpsc::channel(1);
    Arc::new(Things {
        mutex: Mutex::new(0),
        rwlock: RwLock::new(0),
        semaphore: Semaphore::new(1),
        notify: Notify::new(),
        sender,
        receiver: Mutex::new(receiver),
    })
}

/// One task for each kind of point. Each makes a few rounds and then waits for ever.
fn tasks(things: &Arc<Things>, balance: &Arc<Balance>) -> Vec<Body> {
    const ROUNDS: u32 = 3;
    let mut bodies: Vec<Body> = Vec::new();
    macro_rules! rounds {
        (|$things:ident| $body:block) => {{
            let ($things, value) = (things.clone(), Counted::new(balance));
            bodies.push(Box::pin(async move {
                let _value = value;
                for _ in 0..ROUNDS $body
                std::future::pending::<()>().await;
            }));
        }};
    }
    rounds!(|things| {
        *things.mutex.lock().await += 1;
    });
    rounds!(|things| {
        let _guard = things.mutex.lock().await;
        yield_now().await;
    });
    rounds!(|things| {
        *things.rwlock.write().await += 1;
    });
    rounds!(|things| {
        assert!(*things.rwlock.read().await <= ROUNDS);
    });
    rounds!(|things| {
        let _ = things.sender.send(1).await;
    });
    rounds!(|things| {
        let _ = things.receiver.lock().await.recv().await;
    });
    rounds!(|things| {
        let _permit = things.semaphore.acquire().await;
    });
    rounds!(|things| {
        things.notify.notify_one();
        yield_now().await;
    });
    rounds!(|things| {
        let _ = timeout(Duration::from_millis(1), things.notify.notified()).await;
    });
    rounds!(|things| {
        sleep(Duration::from_millis(1)).await;
        let _ = &things;
    });
    rounds!(|things| {
        nondet::point();
        let _ = (&things, nondet::boolean());
    });
    let inner = balance.clone();
    rounds!(|things| {
        let (things, value) = (things.clone(), Counted::new(&inner));
        let child = spawn(async move {
            *things.mutex.lock().await += 1;
            drop(value);
        });
        let _ = child.await;
    });
    rounds!(|things| {
        let theirs = things.clone();
        let _ = spawn_blocking(move || theirs.sender.blocking_send(2)).await;
    });
    rounds!(|things| {
        block_in_place(|| {
            Handle::current().block_on(async {
                *things.mutex.lock().await += 1;
                sleep(Duration::from_millis(1)).await;
            })
        });
    });
    let inner = balance.clone();
    rounds!(|things| {
        let (theirs, value) = (things.clone(), Counted::new(&inner));
        let _ = spawn_blocking(move || {
            let _value = value;
            let mut receiver = theirs.receiver.blocking_lock();
            receiver.blocking_recv()
        })
        .await;
    });
    bodies
}

#[derive(Clone, Copy, Debug, PartialEq)]
enum End {
    Passes,
    Panics,
    Errs,
    Broken,
    OtherPanics,
    Deadlock,
    Cut,
}

async fn main(end: End, balance: Arc<Balance>) -> Result<(), String> {
    let things = things();
    let _value = Counted::new(&balance);
    for body in tasks(&things, &balance) {
        spawn(body);
    }
    if end == End::OtherPanics {
        let theirs = things.clone();
        spawn(async move {
            for _ in 0..nondet::choose(8) {
                yield_now().await;
            }
            let _guard = theirs.mutex.lock().await;
            panic!("as agreed");
        });
    }
    if matches!(end, End::Deadlock | End::Cut | End::OtherPanics) {
        std::future::pending::<()>().await;
    }
    for _ in 0..nondet::choose(20) {
        yield_now().await;
    }
    let _guard = things.mutex.lock().await;
    match end {
        End::Panics => panic!("as agreed"),
        End::Errs => Err("as agreed".to_owned()),
        End::Broken => {
            cct_executor::always!(false, "as agreed");
            Ok(())
        }
        _ => Ok(()),
    }
}

fn prepared(strategy: &str, granularity: Granularity, end: End) -> Checker {
    let checker = checker("teardown")
        .strategy_text(strategy)
        .granularity(granularity);
    if end == End::Cut {
        checker.max_steps(37)
    } else {
        checker
    }
}

/// Worlds that do not fail: many iterations in one run.
fn ends_well(end: End) {
    for granularity in GRANULARITIES {
        for strategy in ["random", "pct:d=3"] {
            let context = format!("{end:?} {granularity:?} {strategy}");
            let balance = Arc::new(Balance::default());
            let theirs = balance.clone();
            let report = within(120, move || {
                prepared(strategy, granularity, end)
                    .iterations(100)
                    .determinism_check(true)
                    .run(move || main(end, theirs.clone()))
            });
            assert!(report.passed(), "{context}: {}", report.text());
            assert_eq!(report.iterations(), 100, "{context}");
            assert_eq!(
                report.cut(),
                if end == End::Cut { 100 } else { 0 },
                "{context}"
            );
            balance.assert_even(&context);
        }
    }
}

/// Seeds whose schedules are shortened as well, which takes many more worlds.
const SHORTENED: u64 = 1;

/// Worlds that fail: many runs of one iteration, each failure replayed from its token.
fn ends_badly(end: End, class: &'static str) {
    for granularity in GRANULARITIES {
        for strategy in ["random", "pct:d=3"] {
            let balance = Arc::new(Balance::default());
            // A deadlock waits for foreign threads before it is called one.
            for seed in 0..if end == End::Deadlock { 2 } else { 15 } {
                let theirs = balance.clone();
                within(60, move || {
                    fails_again(strategy, granularity, end, seed, class, &theirs)
                });
            }
            balance.assert_even(&format!("{end:?} {granularity:?} {strategy}"));
        }
    }
}

fn fails_again(
    strategy: &str,
    granularity: Granularity,
    end: End,
    seed: u64,
    class: &str,
    balance: &Arc<Balance>,
) {
    let context = format!("{end:?} {granularity:?} {strategy} seed {seed}");
    let checker = prepared(strategy, granularity, end)
        .iterations(1)
        .shrink(seed < SHORTENED)
        .seed(Seed(seed));
    let theirs = balance.clone();
    let scenario = move || main(end, theirs.clone());
    let first = checker.clone().run(scenario.clone());
    let failure = failed(&first);
    assert_eq!(failure.kind.class(), class, "{context}: {}", first.text());
    assert!(failure.reproduced, "{context}: {}", first.text());
    if class != "deadlock" {
        assert!(
            failure.kind.to_string().contains("as agreed"),
            "{context}: {}",
            failure.kind
        );
    }
    let token = failure.token.to_string().parse().unwrap();
    let again = checker.replay(token).run(scenario);
    let replayed = failed(&again);
    assert_eq!(
        (&replayed.kind, replayed.step),
        (&failure.kind, failure.step),
        "{context}"
    );
    assert_eq!(
        replayed.explanation.steps, failure.explanation.steps,
        "{context}"
    );
}

#[test]
fn the_scenario_ends_while_others_are_in_the_middle() {
    ends_well(End::Passes);
}

#[test]
fn a_limit_cuts_while_others_are_in_the_middle() {
    ends_well(End::Cut);
}

#[test]
fn the_scenario_panics_while_others_are_in_the_middle() {
    ends_badly(End::Panics, "panic");
}

#[test]
fn the_scenario_returns_an_error_while_others_are_in_the_middle() {
    ends_badly(End::Errs, "error");
}

#[test]
fn an_invariant_breaks_while_others_are_in_the_middle() {
    ends_badly(End::Broken, "broken invariant");
}

#[test]
fn a_detached_task_panics_while_others_are_in_the_middle() {
    ends_badly(End::OtherPanics, "panic");
}

#[test]
fn everybody_waits_for_ever() {
    ends_badly(End::Deadlock, "deadlock");
}
