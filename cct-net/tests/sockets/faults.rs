//! Partitions, crashes and lost datagrams, as applications see them.

use super::worlds::{checker, everywhere};
use cct_executor::node::Node;
use cct_executor::task::yield_now;
use cct_executor::time::{Instant, sleep, timeout};
use cct_executor::{nondet, sometimes, spawn};
use cct_net::fabric::{self, CrashStyle};
use cct_net::{TcpListener, TcpStream, UdpSocket, node};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::io::ErrorKind;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

const SECOND: Duration = Duration::from_secs(1);

/// A node that answers each byte by its successor.
fn server() -> Node {
    node("server").start(|| async {
        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
        while let Ok((mut stream, _)) = listener.accept().await {
            spawn(async move {
                let mut byte = [0];
                while stream.read_exact(&mut byte).await.is_ok() {
                    if stream.write_all(&[byte[0] + 1]).await.is_err() {
                        break;
                    }
                }
            });
        }
    })
}

async fn connect() -> TcpStream {
    loop {
        match TcpStream::connect("server:80").await {
            Ok(stream) => return stream,
            Err(error) => assert_eq!(error.kind(), ErrorKind::ConnectionRefused, "{error}"),
        }
        sleep(Duration::from_millis(1)).await;
    }
}

async fn call(stream: &mut TcpStream, byte: u8) -> std::io::Result<u8> {
    stream.write_all(&[byte]).await?;
    let mut answer = [0];
    stream.read_exact(&mut answer).await?;
    Ok(answer[0])
}

#[test]
fn a_partition_holds_data_until_it_heals() {
    everywhere("partition", 40, |checker| {
        checker.run(|| async {
            let server = server();
            let client = node("client").start(|| async {});
            let (a, b) = (client.clone(), server.clone());
            let task = client.spawn(async move {
                let mut stream = connect().await;
                assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
                fabric::partition(&a, &b);
                let cut = timeout(60 * SECOND, call(&mut stream, 2)).await;
                assert!(cut.is_err(), "nothing gets through");
                fabric::heal(&a, &b);
                let mut answer = [0];
                stream.read_exact(&mut answer).await.unwrap();
                assert_eq!(answer[0], 3);
                assert_eq!(call(&mut stream, 3).await.unwrap(), 4);
            });
            task.await.unwrap();
        })
    });
}

#[test]
fn what_never_gets_through_times_out() {
    everywhere("time-out", 20, |checker| {
        checker.run(|| async {
            let server = server();
            let client = node("client").start(|| async {});
            let (a, b) = (client.clone(), server.clone());
            let task = client.spawn(async move {
                let mut stream = connect().await;
                fabric::partition(&a, &b);
                let start = Instant::now();
                let error = call(&mut stream, 1).await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
                let waited = start.elapsed().as_secs();
                assert!((920..930).contains(&waited), "{waited}");
                assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
                let error = stream.write(b"x").await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::BrokenPipe);
                let start = Instant::now();
                let error = TcpStream::connect("server:80").await.unwrap_err();
                assert_eq!(error.kind(), ErrorKind::TimedOut);
                assert_eq!(start.elapsed().as_secs(), 127);
            });
            task.await.unwrap();
        })
    });
}

#[test]
fn a_silent_crash_is_learnt_by_writing() {
    everywhere("silent", 40, |checker| {
        checker.run(|| async {
            let server = server();
            let mut stream = connect().await;
            assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
            cct_net::node::power_off(&server);
            let mut byte = [0];
            let silence = timeout(3600 * SECOND, stream.read(&mut byte)).await;
            assert!(silence.is_err(), "a reader learns nothing");
            stream.write_all(b"lost").await.unwrap();
            sleep(SECOND).await;
            server.restart();
            // The new host does not know the connection.
            let error = stream.read(&mut byte).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
            let mut stream = connect().await;
            assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
        })
    });
}

#[test]
fn a_host_that_is_off_does_not_answer() {
    everywhere("off", 20, |checker| {
        checker.run(|| async {
            let server = server();
            let mut stream = connect().await;
            server.crash();
            let error = call(&mut stream, 1).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            let start = Instant::now();
            let error = TcpStream::connect("server:80").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::TimedOut);
            assert_eq!(start.elapsed().as_secs(), 127);
        })
    });
}

