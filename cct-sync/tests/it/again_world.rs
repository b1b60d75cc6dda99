//! Inside a world: who has waited for something and waits for the same again may be overtaken before.

use cct_executor::task::JoinSet;
use cct_executor::time::{Duration, sleep};
use cct_executor::{Checker, Granularity, spawn};
use cct_sync::{Mutex, Notify, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Two tasks wait, and then look at a number, wait for the same again, for which nothing has to come any more, and
/// set the number to one more than they saw. What is left out between the two is that the other one did the same.
macro_rules! an_update_is_lost {
    ($($name:ident: $make:expr, $give:expr, |$waits:pat_param| $wait:expr;)*) => {$(
        #[test]
        fn $name() {
            let report = Checker::new()
                .name(stringify!($name))
                .strategy_text("exhaustive")
                .granularity(Granularity::Op)
                .iterations(20_000)
                .time_budget(None)
                .use_environment(false)
                .run(|| async {
                    let count = Arc::new(AtomicU32::new(0));
                    let (mut gives, mut tasks) = (Vec::new(), Vec::new());
                    for _ in 0..2 {
                        let (given, $waits) = $make;
                        gives.push(given);
                        let count = count.clone();
                        tasks.push(spawn(async move {
                            $wait;
                            let before = count.load(SeqCst);
                            $wait;
                            count.store(before + 1, SeqCst);
                        }));
                    }
                    sleep(Duration::from_millis(1)).await;
                    gives.into_iter().for_each($give);
                    for task in tasks {
                        task.await.unwrap();
                    }
                    assert_eq!(count.load(SeqCst), 2, "an update is lost");
                });
            let failure = report.failure().expect(stringify!($name));
            assert!(failure.kind.to_string().contains("an update is lost"), "{}", report.text());
        }
    )*};
}

fn shared<T>(it: T) -> (Arc<T>, Arc<T>) {
    let it = Arc::new(it);
    (it.clone(), it)
}

an_update_is_lost! {
    timer: ((), 1), |()| (), |mut ms| sleep(Duration::from_millis(std::mem::take(&mut ms))).await;
    notified: shared(Notify::new()), |it| (0..2).for_each(|_| it.notify_one()), |it| it.notified().await;
    permits: shared(Semaphore::new(0)), |it| it.add_permits(2), |it| it.acquire().await.unwrap().forget();
    closed_permits: shared(Semaphore::new(0)), |it| it.close(), |it| assert!(it.acquire().await.is_err());
    lock: {
        let it = Arc::new(Mutex::new(()));
        (it.clone().try_lock_owned().unwrap(), it)
    }, drop, |it| drop(it.lock().await);
    read_lock: {
        let it = Arc::new(RwLock::new(()));
        (it.clone().try_write_owned().unwrap(), it)
    }, drop, |it| drop(it.read().await);
    message: mpsc::channel(2), |it| (0..2).for_each(|_| it.try_send(()).unwrap()), |mut it| it.recv().await.unwrap();
    unbounded_message: mpsc::unbounded_channel(), |it| (0..2).for_each(|_| it.send(()).unwrap()), |mut it| it.recv().await.unwrap();
    messages: mpsc::channel(2), |it| (0..2).for_each(|_| it.try_send(()).unwrap()), |mut it| {
        it.recv_many(&mut Vec::new(), 1).await
    };
    room: {
        let (sender, receiver) = mpsc::channel(2);
        (0..2).for_each(|_| sender.try_send(()).unwrap());
        (receiver, sender)
    }, |mut it| {
        (0..2).for_each(|_| it.try_recv().unwrap());
        std::mem::forget(it);
    }, |it| it.reserve().await.unwrap().send(());
    end_of_messages: mpsc::channel::<()>(1), drop, |mut it| assert_eq!(it.recv().await, None);
    end_of_receiver: {
        let (sender, receiver) = mpsc::channel::<()>(1);
        (receiver, sender)
    }, drop, |it| it.closed().await;
    broadcast_message: broadcast::channel(2), |it| (0..2).for_each(|_| assert_eq!(it.send(()).unwrap(), 1)), |mut it| it.recv().await.unwrap();
    end_of_broadcast_receivers: {
        let (sender, receiver) = broadcast::channel::<()>(1);
        (receiver, sender)
    }, drop, |it| it.closed().await;
    watched: watch::channel(false), |it| assert!(!it.send_replace(true)), |mut it| drop(it.wait_for(|set| *set).await.unwrap());
    end_of_watched: watch::channel(()), drop, |mut it| assert!(it.changed().await.is_err());
    end_of_watchers: {
        let (sender, receiver) = watch::channel(());
        (receiver, sender)
    }, drop, |it| it.closed().await;
    end_of_oneshot: {
        let (sender, receiver) = oneshot::channel::<()>();
        (receiver, sender)
    }, drop, |mut it| it.closed().await;
    set_once: shared(SetOnce::new()), |it| it.set(()).unwrap(), |it| assert_eq!(it.wait().await, &());
    joined: {
        let (sender, receiver) = watch::channel(());
        let mut set = JoinSet::new();
        for _ in 0..2 {
            let mut receiver = receiver.clone();
            set.spawn(async move { drop(receiver.changed().await) });
        }
        (sender, set)
    }, drop, |mut it| it.join_next().await.unwrap().unwrap();
}
