//! Reads and writes that do less than they could.

use super::worlds::checker;
use cct_executor::task::yield_now;
use cct_executor::time::sleep;
use cct_executor::{sometimes, spawn};
use cct_net::{TcpListener, TcpStream, UnixStream};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use futures::lock::Mutex;
use std::io::ErrorKind;
use std::sync::Arc;
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// Who has connected, and who has accepted.
async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let client = TcpStream::connect(listener.local_addr().unwrap()).await;
    (client.unwrap(), listener.accept().await.unwrap().0)
}

/// What is written in one go is read in one go, or not.
async fn ten_bytes() {
    let (mut client, mut server) = connected().await;
    let first = client.write(b"0123456789").await.unwrap();
    sometimes!(first == 10, "whole write");
    sometimes!(first == 1, "one byte written");
    client.write_all(&b"0123456789"[first..]).await.unwrap();
    drop(client);
    sleep(SECOND).await;
    let mut buf = [0; 16];
    let count = server.read(&mut buf).await.unwrap();
    sometimes!(count == 10, "whole read");
    sometimes!(count == 1, "one byte read");
    let mut rest = Vec::new();
    server.read_to_end(&mut rest).await.unwrap();
    let text = [&buf[..count], &rest].concat();
    assert_eq!(text, b"0123456789");
}

#[test]
fn reads_and_writes_are_short_where_asked_for() {
    let report = checker("short").iterations(200).run(|| async {
        cct_net::tcp::configure(|tcp| {
            tcp.short_reads = true;
            tcp.short_writes = true;
        });
        ten_bytes().await;
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);

    let short = checker("short").iterations(200).partial_io(true);
    let report = short.clone().run(ten_bytes);
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);

    let report = short.run(|| async {
        cct_net::tcp::configure(|tcp| (tcp.short_reads, tcp.short_writes) = (false, false));
        ten_bytes().await;
    });
    let never: Vec<_> = report.never_reached().collect();
    assert_eq!(never.len(), 2, "{never:?}");
}

#[test]
fn a_message_in_two_pieces_is_replayed_where_partial_io_is_asked_for() {
    let scenario = || async {
        let (mut here, mut there) = UnixStream::pair().unwrap();
        here.write_all(b"hello").await.unwrap();
        let mut buf = [0; 8];
        let count = there.read(&mut buf).await.unwrap();
        assert_eq!(&buf[..count], b"hello");
    };
    checker("pieces")
        .iterations(50)
        .run(scenario)
        .assert_passed();
    let report = checker("pieces")
        .iterations(50)
        .partial_io(true)
        .run(scenario);
    let failure = report.failure.as_ref().expect("a read that is short");
    assert!(
        failure.reproduced && failure.token.partial_io,
        "{}",
        report.text()
    );
    let token = failure.token.to_string().parse().unwrap();
    let again = checker("pieces").replay(token).run(scenario);
    let again = again.failure.expect("the same failure");
    assert_eq!(again.kind, failure.kind);
}

/// A kernel that takes less than it is given is full. Who gives up then has written a part.
#[test]
fn who_writes_may_be_given_up_after_a_short_write() {
    let scenario = || async {
        let (client, mut server) = connected().await;
        let shared = Arc::new(Mutex::new(client));
        let theirs = shared.clone();
        let writer = spawn(async move { theirs.lock().await.write_all(b"first;").await });
        yield_now().await;
        writer.abort();
        let _ = writer.await;
        shared.lock().await.write_all(b"second;").await.unwrap();
        drop(shared);
        let mut text = String::new();
        server.read_to_string(&mut text).await.unwrap();
        let whole = ["first;second;", "second;"];
        assert!(whole.contains(&&*text), "a part: {text}");
    };
    let whole = checker("given up").iterations(300);
    whole.clone().run(scenario).assert_passed();
    let report = whole.partial_io(true).run(scenario);
    let failure = report.failure.as_ref().expect("a part of a message");
    assert!(
        failure.reproduced && failure.kind.to_string().contains("a part: "),
        "{}",
        report.text()
    );
}

/// Whoever is told that there is no room is told when there is.
#[test]
fn there_is_room_again_after_a_short_write_once_something_has_arrived() {
    let report = checker("room")
        .iterations(300)
        .partial_io(true)
        .run(|| async {
            let (mut client, server) = connected().await;
            // Nobody reads: what has arrived lies in the other socket.
            let first = client.write(&[1; 100]).await.unwrap();
            let more = client.try_write(&[2; 100]);
            match &more {
                Ok(_) => sometimes!(first == 100, "there was room"),
                Err(error) => {
                    assert_eq!((error.kind(), first < 100), (ErrorKind::WouldBlock, true));
                    sometimes!(true, "no room");
                }
            }
            client.writable().await.unwrap();
            client.write_all(&[3; 100]).await.unwrap();
            drop(server);
        });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}
