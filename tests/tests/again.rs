//! Who has waited for something and waits for the same again may be overtaken before.

use cct_executor::node::current;
use cct_executor::task::JoinSet;
use cct_executor::time::{Duration, sleep};
use cct_executor::{Checker, Granularity, spawn};
use cct_net::mailbox::Mailbox;
use cct_net::{TcpListener, TcpStream, UdpSocket, UnixDatagram};
use cct_sync::{Mutex, Notify, RwLock, Semaphore, SetOnce, broadcast, mpsc, oneshot, watch};
use futures::io::{AsyncReadExt as _, AsyncWriteExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Two tasks wait, and then look at a number, wait for the same again, which may be there by then, and set the number
/// to one more than they saw. What is left out between the two is that the other one did the same.
macro_rules! an_update_is_lost {
    ($strategy:literal for $iterations:literal; $($name:ident: |$number:pat_param| $make:expr, |$gives:pat_param| $give:expr, |$waits:pat_param| $wait:expr;)*) => {$(
        #[test]
        fn $name() {
            let report = Checker::new()
                .name(stringify!($name))
                .strategy_text($strategy)
                .granularity(Granularity::Op)
                .iterations($iterations)
                .time_budget(None)
                .use_environment(false)
                .run(|| async {
                    let count = Arc::new(AtomicU32::new(0));
                    let (mut all, mut tasks) = (Vec::new(), Vec::new());
                    for number in 0..2 {
                        let $number = number;
                        let (given, $waits) = $make;
                        all.push(given);
                        let count = count.clone();
                        tasks.push(spawn(async move {
                            $wait;
                            let before = count.load(SeqCst);
                            $wait;
                            count.store(before + 1, SeqCst);
                        }));
                    }
                    sleep(Duration::from_millis(1)).await;
                    let mut kept = Vec::new();
                    for $gives in all {
                        kept.push($give);
                    }
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

/// Both ends of a connection.
async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (one, other) = futures::join!(TcpStream::connect(addr), listener.accept());
    (one.unwrap(), other.unwrap().0)
}

an_update_is_lost! { "exhaustive" for 20_000;
    timer: |_| ((), 1), |()| (), |mut ms| sleep(Duration::from_millis(std::mem::take(&mut ms))).await;
    notified: |_| shared(Notify::new()), |it| (0..2).for_each(|_| it.notify_one()), |it| it.notified().await;
    permits: |_| shared(Semaphore::new(0)), |it| it.add_permits(2), |it| it.acquire().await.unwrap().forget();
    closed_permits: |_| shared(Semaphore::new(0)), |it| it.close(), |it| assert!(it.acquire().await.is_err());
    lock: |_| {
        let it = Arc::new(Mutex::new(()));
        (it.clone().try_lock_owned().unwrap(), it)
    }, |it| drop(it), |it| drop(it.lock().await);
    read_lock: |_| {
        let it = Arc::new(RwLock::new(()));
        (it.clone().try_write_owned().unwrap(), it)
    }, |it| drop(it), |it| drop(it.read().await);
    message: |_| mpsc::channel(2), |it| (0..2).for_each(|_| it.try_send(()).unwrap()), |mut it| it.recv().await.unwrap();
    unbounded_message: |_| mpsc::unbounded_channel(), |it| (0..2).for_each(|_| it.send(()).unwrap()), |mut it| it.recv().await.unwrap();
    messages: |_| mpsc::channel(2), |it| (0..2).for_each(|_| it.try_send(()).unwrap()), |mut it| {
        it.recv_many(&mut Vec::new(), 1).await
    };
    room: |_| {
        let (sender, receiver) = mpsc::channel(2);
        (0..2).for_each(|_| sender.try_send(()).unwrap());
        (receiver, sender)
    }, |mut it| {
        (0..2).for_each(|_| it.try_recv().unwrap());
        std::mem::forget(it);
    }, |it| it.reserve().await.unwrap().send(());
    end_of_messages: |_| mpsc::channel::<()>(1), |it| drop(it), |mut it| assert_eq!(it.recv().await, None);
    end_of_receiver: |_| {
        let (sender, receiver) = mpsc::channel::<()>(1);
        (receiver, sender)
    }, |it| drop(it), |it| it.closed().await;
    broadcast_message: |_| broadcast::channel(2), |it| (0..2).for_each(|_| assert_eq!(it.send(()).unwrap(), 1)), |mut it| it.recv().await.unwrap();
    end_of_broadcast_receivers: |_| {
        let (sender, receiver) = broadcast::channel::<()>(1);
        (receiver, sender)
    }, |it| drop(it), |it| it.closed().await;
    watched: |_| watch::channel(false), |it| assert!(!it.send_replace(true)), |mut it| drop(it.wait_for(|set| *set).await.unwrap());
    end_of_watched: |_| watch::channel(()), |it| drop(it), |mut it| assert!(it.changed().await.is_err());
    end_of_watchers: |_| {
        let (sender, receiver) = watch::channel(());
        (receiver, sender)
    }, |it| drop(it), |it| it.closed().await;
    end_of_oneshot: |_| {
        let (sender, receiver) = oneshot::channel::<()>();
        (receiver, sender)
    }, |it| drop(it), |mut it| it.closed().await;
    set_once: |_| shared(SetOnce::new()), |it| it.set(()).unwrap(), |it| assert_eq!(it.wait().await, &());
    joined: |_| {
        let (sender, receiver) = watch::channel(());
        let mut set = JoinSet::new();
        for _ in 0..2 {
            let mut receiver = receiver.clone();
            set.spawn(async move { drop(receiver.changed().await) });
        }
        (sender, set)
    }, |it| drop(it), |mut it| it.join_next().await.unwrap().unwrap();
}

an_update_is_lost! { "random" for 2_000;
    bytes: |_| connected().await, |mut it| {
        it.write_all(b"ab").await.unwrap();
        it
    }, |mut it| it.read_exact(&mut [0]).await.unwrap();
    connection: |_| {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        (listener.local_addr().unwrap(), listener)
    }, |to| {
        let (one, two) = futures::join!(TcpStream::connect(to), TcpStream::connect(to));
        (one.unwrap(), two.unwrap())
    }, |it| drop(it.accept().await.unwrap());
    datagram: |_| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        (socket.local_addr().unwrap(), socket)
    }, |to| {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        for _ in 0..2 {
            socket.send_to(&[7], to).await.unwrap();
        }
    }, |it| assert_eq!(it.recv(&mut [0]).await.unwrap(), 1);
    unix_datagram: |_| UnixDatagram::pair().unwrap(), |it| {
        for _ in 0..2 {
            it.send(&[7]).await.unwrap();
        }
        it
    }, |it| assert_eq!(it.recv(&mut [0]).await.unwrap(), 1);
    mailbox_message: |number| {
        let mailbox = Mailbox::bind(format!("box {number}")).unwrap();
        (mailbox.sender(), mailbox)
    }, |it| {
        for _ in 0..2 {
            it.send(current(), 7).unwrap();
        }
    }, |mut it| assert_eq!(it.recv().await.1, 7);
}
