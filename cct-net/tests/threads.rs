//! A server in a thread that has a runtime of its own, and clients in the test's, in a test that is run once.
#![cfg(target_os = "linux")]
#![expect(clippy::disallowed_methods, reason = "it is about threads")]

use cct_executor::runtime::{Builder, Runtime};
use cct_executor::spawn;
use cct_net::{TcpListener, TcpStream};
use futures::{AsyncReadExt as _, AsyncWriteExt as _};
use std::io::ErrorKind;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::mpsc;
use std::thread;

const VARIABLE: &str = "CCT_PLAIN_TESTS";

/// Answers with its name and what it was sent, to everybody.
async fn serve(name: u8, listener: TcpListener) {
    while let Ok((mut socket, _)) = listener.accept().await {
        spawn(async move {
            let mut bytes = vec![name];
            socket.read_to_end(&mut bytes).await.unwrap();
            socket.write_all(&bytes).await.unwrap();
            socket.close().await.unwrap();
        });
    }
}

async fn asks(server: SocketAddr, bytes: &[u8]) -> Vec<u8> {
    let mut socket = TcpStream::connect(server).await.unwrap();
    socket.write_all(bytes).await.unwrap();
    socket.close().await.unwrap();
    let mut answer = Vec::new();
    socket.read_to_end(&mut answer).await.unwrap();
    answer
}

async fn ask(server: SocketAddr) {
    assert_eq!(asks(server, b"hello").await, b"1hello");
}

fn runtime() -> Runtime {
    Builder::new_current_thread().enable_all().build().unwrap()
}

/// Starts a server, as test suites do that need one which outlives their runtimes.
fn server_of(name: u8) -> SocketAddr {
    let begin = move || {
        let runtime = runtime();
        let bound = runtime.block_on(TcpListener::bind("127.0.0.1:0")).unwrap();
        let address = bound.local_addr().unwrap();
        thread::spawn(move || runtime.block_on(serve(name, bound)));
        address
    };
    thread::spawn(begin).join().unwrap()
}

fn server() -> SocketAddr {
    server_of(b'1')
}

/// Runs a test of this program anew, where such tests are run in this way.
fn passes(test: &str, how: &str) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env(VARIABLE, how).env("CCT_REGRESSIONS", "off");
    let output = command.output().unwrap();
    assert!(output.status.success(), "{how}: {output:?}");
}

macro_rules! meets {
    ($name:ident $body:block) => {
        #[test]
        fn $name() {
            if std::env::var_os(VARIABLE).is_some() {
                return $body;
            }
            passes(stringify!($name), "once");
            passes(stringify!($name), "explore");
        }
    };
}

meets!(the_server_comes_first {
    let server = server();
    Runtime::new().unwrap().block_on(ask(server));
});

meets!(the_test_comes_first {
    let runtime = Runtime::new().unwrap();
    let server = server();
    // At once.
    let asking = futures::future::join_all([server; 5].map(ask));
    runtime.block_on(asking);
});

meets!(clients_are_threads {
    let server = server();
    let client = move || Runtime::new().unwrap().block_on(ask(server));
    let clients = [client; 3].map(thread::spawn);
    clients.into_iter().for_each(|client| client.join().unwrap());
});

meets!(servers_have_ports_of_their_own {
    let servers = [b'1', b'2', b'3'].map(|name| (name, server_of(name)));
    Runtime::new().unwrap().block_on(async {
        for (name, server) in servers {
            assert_eq!(asks(server, b"?").await, [name, b'?']);
        }
    });
});

meets!(a_runtime_comes_after_another {
    let server = server();
    for _ in 0..2 {
        Runtime::new().unwrap().block_on(ask(server));
    }
});

meets!(more_than_there_is_room_for {
    let server = server();
    let sent: Vec<u8> = (0..1 << 20).map(|i: u32| i.to_le_bytes()[1]).collect();
    let answer = Runtime::new().unwrap().block_on(asks(server, &sent));
    assert!(answer[1..] == sent);
});

meets!(a_server_that_is_gone_refuses {
    let (tell, told) = mpsc::channel();
    let server = thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            drop(listener.accept().await.unwrap());
        });
    });
    let address = told.recv().unwrap();
    let clients = Runtime::new().unwrap();
    let answer = clients.block_on(asks(address, b""));
    assert_eq!(answer, b"");
    server.join().unwrap();
    let refused = clients.block_on(TcpStream::connect(address)).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
});

meets!(a_listener_of_std_is_taken_over_in_a_thread {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    listener.set_nonblocking(true).unwrap();
    let runs = Runtime::new().unwrap();
    thread::spawn(move || runtime().block_on(async {
        serve(b'1', TcpListener::from_std(listener).unwrap()).await;
    }));
    runs.block_on(ask(address));
    runs.block_on(ask(address));
});

meets!(who_has_answered_may_be_gone {
    let (tell, told) = mpsc::channel();
    let (go, gone) = mpsc::channel::<()>();
    let serves = thread::spawn(move || {
        let runtime = runtime();
        runtime.block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let (mut socket, _) = listener.accept().await.unwrap();
            socket.write_all(&[7; 200_000]).await.unwrap();
        });
        drop(runtime);
        gone.recv().unwrap();
    });
    let server = told.recv().unwrap();
    runtime().block_on(async {
        let mut socket = TcpStream::connect(server).await.unwrap();
        let mut answer = Vec::new();
        socket.read_to_end(&mut answer).await.unwrap();
        assert_eq!(answer.len(), 200_000);
    });
    go.send(()).unwrap();
    serves.join().unwrap();
});

#[cct_executor::test(determinism_check = false, poll_limit = "1s")]
async fn with_the_attribute() {
    if std::env::var_os(VARIABLE).is_some() {
        ask(server()).await;
    }
}

#[test]
fn a_test_with_the_attribute_is_run_once() {
    if std::env::var_os(VARIABLE).is_none() {
        passes("with_the_attribute", "explore");
    }
}
