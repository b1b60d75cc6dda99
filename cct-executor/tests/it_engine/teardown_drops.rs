//! Worlds that end while destructors of user code misbehave, and polls that do not give up.

use crate::{GRANULARITIES, checker, failed, within};
use cct_executor::runtime::Handle;
use cct_executor::task::{
    JoinSet, LocalSet, block_in_place, spawn_blocking, spawn_local, yield_now,
};
use cct_executor::time::{Instant, sleep};
use cct_executor::{nondet, observe, spawn, task};
use cct_sync::{Mutex, Notify, mpsc};
use std::future::{pending, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::SeqCst};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

/// Runs a closure when it is dropped.
struct OnDrop<F: FnMut()>(F);

impl<F: FnMut()> Drop for OnDrop<F> {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Polls once, outside of any task's context.
fn poll_now<F: Future>(future: F) -> Poll<F::Output> {
    pin!(future).poll(&mut Context::from_waker(Waker::noop()))
}

/// What a destructor does.
type Act = fn(&Arc<Mutex<u32>>, &mpsc::Sender<u32>);

/// Destructors that must do no harm, and each must come to its end.
const HARMLESS: [(&str, Act); 20] = [
    ("spawn", |_, _| drop(spawn(async { yield_now().await }))),
    ("spawn and ask", |_, _| {
        let handle = spawn(async { 1 });
        handle.abort();
        let _ = handle.is_finished();
    }),
    ("spawn_blocking", |_, _| drop(spawn_blocking(|| 1))),
    ("spawn with a destructor that spawns", |_, _| {
        let inner = OnDrop(|| drop(spawn(async {})));
        drop(spawn(async move {
            let _inner = inner;
            yield_now().await;
        }));
    }),
    ("try_lock", |mutex, _| {
        if let Ok(mut value) = mutex.try_lock() {
            *value += 1;
        }
    }),
    ("lock once", |mutex, _| drop(poll_now(mutex.lock()))),
    ("try_send", |_, sender| _ = sender.try_send(1)),
    ("send once", |_, sender| _ = poll_now(sender.send(1))),
    ("sleep once", |_, _| {
        _ = poll_now(sleep(Duration::from_millis(5)))
    }),
    ("yield once", |_, _| _ = poll_now(yield_now())),
    ("a caught panic", |_, _| {
        let caught = std::panic::catch_unwind(|| panic!("in a destructor"));
        assert!(caught.is_err());
    }),
    ("a join set", |_, _| {
        let mut set = JoinSet::new();
        set.spawn(async {});
        set.spawn(pending::<()>());
        set.abort_all();
    }),
    ("a local set", |_, _| {
        let set = LocalSet::new();
        drop(set.spawn_local(pending::<()>()));
        let _entered = set.enter();
        drop(spawn_local(async {}));
    }),
    ("observe", |_, _| observe("dropped", 1)),
    ("choose", |_, _| assert!(nondet::choose(3) < 3)),
    ("a point", |_, _| nondet::point()),
    ("rng", |_, _| _ = nondet::rng()),
    ("the clock", |_, _| _ = Instant::now().elapsed()),
    ("the task's id", |_, _| _ = task::id()),
    ("a handle", |_, _| drop(Handle::current().spawn(async {}))),
];

/// Destructors that panic or wait in a closing world: it ends all the same.
const HARMFUL: [(&str, Act); 5] = [
    ("panic", |_, _| panic!("a destructor panics")),
    ("panic with a payload that panics", |_, _| {
        std::panic::panic_any(OnDrop(|| panic!("the payload panics")))
    }),
    ("assert on what another task does", |mutex, _| {
        assert!(poll_now(mutex.lock()).is_ready(), "it is locked");
    }),
    ("blocking_lock", |mutex, _| {
        block_in_place(|| drop(mutex.blocking_lock()));
    }),
    ("block_on", |_, _| {
        block_in_place(|| Handle::current().block_on(pending::<()>()));
    }),
];

/// Tasks in every state a task can be in when a world ends, each with the destructor.
async fn scenario(act: Act, fails: bool, begun: Arc<AtomicU64>, ended: Arc<AtomicU64>) {
    let mutex = Arc::new(Mutex::new(0));
    let (sender, mut receiver) = mpsc::channel(1);
    let on_drop = || {
        let (mutex, sender) = (mutex.clone(), sender.clone());
        let (begun, ended) = (begun.clone(), ended.clone());
        OnDrop(move || {
            begun.fetch_add(1, SeqCst);
            act(&mutex, &sender);
            ended.fetch_add(1, SeqCst);
        })
    };
    let value = on_drop();
    spawn(async move {
        let _value = value;
        pending::<()>().await;
    });
    let (value, theirs) = (on_drop(), mutex.clone());
    spawn(async move {
        let _value = value;
        loop {
            *theirs.lock().await += 1;
            yield_now().await;
        }
    });
    let (value, theirs) = (on_drop(), mutex.clone());
    spawn_blocking(move || {
        let _value = value;
        loop {
            *theirs.blocking_lock() += 1;
            Handle::current().block_on(yield_now());
        }
    });
    let value = on_drop();
    let aborted = spawn(async move {
        let _value = value;
        pending::<()>().await;
    });
    for _ in 0..nondet::choose(6) {
        let _ = receiver.try_recv();
        yield_now().await;
    }
    let _mine = on_drop();
    if fails {
        let _guard = mutex.lock().await;
        cct_executor::always!(false, "as agreed");
    }
    std::mem::forget(_mine);
    aborted.abort();
}

fn run(name: &'static str, act: Act, harmless: bool) {
    for granularity in GRANULARITIES {
        let context = format!("{name} {granularity:?}");
        for fails in [false, true] {
            let (begun, ended) = (Arc::<AtomicU64>::default(), Arc::<AtomicU64>::default());
            let counters = (begun.clone(), ended.clone());
            let runs = if fails { 12 } else { 1 };
            for seed in 0..runs {
                let counters = counters.clone();
                let report = within(60, move || {
                    checker(name)
                        .granularity(granularity)
                        .iterations(100)
                        // To look for less takes many more worlds.
                        .shrink(seed == 0)
                        .seed(cct_executor::Seed(seed))
                        .run(move || scenario(act, fails, counters.0.clone(), counters.1.clone()))
                });
                if fails {
                    let failure = failed(&report);
                    assert!(failure.reproduced, "{context}: {}", report.text());
                    assert!(
                        failure.kind.to_string().contains("as agreed"),
                        "{}",
                        report.text()
                    );
                } else {
                    assert!(report.passed(), "{context}: {}", report.text());
                    assert_eq!(report.iterations(), 100);
                }
            }
            let (begun, ended) = (begun.load(SeqCst), ended.load(SeqCst));
            assert!(begun > 0, "{context}");
            if harmless {
                assert_eq!(
                    begun, ended,
                    "{context}: a destructor did not reach its end"
                );
            }
        }
    }
}

#[test]
fn destructors_that_use_the_world_do_no_harm() {
    for (name, act) in HARMLESS {
        run(name, act, true);
    }
}

#[test]
fn destructors_that_panic_or_wait_while_the_world_closes_do_no_harm() {
    for (name, act) in HARMFUL {
        for granularity in GRANULARITIES {
            let report = within(60, move || {
                checker(name)
                    .granularity(granularity)
                    .iterations(100)
                    .run(move || async move {
                        let mutex = Arc::new(Mutex::new(0));
                        let (sender, _receiver) = mpsc::channel(1);
                        for _ in 0..3 {
                            let (mutex, sender) = (mutex.clone(), sender.clone());
                            spawn(async move {
                                let theirs = mutex.clone();
                                let _value = OnDrop(move || act(&mutex, &sender));
                                loop {
                                    *theirs.lock().await += 1;
                                    yield_now().await;
                                }
                            });
                        }
                        for _ in 0..nondet::choose(6) {
                            yield_now().await;
                        }
                        cct_executor::sometimes!("ends");
                    })
            });
            assert!(report.passed(), "{name} {granularity:?}: {}", report.text());
            assert_eq!(report.iterations(), 100);
            assert_eq!(report.never_reached().count(), 0);
        }
    }
}

#[test]
fn a_destructor_that_panics_in_a_running_world_is_the_failure() {
    let report = checker("drop panics").iterations(1).run(|| async {
        let task = spawn(async {
            let _value = OnDrop(|| panic!("in the destructor"));
            pending::<()>().await;
        });
        yield_now().await;
        task.abort();
        yield_now().await;
        drop(task);
        sleep(Duration::from_millis(1)).await;
    });
    assert!(
        failed(&report)
            .kind
            .to_string()
            .contains("in the destructor"),
        "{}",
        report.text()
    );
}

#[test]
fn a_broken_invariant_in_a_destructor_does_not_abort_while_a_blocked_closure_is_unwound() {
    let report = within(30, || {
        checker("always in drop").iterations(50).run(|| async {
            let gate = Arc::new(Notify::new());
            let theirs = gate.clone();
            spawn_blocking(move || {
                let _value = OnDrop(|| cct_executor::always!(false, "only because it is over"));
                Handle::current().block_on(theirs.notified());
            });
            for _ in 0..4 {
                yield_now().await;
            }
        })
    });
    assert!(report.passed(), "{}", report.text());
}

/// Spins in a way that only a running world ends.
async fn spins(way: u32, mutex: Arc<Mutex<u32>>, sender: mpsc::Sender<u32>) {
    match way {
        0 => while poll_now(mutex.lock()).is_pending() {},
        1 => {
            // The point comes first, and only a running world lets the value pass.
            let (ours, mut receiver) = mpsc::channel(1);
            let _ = poll_now(ours.send(1));
            while receiver.try_recv().is_err() {}
        }
        2 => {
            let taken = poll_now(mutex.lock()).is_ready();
            while !taken && mutex.try_lock().is_err() {}
        }
        3 => {
            let _ = spawn_blocking(move || {
                while poll_now(mutex.lock()).is_pending() {}
                while sender.blocking_send(1).is_ok() {}
            })
            .await;
        }
        _ => loop {
            let _ = poll_now(poll_fn(|cx| pin!(mutex.lock()).poll(cx).map(drop)));
            if nondet::choose(2) == 0 {
                yield_now().await;
            }
        },
    }
}

#[test]
fn polls_that_spin_are_cut_when_the_world_closes() {
    for granularity in GRANULARITIES {
        for way in 0..5 {
            let context = format!("way {way} {granularity:?}");
            let report = within(60, move || {
                checker("spins")
                    .granularity(granularity)
                    .iterations(60)
                    .max_steps(300)
                    .run(move || async move {
                        let mutex = Arc::new(Mutex::new(0));
                        let (sender, _receiver) = mpsc::channel(1);
                        for _ in 0..3 {
                            spawn(spins(way, mutex.clone(), sender.clone()));
                        }
                        for _ in 0..nondet::choose(6) {
                            yield_now().await;
                        }
                    })
            });
            assert!(report.passed(), "{context}: {}", report.text());
            assert_eq!(report.iterations(), 60, "{context}");
        }
    }
}

#[test]
fn a_spinning_poll_that_holds_what_others_try_to_take_is_unwound() {
    let report = within(60, || {
        checker("spins on what is held")
            .iterations(100)
            .run(|| async {
                let mutex = Arc::new(Mutex::new(0));
                let theirs = mutex.clone();
                let holder = spawn(async move {
                    let _guard = theirs.lock().await;
                    nondet::point();
                    pending::<()>().await;
                });
                spawn(async move {
                    nondet::point();
                    // Ends in every running world: the point lets the holder go on and be aborted.
                    while mutex.try_lock().is_err() {
                        nondet::point();
                    }
                });
                for _ in 0..nondet::choose(4) {
                    nondet::point();
                }
                holder.abort();
            })
    });
    assert!(report.passed(), "{}", report.text());
    assert_eq!(report.iterations(), 100);
}

#[test]
fn ten_thousand_guards_dropped_at_the_end_are_dropped_in_full() {
    let dropped = Arc::new(AtomicU64::new(0));
    let theirs = dropped.clone();
    let report = within(60, move || {
        checker("many guards")
            .granularity(cct_executor::Granularity::Sync)
            .iterations(2)
            .run(move || {
                let dropped = theirs.clone();
                async move {
                    for _ in 0..12_000 {
                        let dropped = dropped.clone();
                        let (sender, _) = mpsc::unbounded_channel::<u32>();
                        let value = OnDrop(move || {
                            let _ = sender.send(1);
                            dropped.fetch_add(1, SeqCst);
                        });
                        drop(task::Builder::new().spawn(async move {
                            let _value = value;
                            pending::<()>().await;
                        }));
                    }
                }
            })
    });
    assert!(report.passed(), "{}", report.text());
    assert_eq!(dropped.load(SeqCst), 24_000);
}
