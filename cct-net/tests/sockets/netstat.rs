//! What a report of a failure says of sockets.

use super::worlds::everywhere;
use cct_executor::node::{Node, current};
use cct_executor::{Checker, spawn, time::sleep};
use cct_net::{TcpListener, TcpStream, UdpSocket, node, tcp};
use futures::io::{AsyncRead, AsyncReadExt, AsyncWriteExt};
use std::future::{pending, poll_fn};
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

#[test]
fn a_report_lists_who_listens_who_is_connected_and_what_waits() {
    let checker = Checker::new().name("netstat").use_environment(false);
    let report = checker.iterations(1).run(|| async {
        node("db").start(|| async {
            let listener = TcpListener::bind("0.0.0.0:5432").await.unwrap();
            let accepted = listener.accept().await.unwrap();
            let socket = UdpSocket::bind("0.0.0.0:53").await.unwrap();
            pending::<()>().await;
            drop((listener, accepted, socket));
        });
        node("app").start(|| async {
            sleep(Duration::from_secs(1)).await;
            let mut first = TcpStream::connect("db:5432").await.unwrap();
            first.write_all(b"hello").await.unwrap();
            let second = TcpStream::connect("db:5432").await.unwrap();
            let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            socket.send_to(b"who is there?", "db:53").await.unwrap();
            first.close().await.unwrap();
            pending::<()>().await;
            drop((first, second));
        });
        sleep(Duration::from_secs(2)).await;
        panic!("look");
    });
    let snapshot = &report.failure().expect("it panics").explanation.snapshot;
    let has = |line: &str| {
        assert!(
            snapshot.iter().any(|l| l == line),
            "{line}: {}",
            report.text()
        );
    };
    has("`db`: tcp 0.0.0.0:5432 listens, 1 of 1024 wait to be accepted");
    has(
        "`db`: tcp 10.0.0.1:5432 - 10.0.0.2:61000 will be sent no more, 5 bytes to read, 0 on their way",
    );
    has("`db`: tcp 10.0.0.1:5432 - 10.0.0.2:61001 is open, 0 bytes to read, 0 on their way");
    has(
        "`app`: tcp 10.0.0.2:61000 - 10.0.0.1:5432 writes no more, 0 bytes to read, 0 on their way",
    );
    has("`db`: udp 0.0.0.0:53, 1 datagrams to receive");
    has("`db`: tcp connections: 2 taken");
    has("`app`: tcp connections: 2 opened");
    assert!(report.text().contains("network and disks at the end:"));
}

/// Rows say of which socket's what arrives is, and how reading and writing have ended.
#[test]
fn rows_say_what_comes_of_reading_and_writing() {
    let checker = Checker::new().name("rows").use_environment(false);
    let checker = checker.strategy_text("round-robin").iterations(1);
    let report = checker.run(|| async {
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let mut client = TcpStream::connect("127.0.0.1:80").await.unwrap();
        let (mut server, _) = listener.accept().await.unwrap();
        client.write_all(b"bye").await.unwrap();
        client.close().await.unwrap();
        let mut bytes = [0; 8];
        assert_eq!(server.read(&mut bytes).await.unwrap(), 3);
        assert_eq!(server.read(&mut bytes).await.unwrap(), 0);
        drop(client);
        sleep(SECOND).await;
        server.write_all(b"too late").await.unwrap();
        sleep(SECOND).await;
        server.write_all(b"much too late").await.unwrap();
    });
    let failure = report.failure().expect("it is too late");
    let rows: Vec<&str> = failure
        .explanation
        .steps
        .iter()
        .map(|step| &*step.what)
        .collect();
    for row in [
        "deliver data n0 -> n0 for socket",
        "read bytes socket",
        ": nothing: it has ended",
        "deliver reset n0 -> n0 for socket",
        ": Broken pipe",
    ] {
        assert!(
            rows.iter().any(|what| what.contains(row)),
            "no `{row}` in {rows:#?}"
        );
    }
}

/// Linux takes some millions of bytes over loopback that nobody reads.
#[test]
fn buffers_that_are_full_are_told_of() {
    let checker = Checker::new().name("full").use_environment(false);
    let report = checker.iterations(1).run(|| async {
        tcp::configure(|tcp| (tcp.send_buffer, tcp.recv_buffer) = (4, 6));
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
        let _reads_nothing = listener.accept().await.unwrap();
        stream.write_all(b"eleven byte").await.unwrap();
    });
    let failure = report.failure().expect("it waits for ever");
    assert_eq!(failure.kind.class(), "deadlock", "{}", report.text());
    let full = "is open, 0 bytes to read, 4 on their way: its buffers are full (`tcp::configure`)";
    let of_writer = |line: &&String| line.ends_with(full);
    let lines = &failure.explanation.snapshot;
    assert_eq!(lines.iter().filter(of_writer).count(), 1, "{lines:?}");
    assert_eq!(
        report.text().matches("are full").count(),
        1,
        "{}",
        report.text()
    );
}

