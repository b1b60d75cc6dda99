//! Sockets whose other side is another process, and tests that start their own program again.

use super::taken::path;
use super::{ITSELF, rt};
use crate::other::ROLE;
use rt::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader};
use rt::net::{TcpListener, TcpSocket, TcpStream, UnixListener, UnixStream};
use rt::process::{Child, Command};
use rt::time::{Duration, sleep};
use std::io::ErrorKind;
use std::net;
use std::process::Stdio;

fn again(test: &str, what: &str, at: &str) -> Command {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", test, "--nocapture"]);
    command.env(ROLE, format!("{what} {at}"));
    command.stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// Starts another process, and waits for what it has to tell.
async fn other(what: &str, at: &str) -> (Child, String) {
    let mut command = again("other_process", what, at);
    let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    loop {
        let line = lines.next_line().await.unwrap().expect("it tells");
        if let Some((_, told)) = line.split_once("told ") {
            let told = told.to_owned();
            // Who prints to nobody fails.
            rt::spawn(async move { while let Ok(Some(_)) = lines.next_line().await {} });
            return (child, told);
        }
    }
}

async fn ask(mut stream: impl rt::io::AsyncRead + rt::io::AsyncWrite + Unpin) {
    stream.write_all(b"ping").await.unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    assert_eq!(got, b"ping");
}

pub(crate) async fn is_asked_there() {
    let socket = TcpSocket::new_v4().unwrap();
    socket.bind("127.0.0.1:0".parse().unwrap()).unwrap();
    let any = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = any.local_addr().unwrap().port();
    for (listener, port) in [(socket.listen(8).unwrap(), None), (any, Some(port))] {
        let address = listener.local_addr().unwrap();
        let port = port.unwrap_or(address.port());
        let server = rt::spawn(async move {
            ask(listener.accept().await.unwrap().0).await;
            listener
        });
        let (mut child, told) = other("asks", &format!("127.0.0.1:{port}")).await;
        assert_eq!(told, "well");
        let listener = server.await.unwrap();
        assert!(child.wait().await.unwrap().success());
        // Nobody else gets it.
        let taken = net::TcpListener::bind(address).unwrap_err();
        assert_eq!(taken.kind(), ErrorKind::AddrInUse);
        drop(listener);
        let free = net::TcpListener::bind(address);
        assert!(free.is_ok(), "{free:?}");
    }
}

pub(crate) async fn is_asked_by_path() {
    let path = path("asked");
    let listener = UnixListener::bind(&path).unwrap();
    let taken = UnixListener::bind(&path).unwrap_err();
    assert_eq!(taken.kind(), ErrorKind::AddrInUse);
    let server = rt::spawn(async move { ask(listener.accept().await.unwrap().0).await });
    let (mut child, told) = other("asks-path", path.to_str().unwrap()).await;
    assert_eq!(told, "well");
    server.await.unwrap();
    assert!(child.wait().await.unwrap().success());
    assert!(path.exists());
    std::fs::remove_file(&path).unwrap();
}

pub(crate) async fn asks() {
    let (mut child, address) = other("serves", "127.0.0.1:0").await;
    ask(TcpStream::connect(&address).await.unwrap()).await;
    assert!(child.wait().await.unwrap().success());
    let refused = TcpStream::connect(&address).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
}

pub(crate) async fn asks_by_path() {
    let path = path("serves");
    let missing = UnixStream::connect(&path).await.unwrap_err();
    assert_eq!(missing.kind(), ErrorKind::NotFound);
    let (mut child, _) = other("serves-path", path.to_str().unwrap()).await;
    ask(UnixStream::connect(&path).await.unwrap()).await;
    assert!(child.wait().await.unwrap().success());
    let refused = UnixStream::connect(&path).await.unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::ConnectionRefused);
    std::fs::remove_file(&path).unwrap();
}

/// A test of its own program does there what it does for anybody: once.
pub(crate) async fn starts_itself() {
    for (what, code) in [("exits", 7), ("panics", 101), ("returns", 0)] {
        let output = again(ITSELF, what, "").output().await.unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        assert_eq!(output.status.code(), Some(code), "{what}: {text}");
        assert_eq!(text.matches("told once").count(), 1, "{what}: {text}");
    }
}

/// What that test does.
#[expect(clippy::print_stdout, reason = "it tells")]
pub(crate) async fn itself(what: &str) {
    println!("told once");
    sleep(Duration::from_millis(20)).await;
    match what {
        "exits" => std::process::exit(7),
        "panics" => panic!("as it was told"),
        _ => {}
    }
}
