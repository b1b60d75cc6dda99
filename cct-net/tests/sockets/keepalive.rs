//! Connections on which nothing is sent, with and without somebody who looks after them.

use super::worlds::{checker, everywhere};
use cct_executor::time::{Instant, sleep, timeout};
use cct_net::{TcpListener, TcpSocket, TcpStream, fabric, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::io::ErrorKind;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

fn server() -> cct_executor::node::Node {
    node("server").start(|| async {
        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
        let mut kept = Vec::new();
        loop {
            kept.push(listener.accept().await.unwrap());
        }
    })
}

async fn connect(keepalive: bool) -> TcpStream {
    sleep(SECOND).await;
    let socket = TcpSocket::new_v4().unwrap();
    socket.set_keepalive(keepalive).unwrap();
    let addrs: Vec<_> = cct_net::lookup_host("server:80").await.unwrap().collect();
    socket.connect(addrs[0]).await.unwrap()
}

/// What a read is told, and after how many seconds; nothing within a day.
async fn told(stream: &mut TcpStream) -> Option<(Result<usize, ErrorKind>, u64)> {
    let begin = Instant::now();
    let mut bytes = [0; 8];
    let read = timeout(20 * 3600 * SECOND, stream.read(&mut bytes))
        .await
        .ok()?;
    Some((
        read.map_err(|error| error.kind()),
        begin.elapsed().as_secs(),
    ))
}

#[test]
fn a_host_that_is_gone_is_missed_in_time() {
    everywhere("gone", 10, |checker| {
        checker.run(|| async {
            let server = server();
            let (mut looks, mut waits) = (connect(true).await, connect(false).await);
            cct_net::node::power_off(&server);
            let missed = Some((Err(ErrorKind::TimedOut), 7875));
            assert_eq!(told(&mut looks).await, missed);
            assert_eq!(told(&mut waits).await, None);
        })
    });
}

#[test]
fn a_host_that_is_back_knows_of_no_connection() {
    for (down, after) in [(60, 7200), (7500, 7500)] {
        everywhere("back", 10, |checker| {
            checker.run(move || async move {
                let server = server();
                let (mut looks, mut waits) = (connect(true).await, connect(false).await);
                cct_net::node::power_off(&server);
                let again = server.clone();
                cct_executor::spawn(async move {
                    sleep(down * SECOND).await;
                    again.restart();
                });
                let reset = Some((Err(ErrorKind::ConnectionReset), after));
                assert_eq!(told(&mut looks).await, reset);
                assert_eq!(told(&mut waits).await, None);
            })
        });
    }
}

#[test]
fn a_partition_is_noticed_if_it_lasts() {
    everywhere("partition", 10, |checker| {
        checker.run(|| async {
            let zero = Instant::now();
            let until = move |second: u32| cct_executor::time::sleep_until(zero + second * SECOND);
            let client = node("client").start(std::future::pending::<()>);
            let server = server();
            let done = client.spawn(async move {
                let (mut looks, mut waits) = (connect(true).await, connect(false).await);
                until(2000).await;
                looks.write_all(b"still there").await.unwrap();
                until(3000).await;
                let missed = Some((Err(ErrorKind::TimedOut), 2100 + 7875 - 3000));
                assert_eq!(told(&mut looks).await, missed);
                assert_eq!(told(&mut waits).await, None);
            });
            until(10).await;
            fabric::partition(&client, &server);
            until(1000).await;
            // Nobody has asked yet.
            fabric::heal(&client, &server);
            until(2100).await;
            fabric::partition(&client, &server);
            done.await.unwrap();
        })
    });
}

/// What waits to be sent is given up as ever.
#[test]
fn data_is_given_up_sooner() {
    everywhere("data", 10, |checker| {
        checker.run(|| async {
            let server = server();
            let mut looks = connect(true).await;
            cct_net::node::power_off(&server);
            sleep(1000 * SECOND).await;
            looks.write_all(b"?").await.unwrap();
            assert_eq!(
                told(&mut looks).await,
                Some((Err(ErrorKind::TimedOut), 924))
            );
        })
    });
}

#[test]
fn accepted_connections_are_looked_after_too() {
    everywhere("accepted", 10, |checker| {
        checker.run(|| async {
            let client = node("client").start(|| async {
                sleep(SECOND).await;
                let _kept = TcpStream::connect("10.255.255.253:90").await.unwrap();
                std::future::pending::<()>().await;
            });
            let socket = TcpSocket::new_v4().unwrap();
            socket.set_keepalive(true).unwrap();
            socket.bind("0.0.0.0:90".parse().unwrap()).unwrap();
            let listener = socket.listen(8).unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            cct_net::node::power_off(&client);
            let missed = Some((Err(ErrorKind::TimedOut), 7875));
            assert_eq!(told(&mut stream).await, missed);
        })
    });
}

/// While all is well nobody waits for two hours: who waits for each other is found at once.
#[test]
fn a_healthy_connection_hides_no_deadlock() {
    let report = checker("deadlock").iterations(5).run(|| async {
        let _server = server();
        let mut stream = connect(true).await;
        let _ = stream.read(&mut [0; 8]).await;
    });
    let failure = report.failure().expect("both wait");
    assert_eq!(failure.kind.class(), "deadlock");
}