#[test]
fn a_killed_process_closes_its_connections() {
    everywhere("kill", 40, |checker| {
        checker.run(|| async {
            let server = server();
            let mut stream = connect().await;
            assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
            cct_net::node::kill(&server);
            assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
            let error = TcpStream::connect("server:80").await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
            server.restart();
            // Its port is free again.
            let mut stream = connect().await;
            assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
        })
    });
}

#[test]
fn a_killed_process_resets_what_it_did_not_read() {
    everywhere("kill unread", 30, |checker| {
        checker.run(|| async {
            let server = node("server").on_crash(CrashStyle::Kill).start(|| async {
                let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
                let _kept = listener.accept().await.unwrap();
                std::future::pending::<()>().await;
            });
            let mut stream = connect().await;
            stream.write_all(b"unread").await.unwrap();
            sleep(SECOND).await;
            // Crashes by anybody's hand look as the builder said.
            server.crash();
            let error = stream.read(&mut [0]).await.unwrap_err();
            assert_eq!(error.kind(), ErrorKind::ConnectionReset);
        })
    });
}

/// The kernel closes what a process that panicked had open; what its host does in a power cut is
/// another matter.
#[test]
fn a_panic_closes_connections() {
    everywhere("panic", 30, |checker| {
        checker.run(|| async {
            let builder = node("server").on_crash(CrashStyle::Silent);
            let server = builder.restart_on_panic().start(|| async {
                let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
                let (mut stream, _) = listener.accept().await.unwrap();
                stream.read_exact(&mut [0]).await.unwrap();
                // Another task of the process has the connection when it ends.
                cct_executor::spawn(async move {
                    let _kept = stream;
                    std::future::pending::<()>().await;
                });
                cct_executor::task::yield_now().await;
                panic!("the process is over");
            });
            for _ in 0..2 {
                let mut stream = connect().await;
                stream.write_all(&[1]).await.unwrap();
                assert_eq!(stream.read(&mut [0]).await.unwrap(), 0);
                sleep(SECOND).await;
                assert!(server.is_up());
            }
        })
    });
}

/// What a node sent before it lost power is on its way, and arrives or is lost with it: nobody is told of either.
#[test]
fn what_is_on_its_way_may_arrive() {
    let outcomes = Arc::new(std::sync::Mutex::new(std::collections::BTreeSet::new()));
    let seen = outcomes.clone();
    everywhere("on its way", 30, move |checker| {
        let seen = seen.clone();
        checker.run(move || {
            let seen = seen.clone();
            async move {
                let heard = Arc::new(AtomicU32::new(0));
                let theirs = heard.clone();
                let server = node("server").start(move || {
                    let heard = theirs.clone();
                    async move {
                        let listener = TcpListener::bind("0.0.0.0:80").await.unwrap();
                        let (mut stream, _) = listener.accept().await.unwrap();
                        let mut bytes = [0; 10];
                        stream.read_exact(&mut bytes).await.unwrap();
                        heard.fetch_add(1, SeqCst);
                        let silence = timeout(3600 * SECOND, stream.read(&mut bytes)).await;
                        assert!(silence.is_err(), "no end, no reset");
                        heard.fetch_add(1, SeqCst);
                    }
                });
                let client = node("client").start(|| async {
                    let mut stream = connect().await;
                    sleep(SECOND).await;
                    stream.write_all(b"last words").await.unwrap();
                    std::future::pending::<()>().await;
                });
                sleep(SECOND / 2).await;
                fabric::hold(&client, &server);
                sleep(SECOND).await;
                client.crash();
                assert_eq!(heard.load(SeqCst), 0);
                fabric::release(&client, &server);
                sleep(7200 * SECOND).await;
                seen.lock().unwrap().insert(heard.load(SeqCst));
            }
        })
    });
    assert_eq!(*outcomes.lock().unwrap(), [0, 2].into());
}

