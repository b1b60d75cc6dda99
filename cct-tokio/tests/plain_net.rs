//! Sockets of tests that take the machine's: they outlive a runtime, or are served by a thread for all tests.
#![cfg(target_os = "linux")]

#[path = "../../cct-executor/tests/again/mod.rs"]
mod again;
#[macro_use]
#[path = "../../cct-executor/tests/again/passes.rs"]
mod passes;

use again::{again, is_again, said};
use cct_tokio::io::unix::AsyncFd;
use cct_tokio::io::{AsyncReadExt, AsyncWriteExt};
use cct_tokio::net::{TcpStream, UdpSocket};
use cct_tokio::runtime::{Builder, Runtime};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::LazyLock;

// Explored, nobody would ever come to `accept`: what it takes to learn that is the watch's to say.
passes!(["once" "explore"] accepts_when_its_runtime_is_gone {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let client = runtime.block_on(TcpStream::connect(address)).unwrap();
    drop(runtime);
    let (_, from) = listener.accept().unwrap();
    assert_eq!(client.local_addr().unwrap(), from);
});

/// Where a thread with its own runtime serves all tests. Explored it gets no runtime; and as what a client runs into then
/// depends on how fast threads are, it depends here on what differs from process to process.
static SERVED: LazyLock<SocketAddr> = LazyLock::new(|| {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::Builder::new()
        .spawn(move || {
            let Ok(runtime) = Runtime::new() else {
                while std::process::id() % 2 == 0 {
                    std::thread::park();
                }
                return;
            };
            runtime.block_on(async {
                let listener = cct_tokio::net::TcpListener::from_std(listener).unwrap();
                loop {
                    let (mut stream, _) = listener.accept().await.unwrap();
                    cct_tokio::spawn(async move {
                        let byte = stream.read_u8().await.unwrap();
                        stream.write_u8(byte + 1).await.unwrap();
                    });
                }
            });
        })
        .unwrap();
    address
});

async fn ask(byte: u8) -> u8 {
    let mut stream = TcpStream::connect(*SERVED).await.unwrap();
    stream.write_u8(byte).await.unwrap();
    stream.read_u8().await.unwrap()
}

#[cct_tokio::test(crate = "cct_tokio")]
async fn asks_who_serves_all() {
    // Elsewhere it would be explored, in which such threads have no part.
    if is_again() {
        assert_eq!(cct_tokio::join!(ask(1), ask(2)), (2, 3));
    }
}

#[test]
fn a_server_for_all_tests_is_asked_where_one_is_run_once() {
    for _ in 0..8 {
        let output = again("asks_who_serves_all", "explore", &[]);
        assert!(output.status.success(), "{}", said(&output));
    }
}

// The members of a group are in several runtimes, as those of CoAP and mDNS are in their tests.
passes!(["once" "explore"] a_group_has_members_in_a_thread {
    let group = Ipv4Addr::new(239, 255, 7, 23);
    let (tell, port) = std::sync::mpsc::channel();
    let member = std::thread::Builder::new().spawn(move || {
        Runtime::new().unwrap().block_on(async {
            let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
            socket.join_multicast_v4(group, Ipv4Addr::UNSPECIFIED).unwrap();
            tell.send(socket.local_addr().unwrap().port()).unwrap();
            let mut data = [0; 8];
            let (n, from) = socket.recv_from(&mut data).await.unwrap();
            socket.send_to(&data[..n], from).await.unwrap();
        });
    });
    let member = member.unwrap();
    Runtime::new().unwrap().block_on(async {
        let socket = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let all = SocketAddr::from((group, port.recv().unwrap()));
        socket.send_to(b"hi", all).await.unwrap();
        let mut data = [0; 8];
        let (n, from) = socket.recv_from(&mut data).await.unwrap();
        assert_eq!((&data[..n], from.port()), (&b"hi"[..], all.port()));
    });
    member.join().unwrap();
});

// Whoever goes on without a runtime learns that nobody will tell it.
passes!(["once" "explore"] a_descriptor_is_watched_until_its_runtime_is_gone {
    let runtime = Builder::new_current_thread().enable_all().build().unwrap();
    let (one, _other) = std::os::unix::net::UnixStream::pair().unwrap();
    one.set_nonblocking(true).unwrap();
    let watched = {
        let _entered = runtime.enter();
        AsyncFd::new(one).unwrap()
    };
    drop(runtime);
    let error = futures::executor::block_on(watched.readable()).unwrap_err();
    assert!(error.to_string().contains("being shutdown"), "{error}");
});

/// A server on a runtime that the test builds which comes first, and a thread of that test's runs: all others ask it.
static LEFT: LazyLock<SocketAddr> = LazyLock::new(|| {
    let runtime = Runtime::new().unwrap();
    let (tell, told) = std::sync::mpsc::channel();
    let serve = async move {
        let listener = cct_tokio::net::TcpListener::bind("127.0.0.1:0")
            .await
            .unwrap();
        tell.send(listener.local_addr().unwrap()).unwrap();
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            cct_tokio::spawn(async move {
                let byte = stream.read_u8().await.unwrap();
                stream.write_u8(byte + 1).await.unwrap();
            });
        }
    };
    let thread = std::thread::Builder::new();
    thread.spawn(move || runtime.block_on(serve)).unwrap();
    told.recv().unwrap()
});

fn ask_what_is_left(byte: u8) {
    use std::io::{Read, Write};
    let mut stream = std::net::TcpStream::connect(*LEFT).unwrap();
    stream.write_all(&[byte]).unwrap();
    let mut answer = [0];
    stream.read_exact(&mut answer).unwrap();
    assert_eq!(answer, [byte + 1]);
}

#[test]
fn left_behind_for_one() {
    if is_again() {
        ask_what_is_left(1);
    }
}

#[test]
fn left_behind_for_another() {
    if is_again() {
        ask_what_is_left(2);
    }
}

#[test]
fn a_server_goes_on_behind_the_test_that_made_it() {
    if is_again() {
        return;
    }
    for threads in ["1", "2"] {
        let output = again("left_behind_", "once", &[("RUST_TEST_THREADS", threads)]);
        let text = said(&output);
        assert!(
            text.contains(": ok. 2 passed; 0 failed"),
            "{threads}: {text}"
        );
    }
}
