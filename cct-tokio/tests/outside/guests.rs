//! Threads of `std` that block on what is the test's, or do what they are asked for.

use super::rt;
use rt::runtime::{Handle, Runtime};
use rt::sync::{mpsc, oneshot};
use std::cell::Cell;
use std::future::Future;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::channel;
use std::thread::{self, JoinHandle, ThreadId};
use std::time::{Duration, Instant};

thread_local! {
    static NAME: Cell<u32> = const { Cell::new(0) };
}

/// A thread of this name that blocks on the test's runtime.
fn thread<F>(name: u32, future: F) -> JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    let handle = Handle::current();
    thread::spawn(move || {
        NAME.set(name);
        handle.block_on(future)
    })
}

/// Tells on which thread it was dropped.
struct Dropped(oneshot::Sender<ThreadId>);

impl Drop for Dropped {
    fn drop(&mut self) {
        let (tell, _) = oneshot::channel();
        let tell = std::mem::replace(&mut self.0, tell);
        let _ = tell.send(thread::current().id());
    }
}

/// What tells threads apart is each one's own, whoever went on meanwhile.
pub(crate) async fn know_who_they_are() {
    NAME.set(100);
    let threads = (1..=4).map(|name| {
        let rounds = async move {
            let id = thread::current().id();
            for round in 0..10 {
                rt::time::sleep(Duration::from_millis(round % 3)).await;
                let spawned = rt::spawn(async move { round });
                assert_eq!(spawned.await.unwrap(), round);
                assert_eq!((NAME.get(), thread::current().id()), (name, id));
            }
            name
        };
        thread(name, rounds)
    });
    let threads: Vec<_> = threads.collect();
    while !threads.iter().all(JoinHandle::is_finished) {
        rt::time::sleep(Duration::from_millis(1)).await;
        assert_eq!(NAME.get(), 100);
    }
    let names: Vec<_> = threads.into_iter().map(|it| it.join().unwrap()).collect();
    assert_eq!(names, [1, 2, 3, 4]);
}

pub(crate) async fn drop_there() {
    let (tell, told) = oneshot::channel();
    let dropped = Dropped(tell);
    let thread = thread(1, async move {
        let _dropped = dropped;
        rt::task::yield_now().await;
    });
    let id = thread.thread().id();
    assert_eq!(told.await.unwrap(), id);
    thread.join().unwrap();
}

pub(crate) async fn panic_alone() {
    let thread = thread(1, async {
        rt::task::yield_now().await;
        panic!("on purpose");
    });
    while !thread.is_finished() {
        rt::time::sleep(Duration::from_millis(1)).await;
    }
    let payload = thread.join().map(|()| "nothing").unwrap_err();
    assert_eq!(payload.downcast_ref::<&str>(), Some(&"on purpose"));
    assert_eq!(rt::spawn(async { 5 }).await.unwrap(), 5);
}

/// Time passes for a thread as it does for what it blocks on.
pub(crate) async fn have_one_time() {
    let handle = Handle::current();
    let (tell, told) = oneshot::channel();
    let thread = thread::spawn(move || {
        let begin = Instant::now();
        thread::sleep(Duration::from_millis(100));
        let inside = handle.block_on(async {
            let now = Instant::now();
            rt::time::sleep(Duration::from_millis(300)).await;
            now
        });
        let _ = tell.send((inside - begin, begin.elapsed()));
    });
    let (inside, outside) = told.await.unwrap();
    thread.join().unwrap();
    assert!(inside >= Duration::from_millis(100), "{inside:?}");
    assert!(outside >= Duration::from_millis(400), "{outside:?}");
}

