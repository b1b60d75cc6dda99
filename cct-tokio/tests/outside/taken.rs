//! Streams that the standard library has connected or accepted, and tokio takes over.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream, UnixListener, UnixStream};
use std::io::{Read as _, Write as _};
use std::net;
use std::os::unix::net as unix_net;
use std::path::PathBuf;
use std::thread;

/// More than there is room for on the way.
const MUCH: usize = 3 << 20;

fn taken(stream: net::TcpStream) -> TcpStream {
    stream.set_nonblocking(true).unwrap();
    TcpStream::from_std(stream).unwrap()
}

/// Sends what it gets, until that is over.
async fn echo(mut stream: impl rt::io::AsyncRead + rt::io::AsyncWrite + Unpin) {
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    stream.write_all(&got).await.unwrap();
    stream.shutdown().await.unwrap();
}

async fn ask(mut stream: impl rt::io::AsyncRead + rt::io::AsyncWrite + Unpin, count: usize) {
    let sent: Vec<u8> = (0..count).map(|i| i.to_le_bytes()[1]).collect();
    stream.write_all(&sent).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut got = Vec::new();
    stream.read_to_end(&mut got).await.unwrap();
    assert!(got == sent);
}

pub(crate) async fn was_connected() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let server = rt::spawn(async move {
        for _ in 0..2 {
            let (stream, _) = listener.accept().await.unwrap();
            echo(stream).await;
        }
    });
    for count in [5, MUCH] {
        let stream = net::TcpStream::connect(address).unwrap();
        stream.set_nodelay(true).unwrap();
        let names = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        let stream = taken(stream);
        assert!(stream.nodelay().unwrap());
        let known = (stream.local_addr().unwrap(), stream.peer_addr().unwrap());
        assert_eq!(known, names);
        ask(stream, count).await;
    }
    server.await.unwrap();
}

pub(crate) async fn was_accepted() {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let client = rt::spawn(async move { ask(TcpStream::connect(address).await.unwrap(), 7).await });
    let accept = move || listener.accept().unwrap().0;
    let stream = rt::task::spawn_blocking(accept).await.unwrap();
    echo(taken(stream)).await;
    client.await.unwrap();
}

/// The other side is told when a task drops it.
pub(crate) async fn is_dropped() {
    let (mut ours, theirs) = unix_net::UnixStream::pair().unwrap();
    theirs.set_nonblocking(true).unwrap();
    let mut theirs = UnixStream::from_std(theirs).unwrap();
    let reading = thread::spawn(move || {
        ours.write_all(b"to ").unwrap();
        let mut got = String::new();
        ours.read_to_string(&mut got).unwrap();
        got
    });
    theirs.read_exact(&mut [0; 3]).await.unwrap();
    theirs.write_all(b"fro").await.unwrap();
    drop(theirs);
    let got = rt::task::spawn_blocking(move || reading.join().unwrap());
    assert_eq!(got.await.unwrap(), "fro");
}

pub(crate) fn path(name: &str) -> PathBuf {
    let file = format!("{name}-{}", std::process::id());
    std::env::temp_dir().join(file)
}

pub(crate) async fn is_of_unix() {
    let path = path("taken");
    let listener = UnixListener::bind(&path).unwrap();
    let server = rt::spawn(async move { echo(listener.accept().await.unwrap().0).await });
    let stream = unix_net::UnixStream::connect(&path).unwrap();
    stream.set_nonblocking(true).unwrap();
    let stream = UnixStream::from_std(stream).unwrap();
    let peer = stream.peer_addr().unwrap();
    assert_eq!(peer.as_pathname(), Some(&*path));
    ask(stream, MUCH).await;
    server.await.unwrap();
    std::fs::remove_file(&path).unwrap();
}

/// A thread with a runtime of its own asks at the path of a listener of the test's.
pub(crate) async fn is_elsewhere() {
    let path = path("elsewhere");
    let listener = UnixListener::bind(&path).unwrap();
    let there = path.clone();
    let client = thread::spawn(move || {
        let mut builder = rt::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async { ask(UnixStream::connect(&there).await.unwrap(), 100).await });
    });
    echo(listener.accept().await.unwrap().0).await;
    rt::task::spawn_blocking(move || client.join().unwrap())
        .await
        .unwrap();
    std::fs::remove_file(&path).unwrap();
}
