//! Who looks twice in one poll at what it waits for may find it the second time, as others go on meanwhile on threads.

use cct_executor::node::current;
use cct_executor::task::JoinSet;
use cct_executor::{Checker, Granularity, spawn};
use cct_net::mailbox::Mailbox;
use cct_sync::{
    Barrier, Mutex, Notify, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch,
};
use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;

const BETWEEN: &str = "it came between the two looks";

async fn looks_twice(wait: impl Future) {
    let mut wait = pin!(wait);
    poll_fn(|cx| {
        if wait.as_mut().poll(cx).is_ready() {
            return Poll::Ready(());
        }
        assert!(wait.as_mut().poll(cx).is_pending(), "{BETWEEN}");
        Poll::Pending
    })
    .await;
}

/// A task gives what another waits for, which it keeps until both are done.
macro_rules! it_comes_between_two_looks {
    ($($name:ident: |$gives:pat_param, $waits:pat_param| $make:expr, $give:expr, $wait:expr;)*) => {$(
        #[test]
        fn $name() {
            let report = Checker::new()
                .name(stringify!($name))
                .strategy_text("exhaustive")
                .granularity(Granularity::Op)
                .iterations(1_000)
                .time_budget(None)
                .use_environment(false)
                .run(|| async {
                    let ($gives, $waits) = $make;
                    let giver = spawn(async move { $give });
                    looks_twice($wait).await;
                    let _kept = [giver.await.unwrap()];
                });
            let failure = report.failure().expect(stringify!($name));
            assert!(failure.kind.to_string().contains(BETWEEN), "{}", report.text());
        }
    )*};
}

fn shared<T>(it: T) -> (Arc<T>, Arc<T>) {
    let it = Arc::new(it);
    (it.clone(), it)
}

fn turned<A, B>((one, other): (A, B)) -> (B, A) {
    (other, one)
}

it_comes_between_two_looks! {
    notified: |gives, waits| shared(Notify::new()), gives.notify_one(), waits.notified();
    permits: |gives, waits| shared(Semaphore::new(0)), gives.add_permits(1), async { waits.acquire().await.unwrap().forget() };
    lock: |guard, waits| {
        let it = Arc::new(Mutex::new(()));
        (it.clone().try_lock_owned().unwrap(), it)
    }, drop(guard), async { drop(waits.lock().await) };
    write_lock: |guard, waits| {
        let it = Arc::new(RwLock::new(()));
        (it.clone().try_read_owned().unwrap(), it)
    }, drop(guard), async { drop(waits.write().await) };
    message: |gives, mut waits| mpsc::channel(1), {
        gives.send(()).await.unwrap();
        gives
    }, waits.recv();
    polled_message: |gives, mut waits| mpsc::unbounded_channel(), {
        gives.send(()).unwrap();
        gives
    }, poll_fn(|cx| waits.poll_recv(cx));
    polled_messages: |gives, mut waits| mpsc::unbounded_channel(), {
        gives.send(()).unwrap();
        gives
    }, poll_fn(|cx| waits.poll_recv_many(cx, &mut Vec::new(), 1));
    end_of_messages: |gives, mut waits| mpsc::channel::<()>(1), drop(gives), waits.recv();
    room: |mut gives, waits| {
        let (sender, receiver) = mpsc::channel(1);
        sender.try_send(()).unwrap();
        (receiver, sender)
    }, {
        gives.recv().await.unwrap();
        gives
    }, async { drop(waits.reserve().await.unwrap()) };
    end_of_receiver: |gives, waits| turned(mpsc::channel::<()>(1)), drop(gives), waits.closed();
    oneshot_message: |gives, waits| oneshot::channel(), gives.send(()).unwrap(), waits;
    end_of_oneshot: |gives, mut waits| turned(oneshot::channel::<()>()), drop(gives), waits.closed();
    broadcast_message: |gives, mut waits| broadcast::channel(1), {
        assert_eq!(gives.send(()).unwrap(), 1);
        gives
    }, waits.recv();
    end_of_broadcast_receivers: |gives, waits| turned(broadcast::channel::<()>(1)), drop(gives), waits.closed();
    changed: |gives, mut waits| watch::channel(()), {
        gives.send(()).unwrap();
        gives
    }, waits.changed();
    watched: |gives, mut waits| watch::channel(false), {
        gives.send(true).unwrap();
        gives
    }, async { drop(waits.wait_for(|set| *set).await.unwrap()) };
    end_of_watchers: |gives, waits| turned(watch::channel(())), drop(gives), waits.closed();
    set_once: |gives, waits| shared(SetOnce::new()), gives.set(()).unwrap(), async { waits.wait().await; };
    barrier: |gives, waits| shared(Barrier::new(2)), { gives.wait().await; }, waits.wait();
    joined: |_, waits| ((), spawn(async {})), (), waits;
    joined_of_a_set: |_, mut waits| ((), JoinSet::from_iter([async {}])), (), waits.join_next();
    letter: |gives, mut waits| {
        let mailbox = Mailbox::bind("box").unwrap();
        (mailbox.sender(), mailbox)
    }, {
        gives.send(current(), ()).unwrap();
        gives
    }, waits.recv();
}