/// Two threads have a runtime each, and each blocks on the other's.
pub(crate) async fn block_on_each_others() {
    let ((to_one, of_two), (to_two, of_one)) = (channel(), channel());
    let (send, mut receive) = mpsc::channel(1);
    let runtime = || {
        rt::runtime::Builder::new_multi_thread()
            .worker_threads(1)
            .enable_all()
            .build()
            .unwrap()
    };
    let (over, is_over) = oneshot::channel();
    let one = thread::spawn(move || {
        let own = runtime();
        to_two.send(own.handle().clone()).unwrap();
        let others: Handle = of_two.recv().unwrap();
        let sum = others.block_on(async move {
            let mut sum = 0;
            while let Some(number) = receive.recv().await {
                sum += number;
            }
            sum
        });
        let _ = over.send(sum);
        own
    });
    let two = thread::spawn(move || {
        let own = runtime();
        to_one.send(own.handle().clone()).unwrap();
        let others: Handle = of_one.recv().unwrap();
        others.block_on(async move {
            for number in 0..5 {
                send.send(number).await.unwrap();
                rt::time::sleep(Duration::from_millis(1)).await;
            }
        });
        own
    });
    assert_eq!(is_over.await.unwrap(), 10);
    // Dropped where blocking is allowed.
    let runtimes = (one.join().unwrap(), two.join().unwrap());
    rt::task::spawn_blocking(|| drop(runtimes)).await.unwrap();
}

/// A thread that had nothing to do for a while is waited for when it is asked.
pub(crate) async fn answer_after_a_while() {
    let (ask, asked) = channel::<oneshot::Sender<()>>();
    let thread = thread::spawn(move || {
        while let Ok(back) = asked.recv() {
            let _ = back.send(());
        }
    });
    for _ in 0..2 {
        let (back, answer) = oneshot::channel();
        ask.send(back).unwrap();
        let answer = rt::time::timeout(Duration::from_secs(30), answer);
        answer.await.unwrap().unwrap();
        rt::time::sleep(Duration::from_millis(1_500)).await;
    }
    drop(ask);
    thread.join().unwrap();
}

/// Whom a thread tells something is there until it has: elsewhere its panic would end the process, as in some pools.
pub(crate) async fn end_the_process_if_unheard() {
    let (tell, mut told) = rt::sync::mpsc::unbounded_channel();
    let threads = (0..4).map(|number| {
        let tell = tell.clone();
        thread::spawn(move || {
            if tell.send(number).is_err() {
                std::process::abort();
            }
        })
    });
    let threads: Vec<_> = threads.collect();
    drop(tell);
    let mut sum = 0;
    while let Some(number) = told.recv().await {
        sum += number;
    }
    assert_eq!(sum, 6);
    for thread in threads {
        thread.join().unwrap();
    }
}

/// A thread of a pool in which a panic ends the process, as in rayon's.
fn pooled(run: impl FnOnce() + Send + 'static) -> JoinHandle<()> {
    thread::spawn(|| {
        if catch_unwind(AssertUnwindSafe(run)).is_err() {
            std::process::abort();
        }
    })
}

/// Threads wait for room, for answers and for the runtime in such a pool: what they find where they have no part in it is
/// nothing that the process should end by.
pub(crate) async fn wait_in_pools() {
    let (tell, mut told) = rt::sync::mpsc::channel(1);
    let talks = pooled(move || {
        for number in 0..5 {
            let (back, answer) = oneshot::channel();
            tell.blocking_send((number, back)).unwrap();
            assert_eq!(answer.blocking_recv(), Ok(number));
        }
    });
    let handle = Handle::current();
    let blocks = pooled(move || {
        let spawned = handle.block_on(async { rt::spawn(async { 4 }).await });
        assert_eq!(spawned.unwrap(), 4);
    });
    while let Some((number, back)) = told.recv().await {
        back.send(number).unwrap();
    }
    talks.join().unwrap();
    rt::task::spawn_blocking(|| blocks.join().unwrap())
        .await
        .unwrap();
}

/// Sets this when it was dropped, after a while.
struct DroppedLate(Arc<AtomicBool>);

impl Drop for DroppedLate {
    fn drop(&mut self) {
        thread::sleep(Duration::from_millis(20));
        self.0.store(true, Relaxed);
    }
}

/// A thread that drops a runtime waits for its closures, and for what its tasks drop.
pub(crate) async fn end_a_runtime() {
    for limit in [None, Some(Duration::from_secs(10))] {
        let runtime = Runtime::new().unwrap();
        let [closed, dropped] = [(); 2].map(|()| Arc::new(AtomicBool::new(false)));
        let (tell, begun) = oneshot::channel();
        let late = DroppedLate(closed.clone());
        runtime.spawn_blocking(move || {
            tell.send(()).unwrap();
            drop(late);
        });
        let (begins, has_begun) = oneshot::channel();
        let late = DroppedLate(dropped.clone());
        runtime.spawn(async move {
            let _late = late;
            begins.send(()).unwrap();
            std::future::pending::<()>().await;
        });
        begun.await.unwrap();
        has_begun.await.unwrap();
        let ends = thread::spawn(move || {
            match limit {
                None => drop(runtime),
                Some(limit) => runtime.shutdown_timeout(limit),
            }
            (closed.load(Relaxed), dropped.load(Relaxed))
        });
        assert_eq!(ends.join().unwrap(), (true, true));
    }
}

