//! Where tasks run in the order in which they were woken. Those that call `yield_now` are woken at
//! the end of the round, the last of them first; tokio does not promise it, but tests come to rely
//! on what they see.

use super::rt::{spawn, sync, task as tasks, time};
use cct_tests::{Log, note};
use std::future::poll_fn;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

/// Goes to the end of the queue.
async fn step_aside() {
    let mut stepped = false;
    poll_fn(|cx| {
        if stepped {
            return Poll::Ready(());
        }
        stepped = true;
        cx.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

/// Waits for all, in order.
async fn finish(joins: Vec<tasks::JoinHandle<()>>) {
    for join in joins {
        join.await.unwrap();
    }
}

pub(crate) async fn tasks_start_in_spawn_order(log: Log) {
    let joins = (0..5)
        .map(|task| {
            let log = log.clone();
            spawn(async move { note!(log, "{task}") })
        })
        .collect();
    finish(joins).await;
}

pub(crate) async fn self_wakes_rotate(log: Log) {
    let joins = (0..3)
        .map(|task| {
            let log = log.clone();
            spawn(async move {
                for round in 0..3 {
                    note!(log, "{task} round {round}");
                    step_aside().await;
                }
            })
        })
        .collect();
    finish(joins).await;
}

pub(crate) async fn children_run_after_their_elders(log: Log) {
    let joins = (0..2)
        .map(|task| {
            let log = log.clone();
            spawn(async move {
                note!(log, "parent {task}");
                let child = log.clone();
                spawn(async move { note!(child, "child of {task}") });
            })
        })
        .collect();
    finish(joins).await;
    spawn(async {}).await.unwrap();
}

pub(crate) async fn an_aborted_newborn_never_runs(log: Log) {
    let inner = log.clone();
    let join = spawn(async move { note!(inner, "ran") });
    join.abort();
    note!(log, "{} then", join.is_finished());
    note!(log, "{}", join.await.unwrap_err().is_cancelled());
}

pub(crate) async fn notify_waiters_wakes_in_order(log: Log) {
    let notify = Arc::new(sync::Notify::new());
    let mut joins: Vec<_> = (0..4)
        .map(|task| {
            let (log, notify) = (log.clone(), notify.clone());
            spawn(async move {
                notify.notified().await;
                note!(log, "{task}");
            })
        })
        .collect();
    joins.push(spawn(async move { notify.notify_waiters() }));
    finish(joins).await;
}

pub(crate) async fn a_mutex_goes_round_in_order(log: Log) {
    let mutex = Arc::new(sync::Mutex::new(0));
    let gate = Arc::new(sync::Semaphore::new(0));
    let mut joins: Vec<_> = (0..3)
        .map(|task| {
            let (log, mutex, gate) = (log.clone(), mutex.clone(), gate.clone());
            spawn(async move {
                for round in 0..2 {
                    let mut guard = mutex.lock().await;
                    *guard += 1;
                    let _permit = gate.acquire().await.unwrap();
                    note!(log, "{task} round {round} count {guard}");
                }
            })
        })
        .collect();
    joins.push(spawn(async move { gate.add_permits(1) }));
    finish(joins).await;
}

pub(crate) async fn a_full_channel_alternates(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(1);
    let sender = log.clone();
    let sending = spawn(async move {
        for value in 0..4 {
            tx.send(value).await.unwrap();
            note!(sender, "sent {value}");
        }
    });
    let receiver = log.clone();
    let receiving = spawn(async move {
        while let Some(value) = rx.recv().await {
            note!(receiver, "received {value}");
        }
    });
    finish(vec![sending, receiving]).await;
}

pub(crate) async fn broadcast_wakes_in_order(log: Log) {
    let (tx, _) = sync::broadcast::channel(4);
    let mut joins: Vec<_> = (0..3)
        .map(|task| {
            let (log, mut rx) = (log.clone(), tx.subscribe());
            spawn(async move {
                while let Ok(value) = rx.recv().await {
                    note!(log, "{task} heard {value}");
                }
            })
        })
        .collect();
    joins.push(spawn(async move {
        tx.send('a').unwrap();
        tx.send('b').unwrap();
    }));
    finish(joins).await;
}

pub(crate) async fn equal_deadlines_fire_in_order(log: Log) {
    let joins = (0..6)
        .map(|task| {
            let log = log.clone();
            spawn(async move {
                time::sleep(Duration::from_millis(7)).await;
                note!(log, "{task}");
            })
        })
        .collect();
    finish(joins).await;
}

pub(crate) async fn a_ready_operation_does_not_yield(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(8);
    let joins = (0..2)
        .map(|task| {
            let (log, tx) = (log.clone(), tx.clone());
            spawn(async move {
                for _ in 0..3 {
                    tx.send(task).await.unwrap();
                }
                note!(log, "{task} done");
            })
        })
        .collect();
    finish(joins).await;
    drop(tx);
    let mut order = Vec::new();
    while let Some(task) = rx.recv().await {
        order.push(task);
    }
    note!(log, "{order:?}");
}

pub(crate) async fn join_handles_report_in_order(log: Log) {
    let mut set = tasks::JoinSet::new();
    for task in 0..5 {
        set.spawn(async move {
            for _ in 0..task % 3 {
                step_aside().await;
            }
            task
        });
    }
    while let Some(task) = set.join_next().await {
        note!(log, "{}", task.unwrap());
    }
}

/// Spawns a task that spawns the next, and so on.
fn chain(log: &Log, left: u32) {
    if left > 0 {
        let log = log.clone();
        drop(spawn(async move {
            note!(log, "{left} left");
            chain(&log, left - 1);
        }));
    }
}

pub(crate) async fn a_yield_of_the_root_lets_everybody_run(log: Log) {
    chain(&log, 3);
    tasks::yield_now().await;
    note!(log, "one yield later");
    let (tx, rx) = sync::oneshot::channel();
    let theirs = log.clone();
    let waiting = spawn(async move { note!(theirs, "told {:?}", rx.await) });
    tasks::yield_now().await;
    tx.send(7).unwrap();
    tasks::yield_now().await;
    note!(log, "told already {}", waiting.is_finished());
}

pub(crate) async fn the_root_waits_for_the_end_of_the_round(log: Log) {
    let (tx, rx) = sync::oneshot::channel();
    let theirs = log.clone();
    drop(spawn(async move {
        note!(theirs, "wakes the root");
        tx.send(()).unwrap();
        chain(&theirs, 2);
    }));
    let theirs = log.clone();
    drop(spawn(async move {
        for round in 0..2 {
            note!(theirs, "round {round}");
            step_aside().await;
        }
    }));
    rx.await.unwrap();
    note!(log, "the root");
}

pub(crate) async fn a_round_has_an_end(log: Log) {
    let stop = Arc::new(std::sync::atomic::AtomicBool::new(false));
    let theirs = stop.clone();
    let busy = spawn(async move {
        while !theirs.load(std::sync::atomic::Ordering::SeqCst) {
            step_aside().await;
        }
    });
    for _ in 0..3 {
        tasks::yield_now().await;
    }
    stop.store(true, std::sync::atomic::Ordering::SeqCst);
    busy.await.unwrap();
    note!(log, "the root had its turn");
}

pub(crate) async fn who_yields_comes_after_who_became_ready(log: Log) {
    let (mine, theirs) = (log.clone(), log.clone());
    let first = spawn(async move {
        note!(mine, "yields");
        tasks::yield_now().await;
        note!(mine, "comes back");
    });
    let second = spawn(async move {
        note!(theirs, "spawns");
        chain(&theirs, 2);
    });
    finish(vec![first, second]).await;
}

pub(crate) async fn those_who_yield_come_back_in_reverse(log: Log) {
    let joins = (0..4)
        .map(|task| {
            let log = log.clone();
            spawn(async move {
                for round in 0..3 {
                    note!(log, "{task} round {round}");
                    tasks::yield_now().await;
                }
            })
        })
        .collect();
    finish(joins).await;
}

/// What a yield comes before in the same poll changes nothing.
pub(crate) async fn a_yield_under_a_time_limit_is_one(log: Log) {
    let joins = (0..3)
        .map(|task| {
            let log = log.clone();
            spawn(async move {
                let limit = Duration::from_millis(5 + task);
                time::timeout(limit, tasks::yield_now()).await.unwrap();
                note!(log, "{task}");
            })
        })
        .collect();
    finish(joins).await;
}

/// The root does nothing meanwhile; there is one task, then two.
pub(crate) async fn a_round_begins_with_the_only_task(log: Log) {
    let inner = log.clone();
    let only = spawn(async move {
        let log = inner;
        let other = log.clone();
        let child = spawn(async move {
            tasks::yield_now().await;
            note!(other, "child");
        });
        for round in 0..3 {
            tasks::yield_now().await;
            note!(log, "{round}");
        }
        child.await.unwrap();
    });
    time::sleep(Duration::from_millis(1)).await;
    only.await.unwrap();
}

pub(crate) async fn who_ran_last_keeps_the_place_of_its_timer(log: Log) {
    let (first, second) = (log.clone(), log.clone());
    let limit = Duration::from_millis(5);
    let busy = async {
        tasks::yield_now().await;
        std::future::pending::<()>().await;
    };
    let joins = vec![
        spawn(async move { note!(first, "first {:?}", time::timeout(limit, busy).await) }),
        spawn(async move {
            time::sleep(limit).await;
            note!(second, "second");
        }),
    ];
    finish(joins).await;
}

/// Nothing but the chain of one task after the other is there, until it branches.
pub(crate) async fn a_child_comes_before_who_waits_for_its_parent(log: Log) {
    let (inner, outer) = (log.clone(), log.clone());
    let grandparent = spawn(async move {
        let parent = spawn(async move {
            spawn(async move { note!(inner, "child") });
        });
        parent.await.unwrap();
        note!(outer, "joined");
    });
    time::sleep(Duration::from_millis(1)).await;
    grandparent.await.unwrap();
}
