//! Wakers of tasks, and wakers that do things.

use super::rt::{spawn, sync, task as tasks};
use cct_tests::tools::WakeCount;
use cct_tests::{Log, note};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

pub(crate) async fn a_waker_recognises_itself(log: Log) {
    let join = spawn(poll_fn(|cx| {
        let clone = cx.waker().clone();
        Poll::Ready((clone.will_wake(cx.waker()), clone.clone().will_wake(&clone)))
    }));
    note!(log, "{:?}", join.await.unwrap());
    let mut first: Option<Waker> = None;
    let join = spawn(poll_fn(move |cx| match &first {
        Some(waker) => Poll::Ready(waker.will_wake(cx.waker())),
        None => {
            first = Some(cx.waker().clone());
            cx.waker().wake_by_ref();
            Poll::Pending
        }
    }));
    note!(log, "{}", join.await.unwrap());
}

/// A task that counts its polls, keeps its waker in the open, and ends when told.
struct Probe {
    polls: AtomicUsize,
    waker: Mutex<Option<Waker>>,
    over: sync::Notify,
}

impl Probe {
    fn new() -> Arc<Probe> {
        Arc::new(Probe {
            polls: AtomicUsize::new(0),
            waker: Mutex::new(None),
            over: sync::Notify::new(),
        })
    }

    async fn run(self: Arc<Self>) {
        let mut over = pin!(self.over.notified());
        poll_fn(|cx| {
            *self.waker.lock().unwrap() = Some(cx.waker().clone());
            self.polls.fetch_add(1, Ordering::SeqCst);
            over.as_mut().poll(cx)
        })
        .await;
    }

    async fn polled(&self, at_least: usize) -> Waker {
        while self.polls.load(Ordering::SeqCst) < at_least {
            tasks::yield_now().await;
        }
        self.waker.lock().unwrap().clone().unwrap()
    }
}

pub(crate) async fn a_wake_from_outside_causes_one_poll(_: Log) {
    let probe = Probe::new();
    let join = spawn(probe.clone().run());
    for count in 1..4 {
        probe.polled(count).await.wake();
    }
    probe.polled(4).await;
    for _ in 0..5 {
        tasks::yield_now().await;
    }
    assert_eq!(probe.polls.load(Ordering::SeqCst), 4);
    probe.over.notify_one();
    join.await.unwrap();
    let polls = probe.polls.load(Ordering::SeqCst);
    assert!(
        (4..=5).contains(&polls),
        "{polls} polls; the fourth may still have been under way"
    );
}

pub(crate) async fn a_waker_outlives_its_task(log: Log) {
    let probe = Probe::new();
    let join = spawn(probe.clone().run());
    let waker = probe.polled(1).await;
    probe.over.notify_one();
    join.await.unwrap();
    waker.wake_by_ref();
    let also = waker.clone();
    waker.wake();
    spawn(async move { also.wake() }).await.unwrap();
    note!(log, "{}", probe.polls.load(Ordering::SeqCst) <= 2);
}

pub(crate) async fn a_wake_after_abort_is_ignored(log: Log) {
    let probe = Probe::new();
    let join = spawn(probe.clone().run());
    let waker = probe.polled(1).await;
    join.abort();
    waker.wake_by_ref();
    note!(log, "{}", join.await.unwrap_err().is_cancelled());
    waker.wake();
}

pub(crate) async fn a_blocking_thread_may_wake(_: Log) {
    let probe = Probe::new();
    let join = spawn(probe.clone().run());
    let waker = probe.polled(1).await;
    tasks::spawn_blocking(move || waker.wake()).await.unwrap();
    probe.polled(2).await;
    probe.over.notify_one();
    join.await.unwrap();
    let polls = probe.polls.load(Ordering::SeqCst);
    assert!(
        (2..=3).contains(&polls),
        "{polls} polls; the second may still have been under way"
    );
}

pub(crate) async fn wakes_during_a_poll_cause_one_more(log: Log) {
    let mut polls = 0;
    let join = spawn(poll_fn(move |cx| {
        polls += 1;
        if polls > 3 {
            return Poll::Ready(polls);
        }
        cx.waker().wake_by_ref();
        let clone = cx.waker().clone();
        clone.wake();
        Poll::Pending
    }));
    note!(log, "{}", join.await.unwrap());
}

/// A waker that runs a closure whenever it is called.
struct Reacting<F>(F);

impl<F: Fn() + Send + Sync + 'static> Wake for Reacting<F> {
    fn wake(self: Arc<Self>) {
        (self.0)();
    }
}