#[test]
fn addresses_and_names() {
    let report = checker("addresses").iterations(5).run(|| async {
        let db = node("db")
            .address("10.1.2.3".parse().unwrap())
            .start(|| async {
                let all = cct_net::node::own_addresses();
                assert_eq!(all[0], "10.1.2.3".parse::<std::net::IpAddr>().unwrap());
                assert!(TcpListener::bind("10.1.2.3:5").await.is_ok());
                let other = TcpListener::bind("10.255.255.253:5").await;
                assert_eq!(other.unwrap_err().kind(), ErrorKind::AddrNotAvailable);
            });
        let found: Vec<_> = cct_net::lookup_host("db:7").await.unwrap().collect();
        assert_eq!(found, ["10.1.2.3:7".parse().unwrap()]);
        assert_eq!(cct_net::node::addresses(&db)[0], found[0].ip());
        cct_net::dns::insert("alias", &["10.1.2.3".parse().unwrap()]);
        let found: Vec<_> = cct_net::lookup_host("alias:7").await.unwrap().collect();
        assert_eq!(found, ["10.1.2.3:7".parse().unwrap()]);
        cct_net::dns::remove("alias");
        let error = cct_net::lookup_host("alias:7").await.map(drop).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("`alias`") && text.contains("db"), "{text}");
        let error = TcpStream::connect("10.9.9.9:1").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostUnreachable);
        assert!(error.to_string().contains("10.9.9.9"), "{error}");
        let udp = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let error = udp.send_to(b"x", "10.9.9.9:1").await.unwrap_err();
        assert_eq!(error.kind(), ErrorKind::HostUnreachable);
    });
    report.assert_passed();
}

#[test]
fn an_address_belongs_to_one_node() {
    let report = checker("twice").iterations(1).run(|| async {
        for name in ["one", "two"] {
            let address = "10.1.2.3".parse().unwrap();
            node(name).address(address).start(|| async {});
        }
    });
    let text = report.text();
    assert!(text.contains("node `two`: the address 10.1.2.3"), "{text}");
}