/// What a thread drives runs on it: the tasks of a set, and of a runtime of one thread.
pub(crate) async fn drive_their_tasks() {
    fn own(name: u32) -> (u32, ThreadId) {
        assert_eq!(NAME.get(), name);
        (NAME.get(), thread::current().id())
    }
    /// Waits in between, and has another one do so.
    async fn local(name: u32, rounds: u32) -> (u32, ThreadId) {
        let other = rt::task::spawn_local(async move {
            rt::time::sleep(Duration::from_millis(1)).await;
            own(name)
        });
        for _ in 0..rounds {
            rt::task::yield_now().await;
            own(name);
        }
        // In the middle of a poll.
        thread::sleep(Duration::from_millis(1));
        let other = other.await.unwrap();
        assert_eq!(other, own(name));
        other
    }
    let handle = Handle::current();
    let sets = (1..=3).map(|name| {
        let handle = handle.clone();
        thread::spawn(move || {
            NAME.set(name);
            let set = rt::task::LocalSet::new();
            let done =
                set.run_until(async move { rt::task::spawn_local(local(name, 5)).await.unwrap() });
            assert_eq!(handle.block_on(done), own(name));
        })
    });
    let sets: Vec<_> = sets.collect();
    let one = rt::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let driven = thread::spawn(move || {
        NAME.set(4);
        let there = one.block_on(async { rt::spawn(async { own(4) }).await.unwrap() });
        assert_eq!(there, own(4));
        drop(one);
    });
    let in_closure = rt::task::spawn_blocking(move || {
        NAME.set(5);
        let set = rt::task::LocalSet::new();
        let done = set.run_until(async { rt::task::spawn_local(local(5, 3)).await.unwrap() });
        assert_eq!(Handle::current().block_on(done), own(5));
    });
    in_closure.await.unwrap();
    while !(driven.is_finished() && sets.iter().all(JoinHandle::is_finished)) {
        rt::time::sleep(Duration::from_millis(1)).await;
    }
    driven.join().unwrap();
    sets.into_iter().for_each(|set| set.join().unwrap());
}

/// What is spawned onto a set begins when the set is driven, also where there was no runtime at first.
pub(crate) async fn have_sets_before_runtimes() {
    fn build() -> Runtime {
        let mut builder = rt::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap()
    }
    let here = build();
    for runtime in [Some(here.handle().clone()), None] {
        let (ask, mut asked) = mpsc::unbounded_channel::<(u32, oneshot::Sender<u32>)>();
        let thread = thread::spawn(move || {
            let set = rt::task::LocalSet::new();
            let sum = set.spawn_local(async move {
                let mut sum = 0;
                while let Some((number, answer)) = asked.recv().await {
                    sum += number;
                    rt::task::spawn_local(async move { answer.send(number + 1).unwrap() });
                }
                sum
            });
            let own = runtime.is_none().then(build);
            let handle = runtime.or_else(|| own.as_ref().map(|own| own.handle().clone()));
            handle.unwrap().block_on(async move {
                set.await;
                sum.await.unwrap()
            })
        });
        for number in 0..3 {
            let (answer, answered) = oneshot::channel();
            ask.send((number, answer)).unwrap();
            assert_eq!(answered.await, Ok(number + 1));
        }
        drop(ask);
        assert_eq!(thread.join().unwrap(), 3);
    }
    thread::spawn(move || drop(here)).join().unwrap();
    let never = thread::spawn(|| {
        let set = rt::task::LocalSet::new();
        let alive = Arc::new(());
        let held = alive.clone();
        let never = set.spawn_local(async move { drop(held) });
        assert_eq!(Arc::strong_count(&alive), 2);
        drop(set);
        assert_eq!(Arc::strong_count(&alive), 1);
        build().block_on(never).unwrap_err().is_cancelled()
    });
    assert!(never.join().unwrap());
}