fn reacting(react: impl Fn() + Send + Sync + 'static) -> Waker {
    Waker::from(Arc::new(Reacting(react)))
}

pub(crate) async fn wakers_may_use_what_woke_them(log: Log) {
    let semaphore = Arc::new(sync::Semaphore::new(0));
    let inner = semaphore.clone();
    let waker = reacting(move || drop(inner.try_acquire()));
    let mut acquire = Box::pin(semaphore.acquire());
    note!(
        log,
        "{}",
        acquire
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    semaphore.add_permits(2);
    note!(log, "{}", semaphore.available_permits());

    let mutex = Arc::new(sync::Mutex::new(0));
    let guard = mutex.clone().try_lock_owned().unwrap();
    let inner = mutex.clone();
    let waker = reacting(move || assert!(inner.try_lock().is_err()));
    let mut lock = Box::pin(mutex.lock());
    note!(
        log,
        "{}",
        lock.as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    drop(guard);
    drop(lock);

    let notify = Arc::new(sync::Notify::new());
    let inner = notify.clone();
    let waker = reacting(move || inner.notify_one());
    let mut notified = Box::pin(notify.notified());
    note!(
        log,
        "{:?}",
        notified.as_mut().poll(&mut Context::from_waker(&waker))
    );
    notify.notify_waiters();
    note!(
        log,
        "{:?}",
        notified
            .as_mut()
            .poll(&mut Context::from_waker(Waker::noop()))
    );
    note!(
        log,
        "{:?}",
        tokio_test::task::spawn(notify.notified()).poll()
    );
}

pub(crate) async fn channel_wakers_may_use_the_channel(log: Log) {
    let (tx, mut rx) = sync::mpsc::channel(4);
    let inner = tx.clone();
    let waker = reacting(move || assert!(inner.try_send(100).is_ok()));
    note!(log, "{:?}", rx.poll_recv(&mut Context::from_waker(&waker)));
    tx.try_send(1).unwrap();
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.try_recv(),
        rx.try_recv(),
        rx.try_recv()
    );

    let (tx, mut rx) = sync::broadcast::channel(4);
    let inner = tx.clone();
    let waker = reacting(move || drop(inner.send(100)));
    {
        let mut recv = Box::pin(rx.recv());
        note!(
            log,
            "{:?}",
            recv.as_mut().poll(&mut Context::from_waker(&waker))
        );
        tx.send(1).unwrap();
    }
    note!(
        log,
        "{:?} {:?} {:?}",
        rx.try_recv(),
        rx.try_recv(),
        rx.try_recv()
    );

    let (tx, mut rx) = sync::watch::channel(0);
    let inner = tx.clone();
    let waker = reacting(move || assert_eq!(inner.send_replace(100), 1));
    {
        let mut changed = Box::pin(rx.changed());
        note!(
            log,
            "{:?}",
            changed.as_mut().poll(&mut Context::from_waker(&waker))
        );
        tx.send(1).unwrap();
    }
    note!(log, "{}", *rx.borrow());
}

pub(crate) async fn destructors_may_use_what_drops_them(log: Log) {
    struct Echo(sync::mpsc::UnboundedSender<Option<Echo>>);
    impl Drop for Echo {
        fn drop(&mut self) {
            let _ = self.0.send(None);
        }
    }
    let (tx, mut rx) = sync::mpsc::unbounded_channel();
    tx.send(Some(Echo(tx.clone()))).unwrap();
    drop(rx.try_recv());
    note!(log, "{}", rx.len());
    tx.send(Some(Echo(tx.clone()))).unwrap();
    drop(rx);
    note!(log, "{}", tx.is_closed());

    let (tx, rx) = sync::watch::channel(None);
    let inner = tx.clone();
    struct Look(sync::watch::Sender<Option<Look>>);
    impl Drop for Look {
        fn drop(&mut self) {
            drop(self.0.subscribe());
        }
    }
    tx.send_replace(Some(Look(inner)));
    tx.send_replace(None);
    note!(log, "{}", rx.borrow().is_none());
}

/// As combinators see it that count their wake-ups.
pub(crate) async fn who_gives_way_twice_is_woken_once(log: Log) {
    let (one, first) = WakeCount::new();
    let (other, second) = WakeCount::new();
    let join = spawn(async move {
        for waker in [&first, &first, &second, &first] {
            let mut future = pin!(tasks::yield_now());
            let poll = future.as_mut().poll(&mut Context::from_waker(waker));
            assert!(poll.is_pending());
        }
        tasks::yield_now().await;
    });
    join.await.unwrap();
    note!(log, "{} {}", one.get(), other.get());
}
