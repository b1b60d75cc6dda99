//! Nodes that crash, pause and restart, and the actions of sources.

use crate::{GRANULARITIES, checker, failed};
use cct_executor::node::{self, NodeId, node};
use cct_executor::shim::{
    ActionSource, Offer, Resource, ResourceKind, Source, SourceAction, source,
};
use cct_executor::task::yield_now;
use cct_executor::words::ActionKind;
use cct_executor::{Granularity, nondet, spawn, time};
use cct_sync::{Mutex, mpsc, oneshot};
use std::panic::Location;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const STRATEGIES: [&str; 3] = ["random", "pct:d=3", "round-robin"];

/// Passes at every granularity, with every strategy.
#[track_caller]
fn passes_everywhere<F, Fut>(name: &str, iterations: u64, scenario: F)
where
    F: Fn() -> Fut + Clone + Send + Sync + 'static,
    Fut: Future<Output = ()> + 'static,
{
    for granularity in GRANULARITIES {
        for strategy in STRATEGIES {
            let checker = checker(name)
                .granularity(granularity)
                .strategy_text(strategy);
            let report = checker.iterations(iterations).run(scenario.clone());
            report.assert_passed();
        }
    }
}

/// Counts when it is dropped.
struct Counted(Arc<AtomicU32>);

