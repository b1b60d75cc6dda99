//! Who has waited for something of the network and waits for the same again may be overtaken before.

use cct_executor::node::current;
use cct_executor::time::{Duration, sleep};
use cct_executor::{Checker, Granularity, spawn};
use cct_net::mailbox::Mailbox;
use cct_net::{TcpListener, TcpStream, UdpSocket, UnixDatagram};
use futures::io::{AsyncReadExt as _, AsyncWriteExt as _};
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};

/// Two tasks wait, and then look at a number, wait for the same again, which may be there by then, and set the number to one more than they saw.
/// What is left out between the two is that the other one did the same.
macro_rules! an_update_is_lost {
    ($($name:ident: |$number:pat_param| $make:expr, |$gives:pat_param| $give:expr, |$waits:pat_param| $wait:expr;)*) => {$(
        #[test]
        fn $name() {
            let report = Checker::new()
                .name(stringify!($name))
                .strategy_text("random")
                .granularity(Granularity::Op)
                .iterations(2_000)
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

/// Both ends of a connection.
async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    let (one, other) = futures::join!(TcpStream::connect(addr), listener.accept());
    (one.unwrap(), other.unwrap().0)
}

an_update_is_lost! {
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
    message: |number| {
        let mailbox = Mailbox::bind(format!("box {number}")).unwrap();
        (mailbox.sender(), mailbox)
    }, |it| {
        for _ in 0..2 {
            it.send(current(), 7).unwrap();
        }
    }, |mut it| assert_eq!(it.recv().await.1, 7);
}