/// Each way a connection can end is counted where it is noticed, as each kernel would do it.
#[test]
fn connections_are_counted_at_both_ends() {
    everywhere("counts", 20, |checker| {
        checker.run(|| async {
            let main = || async {
                let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
                let mut kept = Vec::new();
                loop {
                    kept.push(listener.accept().await.unwrap());
                }
            };
            let server = node("server").start(main);
            sleep(SECOND).await;
            let counted = |server: &Node| {
                let of = |node| {
                    let s = tcp::statistics(node);
                    [s.opened, s.taken, s.refused, s.reset, s.timed_out]
                };
                (of(current()), of(server.id()))
            };
            TcpStream::connect("server:81").await.unwrap_err();
            assert_eq!(counted(&server), ([0, 0, 1, 0, 0], [0; 5]));
            // Closed in good order, which is no event.
            drop(TcpStream::connect("server:80").await.unwrap());
            sleep(SECOND).await;
            assert_eq!(counted(&server), ([1, 0, 1, 0, 0], [0, 1, 0, 0, 0]));
            // Reset by this side, which the other side notices.
            let stream = TcpStream::connect("server:80").await.unwrap();
            stream.set_zero_linger().unwrap();
            drop(stream);
            sleep(SECOND).await;
            assert_eq!(counted(&server), ([2, 0, 1, 0, 0], [0, 2, 0, 1, 0]));
            // Reset by the other side, with bytes that it has not read.
            let mut stream = TcpStream::connect("server:80").await.unwrap();
            stream.write_all(b"unread").await.unwrap();
            sleep(SECOND).await;
            cct_net::node::kill(&server);
            sleep(SECOND).await;
            assert_eq!(counted(&server), ([3, 0, 1, 1, 0], [0, 3, 0, 1, 0]));
            // Nobody answers any more.
            server.restart();
            sleep(SECOND).await;
            let mut stream = TcpStream::connect("server:80").await.unwrap();
            cct_net::node::power_off(&server);
            stream.write_all(b"?").await.unwrap();
            sleep(1000 * SECOND).await;
            TcpStream::connect("server:80").await.unwrap_err();
            assert_eq!(counted(&server), ([4, 0, 1, 1, 2], [0, 4, 0, 1, 0]));
        })
    });
}

#[test]
fn of_many_sockets_a_report_lists_some() {
    let checker = Checker::new().name("many").use_environment(false);
    let report = checker.iterations(1).run(|| async {
        for number in 0..5 {
            node(format!("n-{number}")).start(move || async move {
                let binds = (1..=number * 3).map(|port| UdpSocket::bind(("0.0.0.0", port)));
                let bound = futures::future::join_all(binds).await;
                pending::<()>().await;
                drop(bound);
            });
        }
        sleep(Duration::from_secs(1)).await;
        panic!("look");
    });
    let snapshot = &report.failure().expect("it panics").explanation.snapshot;
    let sockets: Vec<&String> = snapshot.iter().filter(|l| l.contains(": udp")).collect();
    assert_eq!(sockets.len(), 3 + 6 + 6 + 5, "{}", report.text());
    assert!(
        snapshot.iter().any(|line| line == "and 10 more sockets"),
        "{}",
        report.text()
    );
}

/// Two tasks poll one stream for bytes, and there is one byte.
#[test]
fn a_report_says_who_came_after_a_task_that_polls_a_stream() {
    let checker = Checker::new().name("overtaken").use_environment(false);
    let report = checker.strategy_text("round-robin").run(|| async {
        let db = node("db").start(|| async {
            let listener = TcpListener::bind("0.0.0.0:5432").await.unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            sleep(Duration::from_secs(1)).await;
            stream.write_all(b"1").await.unwrap();
            pending::<()>().await;
        });
        sleep(Duration::from_millis(1)).await;
        let stream = TcpStream::connect("db:5432").await.unwrap();
        let stream = Arc::new(Mutex::new(stream));
        let readers = [(); 2].map(|()| {
            let stream = stream.clone();
            spawn(poll_fn(move |cx| {
                Pin::new(&mut *stream.lock().unwrap()).poll_read(cx, &mut [0])
            }))
        });
        for reader in readers {
            reader.await.unwrap().unwrap();
        }
        drop(db);
    });
    let text = report.text();
    assert!(
        text.contains("the same was done later by task 3, which has ended: read"),
        "{text}"
    );
}

#[test]
fn a_report_says_who_was_asked_for_and_is_not_of_the_world() {
    let checker = Checker::new().name("strangers").use_environment(false);
    let report = checker.iterations(1).run(|| async {
        assert!(TcpStream::connect("example.org:80").await.is_err());
        assert!(TcpStream::connect("192.0.2.7:80").await.is_err());
        panic!("look");
    });
    let text = report.text();
    let line =
        "nothing outside of the world answers, and this was asked for: 192.0.2.7, `example.org`";
    assert!(text.contains(line), "{text}");
    // Another network may have them.
    let order = "so tokio should fail as well, unless what was asked for answers there";
    assert!(text.contains(order), "{text}");
}