impl Drop for Counted {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Tasks in every state: waiting, sleeping, running, suspended at a lock.
#[test]
fn a_crash_drops_tasks_wherever_they_stand() {
    passes_everywhere("crash", 150, || async {
        let dropped = Arc::new(AtomicU32::new(0));
        let acted = Arc::new(AtomicU32::new(0));
        let lock = Arc::new(Mutex::new(0));
        let theirs = (dropped.clone(), acted.clone(), lock.clone());
        let db = node("db").start(move || {
            let (dropped, acted, lock) = theirs.clone();
            async move {
                for _ in 0..3 {
                    let (guard, lock) = (Counted(dropped.clone()), lock.clone());
                    let acted = acted.clone();
                    spawn(async move {
                        let _guard = guard;
                        for _ in 0..4 {
                            *lock.lock().await += 1;
                            acted.fetch_add(1, SeqCst);
                            yield_now().await;
                        }
                    });
                }
                let _guard = Counted(dropped.clone());
                time::sleep(Duration::from_secs(1)).await;
                std::future::pending::<()>().await;
            }
        });
        for _ in 0..nondet::choose(6) {
            yield_now().await;
        }
        db.crash();
        assert!(!db.is_up());
        let (gone, before) = (dropped.load(SeqCst), acted.load(SeqCst));
        assert!(gone == 0 || gone >= 1);
        for _ in 0..5 {
            // Locks that its tasks held are free again.
            *lock.lock().await += 1;
            yield_now().await;
        }
        time::sleep(Duration::from_secs(5)).await;
        assert_eq!((dropped.load(SeqCst), acted.load(SeqCst)), (gone, before));
        assert!(Arc::strong_count(&dropped) <= 2, "its futures are gone");
    });
}

/// Whoever starts several nodes has started them all before any runs, unless it says otherwise.
#[test]
fn nodes_are_set_up_in_one_go() {
    let report = checker("set up")
        .granularity(Granularity::Spawn)
        .iterations(100)
        .run(|| async {
            let started = Arc::new(AtomicU32::new(0));
            let nodes = ["a", "b"].map(|name| {
                let started = started.clone();
                let seen = started.clone();
                let node = node(name).start(move || {
                    let seen = seen.clone();
                    async move { assert_eq!(seen.load(SeqCst), 4) }
                });
                started.fetch_add(1, SeqCst);
                let seen = started.clone();
                drop(node.spawn(async move { assert_eq!(seen.load(SeqCst), 4) }));
                started.fetch_add(1, SeqCst);
                node
            });
            yield_now().await;
            drop(nodes);
        });
    report.assert_passed();
}

#[test]
fn others_learn_of_a_crash() {
    passes_everywhere("learn", 50, || async {
        let (sender, mut receiver) = mpsc::channel::<u32>(1);
        let (never, told) = oneshot::channel::<()>();
        let db = node("db").start(std::future::pending::<()>);
        let task = db.spawn(async move {
            let _never = never;
            sender.send(1).await.unwrap();
            std::future::pending::<()>().await;
        });
        assert_eq!(receiver.recv().await, Some(1));
        db.crash();
        assert_eq!(receiver.recv().await, None);
        assert!(told.await.is_err());
        assert!(task.await.unwrap_err().is_cancelled());
        let late = db.spawn(async {});
        assert!(late.await.unwrap_err().is_cancelled());
    });
}

/// What a destructor may try while its node goes down.
struct Stubborn(mpsc::UnboundedSender<u32>, Arc<Mutex<u32>>);

impl Drop for Stubborn {
    fn drop(&mut self) {
        let _ = self.0.send(7);
        spawn(async { unreachable!("a task of a node that is down") });
        drop(self.1.try_lock());
        assert!(std::thread::panicking(), "a destructor that panics");
    }
}

#[test]
fn destructors_of_a_crashing_node_do_no_harm() {
    passes_everywhere("stubborn", 60, || async {
        let (sender, receiver) = mpsc::unbounded_channel();
        let lock = Arc::new(Mutex::new(0));
        let db = node("db").start(std::future::pending::<()>);
        for _ in 0..3 {
            let stubborn = Stubborn(sender.clone(), lock.clone());
            let lock = lock.clone();
            db.spawn(async move {
                let _stubborn = stubborn;
                loop {
                    let _guard = lock.lock().await;
                    yield_now().await;
                }
            });
        }
        yield_now().await;
        db.crash();
        *lock.lock().await += 1;
        drop(receiver);
    });
}

#[test]
fn a_node_that_crashes_itself_does_not_go_on() {
    passes_everywhere("itself", 30, || async {
        let after = Arc::new(AtomicU32::new(0));
        let (sender, receiver) = oneshot::channel::<node::Node>();
        let theirs = after.clone();
        let db = node("db").start(std::future::pending::<()>);
        db.spawn(async move {
            let me = receiver.await.unwrap();
            me.crash();
            yield_now().await;
            theirs.fetch_add(1, SeqCst);
        });
        sender.send(db.clone()).unwrap();
        time::sleep(Duration::from_secs(1)).await;
        assert!(!db.is_up());
        assert_eq!(after.load(SeqCst), 0);
    });
}

#[test]
fn a_paused_node_stands_still_and_loses_nothing() {
    passes_everywhere("pause", 40, || async {
        let count = Arc::new(AtomicU32::new(0));
        let theirs = count.clone();
        let (sender, mut receiver) = mpsc::unbounded_channel::<()>();
        let db = node("db").start(std::future::pending::<()>);
        db.spawn(async move {
            while receiver.recv().await.is_some() {
                theirs.fetch_add(1, SeqCst);
                time::sleep(Duration::from_millis(1)).await;
            }
        });
        sender.send(()).unwrap();
        time::sleep(Duration::from_secs(1)).await;
        assert_eq!(count.load(SeqCst), 1);
        db.pause();
        sender.send(()).unwrap();
        time::sleep(Duration::from_secs(1)).await;
        assert_eq!(count.load(SeqCst), 1);
        db.resume();
        time::sleep(Duration::from_secs(1)).await;
        assert_eq!(count.load(SeqCst), 2);
    });
}

#[test]
fn a_panic_fails_the_test_or_restarts_the_node() {
    let run = |restart: bool| {
        checker("panic").iterations(20).run(move || async move {
            let starts = Arc::new(AtomicU32::new(0));
            let theirs = starts.clone();
            let builder = node("db");
            let builder = if restart {
                builder.restart_on_panic()
            } else {
                builder
            };
            let db = builder.start(move || {
                let start = theirs.fetch_add(1, SeqCst);
                async move {
                    yield_now().await;
                    assert!(start > 1, "start {start}");
                }
            });
            time::sleep(Duration::from_secs(1)).await;
            assert_eq!(starts.load(SeqCst), 3);
            assert!(db.is_up());
        })
    };
    run(true).assert_passed();
    let report = run(false);
    assert_eq!(failed(&report).kind.class(), "panic");
    // It has none.
    let text = report.text();
    assert!(!text.contains("nobody asked its JoinHandle"), "{text}");
    assert!(report.text().contains("`db`"), "{}", report.text());
}

#[test]
fn an_error_of_the_main_task_fails_the_test() {
    let report = checker("error").iterations(1).run(|| async {
        node("db").start(|| async { Err::<(), _>("disk full") });
        time::sleep(Duration::from_secs(1)).await;
    });
    let text = failed(&report).kind.to_string();
    assert!(
        text.contains("node `db` returned an error: \"disk full\""),
        "{text}"
    );
}

#[test]
fn clocks_differ_as_they_were_set() {
    let report = checker("clocks").iterations(3).run(|| async {
        let zero = time::Instant::now();
        let fast = node("fast")
            .clock_drift_ppm(100_000)
            .start(std::future::pending::<()>);
        let ahead = node("ahead")
            .clock_ahead(Duration::from_secs(100))
            .start(std::future::pending::<()>);
        let slept = fast.spawn(async {
            let begin = time::Instant::now();
            time::sleep(Duration::from_millis(1100)).await;
            begin.elapsed()
        });
        let seen = slept.await.unwrap();
        assert!(seen >= Duration::from_millis(1100) && seen < Duration::from_millis(1105));
        // Its second is shorter than the world's.
        assert_eq!(zero.elapsed(), Duration::from_secs(1));
        let shown = ahead.spawn(async { time::Instant::now() }).await.unwrap();
        assert_eq!(shown - zero, Duration::from_secs(101));
    });
    report.assert_passed();
}

#[test]
fn names_are_unique() {
    let report = checker("twice").iterations(1).run(|| async {
        node("db").start(std::future::pending::<()>);
        node("db").start(std::future::pending::<()>);
    });
    let text = failed(&report).kind.to_string();
    assert!(text.contains("there is a node `db` already"), "{text}");
    assert!(text.contains("it_engine/nodes.rs"), "{text}");
    let report = checker("none").iterations(1).run(|| async {
        node(" ").start(std::future::pending::<()>);
    });
    let text = failed(&report).kind.to_string();
    assert!(text.contains("a node needs a name"), "{text}");
}

/// The report names nodes, says what was delivered, and what sources looked like at the end.
#[test]
fn reports_tell_of_nodes_and_sources() {
    let report = checker("told").iterations(1).run(|| async {
        let (wake, mut woken) = mpsc::unbounded_channel();
        let post = source(|| Post {
            arrived: AtomicU32::new(0),
            faults: AtomicU32::new(0),
            wake,
        })
        .unwrap();
        action(&post, ActionKind::Deliver, 0).offer(true);
        let db = node("db-7").start(std::future::pending::<()>);
        let task = db.spawn(async move { woken.recv().await });
        task.await.unwrap();
        panic!("now");
    });
    let text = report.text();
    for expected in [
        "db-7",
        "deliver letter 0",
        "network and disks at the end:",
        "1 arrived",
    ] {
        assert!(text.contains(expected), "no `{expected}` in {text}");
    }
}

/// A source with one message that may arrive, again and again, and one fault.
struct Post {
    arrived: AtomicU32,
    faults: AtomicU32,
    wake: mpsc::UnboundedSender<u32>,
}

impl ActionSource for Post {
    fn describe(&self, what: u64) -> Option<String> {
        Some(format!("letter {what}"))
    }