#[test]
fn datagrams_overtake_each_other() {
    let report = checker("overtake").iterations(200).run(|| async {
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to = socket.local_addr().unwrap();
        for number in 0..3 {
            socket.send_to(&[number], to).await.unwrap();
        }
        let mut seen = Vec::new();
        for _ in 0..3 {
            let mut byte = [0];
            socket.recv(&mut byte).await.unwrap();
            seen.push(byte[0]);
        }
        sometimes!(seen == [0, 1, 2], "in order");
        sometimes!(seen == [2, 1, 0], "backwards");
        seen.sort_unstable();
        assert_eq!(seen, [0, 1, 2], "all arrive, once");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}

#[test]
fn datagrams_are_lost_and_doubled_where_asked_for() {
    let report = checker("loss").iterations(300).run(|| async {
        cct_net::udp::configure(|udp| {
            udp.loss = true;
            udp.duplication = true;
        });
        let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        let to = socket.local_addr().unwrap();
        socket.send_to(b"x", to).await.unwrap();
        let mut seen = 0;
        while timeout(SECOND, socket.recv(&mut [0])).await.is_ok() {
            seen += 1;
        }
        sometimes!(seen == 0, "lost");
        sometimes!(seen == 1, "arrived");
        sometimes!(seen == 2, "doubled");
        assert!(seen < 3);
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}

#[test]
fn groups_and_broadcasts() {
    everywhere("groups", 20, |checker| {
        checker.run(|| async {
            let heard = Arc::new(AtomicU32::new(0));
            let ready = Arc::new(AtomicU32::new(0));
            for (name, joins) in [("a", true), ("b", true), ("c", false)] {
                let (heard, ready) = (heard.clone(), ready.clone());
                node(name).start(move || {
                    let (heard, ready) = (heard.clone(), ready.clone());
                    async move {
                        let socket = UdpSocket::bind("0.0.0.0:99").await.unwrap();
                        if joins {
                            let group = "224.0.0.7".parse().unwrap();
                            let any = "0.0.0.0".parse().unwrap();
                            socket.join_multicast_v4(group, any).unwrap();
                            let again = socket.join_multicast_v4(group, any).unwrap_err();
                            assert_eq!(again.kind(), ErrorKind::AddrInUse);
                        }
                        ready.fetch_add(1, SeqCst);
                        loop {
                            let mut buf = [0];
                            socket.recv(&mut buf).await.unwrap();
                            heard.fetch_add(u32::from(buf[0]), SeqCst);
                        }
                    }
                });
            }
            while ready.load(SeqCst) < 3 {
                sleep(SECOND).await;
            }
            let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            socket.send_to(&[1], "224.0.0.7:99").await.unwrap();
            sleep(SECOND).await;
            assert_eq!(heard.swap(0, SeqCst), 2);
            socket.set_broadcast(true).unwrap();
            socket.send_to(&[1], "255.255.255.255:99").await.unwrap();
            sleep(SECOND).await;
            assert_eq!(heard.load(SeqCst), 3);
        })
    });
}

/// With tiny buffers, both directions full at once, and every byte in its place.
#[test]
fn tiny_buffers() {
    everywhere("tiny", 30, |checker| {
        checker.run(|| async {
            cct_net::tcp::configure(|tcp| {
                tcp.send_buffer = 3;
                tcp.recv_buffer = 5;
                tcp.short_reads = true;
            });
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            let addr = listener.local_addr().unwrap();
            let client = TcpStream::connect(addr).await.unwrap();
            let (server, _) = listener.accept().await.unwrap();
            let bytes: Vec<u8> = (0..40).collect();
            let mut tasks = Vec::new();
            for stream in [client, server] {
                let (mut read, mut write) = stream.into_split();
                let all = bytes.clone();
                tasks.push(spawn(async move {
                    write.write_all(&all).await.unwrap();
                }));
                let all = bytes.clone();
                tasks.push(spawn(async move {
                    let mut seen = Vec::new();
                    read.read_to_end(&mut seen).await.unwrap();
                    assert_eq!(seen, all);
                }));
            }
            for task in tasks {
                task.await.unwrap();
            }
        })
    });
}

#[test]
fn futures_that_are_dropped_leave_nothing_behind() {
    everywhere("dropped", 40, |checker| {
        checker.run(|| async {
            let server = server();
            let mut stream = connect().await;
            for _ in 0..3 {
                let wait = Duration::from_millis(u64::from(nondet::choose(3)));
                let attempt = timeout(wait, TcpStream::connect("server:80")).await;
                drop(attempt);
                let _ = timeout(wait, stream.read(&mut [0])).await;
                yield_now().await;
            }
            assert_eq!(call(&mut stream, 1).await.unwrap(), 2);
            drop(server);
        })
    });
}

#[test]
fn outside_a_scenario() {
    let error = futures::executor::block_on(TcpListener::bind("127.0.0.1:0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    let error = futures::executor::block_on(UdpSocket::bind("127.0.0.1:0")).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(cct_net::UnixStream::pair().is_err());
}

/// Which of two listeners at one port gets a connection is a choice.
#[test]
fn either_of_two_listeners_gets_a_connection() {
    let report = checker("shared port").iterations(60).run(|| async {
        let addr = "0.0.0.0:80".parse().unwrap();
        let listen = || {
            let socket = cct_net::TcpSocket::new_v4().unwrap();
            socket.set_reuseport(true).unwrap();
            socket.bind(addr).unwrap();
            socket.listen(4).unwrap()
        };
        let (first, second) = (listen(), listen());
        let mut by_first = 0;
        for _ in 0..2 {
            let _client = TcpStream::connect("127.0.0.1:80").await.unwrap();
            by_first += u32::from(timeout(SECOND, first.accept()).await.is_ok());
        }
        let by_second = 2 - by_first;
        for _ in 0..by_second {
            second.accept().await.unwrap();
        }
        sometimes!(by_first == 2, "the first");
        sometimes!(by_second == 2, "the second");
        sometimes!(by_first == 1, "both");
    });
    report.assert_passed();
    assert_eq!(report.never_reached().count(), 0);
}
