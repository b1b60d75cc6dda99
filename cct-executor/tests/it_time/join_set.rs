use crate::checker;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const MS: Duration = Duration::from_millis(1);

/// Counts drops.
struct Guard(Arc<AtomicU32>);

impl Drop for Guard {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

both! {
    async fn tasks_are_joined_in_the_order_in_which_they_end() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        let mut set = JoinSet::new();
        assert!(set.is_empty());
        assert!(set.join_next().await.is_none());
        for ms in [30, 10, 20] {
            set.spawn(async move {
                sleep(MS * ms).await;
                ms
            });
        }
        assert_eq!((set.len(), format!("{set:?}").as_str()), (3, "JoinSet { len: 3 }"));
        // Ended long before anybody asks.
        sleep(MS * 15).await;
        assert_eq!(set.len(), 3);
        for ms in [10, 20, 30] {
            assert_eq!(set.join_next().await.unwrap().unwrap(), ms);
        }
        assert!(set.join_next().await.is_none());
    }

    async fn outputs_of_all_come_in_order_of_ending() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        let tasks = [3, 1, 2].map(|ms| async move {
            sleep(MS * ms).await;
            ms
        });
        let mut set: JoinSet<_> = tasks.into_iter().collect();
        set.extend([async { 0 }]);
        assert_eq!(set.join_all().await, [0, 1, 2, 3]);
    }

    async fn trying_does_not_wait() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        let mut set = JoinSet::new();
        assert!(set.try_join_next().is_none());
        let id = set
            .spawn(async {
                sleep(MS).await;
                7
            })
            .id();
        set.spawn(async {
            sleep(MS * 3).await;
            8
        });
        assert!(set.try_join_next().is_none());
        sleep(MS * 2).await;
        assert_eq!(set.try_join_next_with_id().unwrap().unwrap(), (id, 7));
        assert!(set.try_join_next().is_none());
        assert_eq!(set.len(), 1);
        sleep(MS * 2).await;
        assert_eq!(set.try_join_next().unwrap().unwrap(), 8);
        assert!(set.is_empty());
    }

    async fn ids_come_with_outputs_and_errors() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        let mut set = JoinSet::new();
        let first = set.spawn(async { 1 }).id();
        let panics = set
            .spawn(async {
                sleep(MS).await;
                panic!("of no use")
            })
            .id();
        let aborted = set.spawn(std::future::pending());
        assert_eq!(set.join_next_with_id().await.unwrap().unwrap(), (first, 1));
        let error = set.join_next_with_id().await.unwrap().unwrap_err();
        assert!(error.is_panic() && error.id() == panics);
        aborted.abort();
        let error = set.join_next_with_id().await.unwrap().unwrap_err();
        assert!(error.is_cancelled() && error.id() == aborted.id());
    }

    async fn join_all_passes_a_panic_on() {
        use subject::task::JoinSet;
        let outer = subject::spawn(async {
            let mut set = JoinSet::new();
            set.spawn(async { panic!("passed on") });
            set.spawn(std::future::pending::<()>());
            set.join_all().await
        });
        let payload = outer.await.unwrap_err().into_panic();
        assert_eq!(payload.downcast_ref(), Some(&"passed on"));
    }

    async fn shutdown_aborts_and_waits() {
        use subject::task::{JoinSet, yield_now};
        let dropped = Arc::new(AtomicU32::new(0));
        let mut set = JoinSet::new();
        for _ in 0..3 {
            let guard = Guard(dropped.clone());
            set.spawn(async move {
                let _guard = guard;
                std::future::pending::<()>().await
            });
        }
        yield_now().await;
        set.abort_all();
        assert_eq!(set.len(), 3);
        set.shutdown().await;
        assert_eq!((set.len(), dropped.load(SeqCst)), (0, 3));
        set.spawn(async {});
        assert!(set.join_next().await.unwrap().is_ok());
    }

    async fn a_dropped_set_aborts_and_a_detached_one_does_not() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        for (detach, ended) in [(false, 0), (true, 2)] {
            let dropped = Arc::new(AtomicU32::new(0));
            let finished = Arc::new(AtomicU32::new(0));
            let mut set = JoinSet::new();
            for _ in 0..2 {
                let (guard, finished) = (Guard(dropped.clone()), finished.clone());
                set.spawn(async move {
                    let _guard = guard;
                    sleep(MS * 5).await;
                    finished.fetch_add(1, SeqCst);
                });
            }
            sleep(MS).await;
            if detach {
                set.detach_all();
                assert!(set.is_empty());
            }
            drop(set);
            sleep(MS * 10).await;
            assert_eq!((dropped.load(SeqCst), finished.load(SeqCst)), (2, ended));
        }
    }

    async fn more_tasks_than_budget_are_joined() {
        use subject::task::JoinSet;
        use subject::time::sleep;
        let mut set: JoinSet<_> = (0..300).map(|i| async move { i }).collect();
        sleep(MS).await;
        let mut all = Vec::new();
        while let Some(result) = set.join_next().await {
            all.push(result.unwrap());
        }
        all.sort();
        assert!(all.into_iter().eq(0..300));
    }

    async fn closures_may_block_in_a_set() {
        use subject::runtime::Handle;
        use subject::task::JoinSet;
        let mut set = JoinSet::new();
        set.spawn_blocking(|| 1);
        set.spawn_blocking_on(|| 2, &Handle::current());
        set.spawn_on(async { 3 }, &Handle::current());
        let mut all = set.join_all().await;
        all.sort();
        assert_eq!(all, [1, 2, 3]);
    }

    async fn local_tasks_may_be_in_a_set() {
        use subject::task::{JoinSet, LocalSet};
        use std::rc::Rc;
        let local = LocalSet::new();
        let mut set = JoinSet::new();
        let shared = Rc::new(5);
        let theirs = shared.clone();
        set.spawn_local_on(async move { *theirs }, &local);
        let output = local
            .run_until(async move {
                set.spawn_local(async move { *shared + 1 });
                set.join_all().await
            })
            .await;
        assert_eq!(output.iter().sum::<i32>(), 11);
    }
}

#[test]
fn tasks_of_a_set_end_in_any_order() {
    use cct_executor::task::{JoinSet, yield_now};
    let seen = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let all = seen.clone();
    checker("orders")
        .iterations(300)
        .run(move || {
            let all = all.clone();
            async move {
                let mut set = JoinSet::new();
                for i in 0..3 {
                    set.build_task()
                        .name("member")
                        .spawn(async move {
                            yield_now().await;
                            i
                        })
                        .unwrap();
                }
                let order = set.join_all().await;
                all.lock().unwrap().insert(order);
            }
        })
        .assert_passed();
    assert_eq!(seen.lock().unwrap().len(), 6);
}

#[test]
fn a_panic_that_nobody_joins_fails_the_iteration() {
    use cct_executor::{task::JoinSet, time::sleep};
    let report = checker("unjoined").run(|| async {
        let mut set = JoinSet::new();
        set.spawn(async { panic!("unjoined") });
        sleep(MS).await;
        set.detach_all();
    });
    assert!(report.text().contains("unjoined"), "{}", report.text());
    assert_eq!(report.failure().expect("a failure").kind.class(), "panic");
}

#[test]
fn a_set_that_waits_for_ever_is_a_deadlock() {
    use cct_executor::task::JoinSet;
    let report = checker("stuck").run(|| async {
        let mut set = JoinSet::new();
        set.spawn(std::future::pending::<()>());
        set.join_next().await;
    });
    assert_eq!(
        report.failure().expect("a failure").kind.class(),
        "deadlock"
    );
    assert!(report.text().contains("join"), "{}", report.text());
}