    fn snapshot(&self) -> Vec<String> {
        vec![format!("{} arrived", self.arrived.load(SeqCst))]
    }

    fn apply(&self, what: u64) {
        match what {
            0 => self.arrived.fetch_add(1, SeqCst),
            _ => self.faults.fetch_add(1, SeqCst),
        };
        let _ = self.wake.send(what as u32);
    }
}

fn action(post: &Source<Post>, kind: ActionKind, what: u64) -> SourceAction {
    let resource = Resource::new(ResourceKind::Link);
    post.action(Offer {
        kind,
        what,
        identity: what + 1,
        node: NodeId(0),
        resource: &resource,
        site: Location::caller(),
    })
}

/// The message is reason enough to go on; the fault is not: time moves first, and what waits for
/// nothing but a fault waits for ever.
#[test]
fn messages_arrive_and_faults_may_happen() {
    for strategy in STRATEGIES {
        let report = checker("post")
            .strategy_text(strategy)
            .iterations(100)
            .run(|| async {
                let (wake, mut woken) = mpsc::unbounded_channel();
                let post = source(|| Post {
                    arrived: AtomicU32::new(0),
                    faults: AtomicU32::new(0),
                    wake,
                })
                .unwrap();
                let (message, fault) = (
                    action(&post, ActionKind::Deliver, 0),
                    action(&post, ActionKind::Fault, 1),
                );
                fault.offer(true);
                time::sleep(Duration::from_secs(1)).await;
                fault.offer(false);
                message.offer(true);
                while woken.recv().await != Some(0) {}
                assert_eq!(post.arrived.load(SeqCst), 1);
                message.offer(true);
                message.offer(false);
                yield_now().await;
                assert_eq!(post.arrived.load(SeqCst), 1);
                cct_executor::sometimes!(post.faults.load(SeqCst) == 1, "fault");
            });
        report.assert_passed();
        assert_eq!(
            report.never_reached().count() == 0,
            strategy != "round-robin",
            "{strategy}"
        );

        let report = checker("only faults")
            .strategy_text(strategy)
            .iterations(5)
            .run(|| async {
                let (wake, mut woken) = mpsc::unbounded_channel();
                let post = source(|| Post {
                    arrived: AtomicU32::new(0),
                    faults: AtomicU32::new(0),
                    wake,
                })
                .unwrap();
                action(&post, ActionKind::Fault, 1).offer(true);
                woken.recv().await;
            });
        assert_eq!(failed(&report).kind.class(), "deadlock");
    }
}

/// Same seed, same trace, with nodes that come and go; also for a replay.
#[test]
fn crashes_repeat_themselves() {
    let run = || {
        checker("repeat")
            .determinism_check(true)
            .iterations(200)
            .run(|| async {
                let hits = Arc::new(AtomicU32::new(0));
                for name in ["a", "b", "c"] {
                    let hits = hits.clone();
                    let node = node(name).start(move || {
                        let hits = hits.clone();
                        async move {
                            loop {
                                yield_now().await;
                                time::sleep(Duration::from_millis(3)).await;
                                hits.fetch_add(1, SeqCst);
                            }
                        }
                    });
                    spawn(async move {
                        for _ in 0..2 {
                            time::sleep(Duration::from_millis(u64::from(nondet::choose(5)))).await;
                            node.crash();
                            time::sleep(Duration::from_millis(2)).await;
                            node.restart();
                        }
                    });
                }
                time::sleep(Duration::from_millis(20)).await;
                assert_ne!(hits.load(SeqCst), 13);
            })
    };
    let (first, second) = (run(), run());
    let (first, second) = (failed(&first), failed(&second));
    assert!(first.reproduced);
    assert_eq!(first.token, second.token);
}

/// Other tasks go on without it, unless the node is to end with it.
#[test]
fn a_node_may_end_with_its_main_task() {
    let run = |ends: bool| {
        checker("ends").iterations(20).run(move || async move {
            let beats = Arc::new(AtomicU32::new(0));
            let theirs = beats.clone();
            let builder = if ends {
                node("db").ends_with_main()
            } else {
                node("db")
            };
            let db = builder.start(move || {
                let beats = theirs.clone();
                async move {
                    spawn(async move {
                        loop {
                            time::sleep(Duration::from_millis(10)).await;
                            beats.fetch_add(1, SeqCst);
                        }
                    });
                    time::sleep(Duration::from_millis(15)).await;
                }
            });
            time::sleep(Duration::from_secs(1)).await;
            assert_eq!(db.is_up(), !ends);
            assert_eq!(beats.load(SeqCst) == 1, ends);
            db.restart();
            assert!(db.is_up());
            time::sleep(Duration::from_secs(1)).await;
            assert_eq!(db.is_up(), !ends);
        })
    };
    run(true).assert_passed();
    run(false).assert_passed();
}

#[test]
fn a_node_may_restart_itself() {
    passes_everywhere("itself", 8, || async {
        let (starts, handle) = (
            Arc::new(AtomicU32::new(0)),
            Arc::new(std::sync::OnceLock::new()),
        );
        let (counted, own) = (starts.clone(), handle.clone());
        let itself = node("a").start(move || {
            let (starts, own) = (counted.clone(), own.clone());
            async move {
                time::sleep(Duration::from_millis(1)).await;
                if starts.fetch_add(1, SeqCst) < 2 {
                    let own: &node::Node = own.get().expect("set before time passes");
                    own.restart();
                    unreachable!("it does not go on");
                }
            }
        });
        handle.set(itself.clone()).expect("set once");
        time::sleep(Duration::from_millis(20)).await;
        assert_eq!(starts.load(SeqCst), 3);
        // Once for each that was asked for.
        itself.crash();
        time::sleep(Duration::from_millis(20)).await;
        assert_eq!(starts.load(SeqCst), 3);
    });
}
