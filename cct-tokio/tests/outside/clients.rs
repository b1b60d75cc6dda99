//! What clients are given that know the kernel's sockets alone, by servers that are tokio's.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::time::{Duration, sleep, timeout};
use std::io::{ErrorKind, Read, Write};
use std::net::{self, Shutdown, SocketAddr};
use std::thread;

/// Answers each connection with how many bytes it has sent, after a while, and then with those.
async fn serve(listener: TcpListener) {
    loop {
        let (mut stream, _) = listener.accept().await.unwrap();
        rt::spawn(async move {
            let mut sent = Vec::new();
            stream.read_to_end(&mut sent).await.unwrap();
            sleep(Duration::from_millis(20)).await;
            let count = u32::try_from(sent.len()).unwrap();
            stream.write_all(&count.to_be_bytes()).await.unwrap();
            stream.write_all(&sent).await.unwrap();
            stream.shutdown().await.unwrap();
        });
    }
}

async fn server() -> SocketAddr {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    rt::spawn(serve(listener));
    address
}

/// Sends so many bytes, and gets them back.
fn ask(server: SocketAddr, count: usize) {
    let mut stream = net::TcpStream::connect(server).unwrap();
    let sent: Vec<u8> = (0..count).map(|i| i.to_le_bytes()[1]).collect();
    stream.write_all(&sent).unwrap();
    stream.shutdown(Shutdown::Write).unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).unwrap();
    let (told, back) = answer.split_at(4);
    assert_eq!(told, u32::try_from(count).unwrap().to_be_bytes());
    assert!(back == sent);
}

pub(crate) async fn in_blocking_task() {
    let server = server().await;
    let client = move || {
        ask(server, 5);
        ask(server, 0);
    };
    rt::task::spawn_blocking(client).await.unwrap();
}

/// Several of them, and more than there is room for on the way.
pub(crate) async fn in_blocking_tasks() {
    let server = server().await;
    let clients =
        [1, 1000, 3 << 20].map(|count| rt::task::spawn_blocking(move || ask(server, count)));
    for client in clients {
        client.await.unwrap();
    }
}

pub(crate) async fn in_thread() {
    let server = server().await;
    let (tell, told) = rt::sync::oneshot::channel();
    thread::spawn(move || {
        ask(server, 100_000);
        tell.send(()).unwrap();
    });
    told.await.unwrap();
}

/// Whom the server has accepted is known there as it knows itself, be it the kernel's or another runtime's.
pub(crate) async fn are_known() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let by_std = move || {
        let stream = net::TcpStream::connect(address).unwrap();
        let known = stream.local_addr().unwrap();
        (stream, known)
    };
    let client = thread::spawn(by_std);
    let (served, from) = listener.accept().await.unwrap();
    let (stream, known) = client.join().unwrap();
    assert_eq!((from, served.peer_addr().unwrap()), (known, known));
    drop(stream);
    let client = thread::spawn(move || {
        let mut builder = rt::runtime::Builder::new_current_thread();
        let runtime = builder.enable_all().build().unwrap();
        runtime.block_on(async {
            let stream = rt::net::TcpStream::connect(address).await.unwrap();
            stream.readable().await.unwrap();
            stream.local_addr().unwrap()
        })
    });
    let (served, from) = listener.accept().await.unwrap();
    drop(served);
    assert_eq!(client.join().unwrap(), from);
}

pub(crate) async fn refuses() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let connects = move || net::TcpStream::connect(address).map(drop);
    let accepting = rt::spawn(async move { listener.accept().await.map(drop) });
    rt::task::spawn_blocking(connects).await.unwrap().unwrap();
    accepting.await.unwrap().unwrap();
    // The listener is gone with its task.
    let error = rt::task::spawn_blocking(connects)
        .await
        .unwrap()
        .unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    let error = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    // Somebody else's.
    let listener = TcpListener::bind(address).await.unwrap();
    let accepting = rt::spawn(async move { listener.accept().await.map(drop) });
    rt::task::spawn_blocking(connects).await.unwrap().unwrap();
    accepting.await.unwrap().unwrap();
}

/// The limit of a read, and of who waits for the client.
pub(crate) async fn has_limits() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = rt::task::spawn_blocking(move || {
        let mut stream = net::TcpStream::connect(address).unwrap();
        let limit = Duration::from_millis(30);
        stream.set_read_timeout(Some(limit)).unwrap();
        let error = stream.read(&mut [0]).unwrap_err();
        assert!(matches!(
            error.kind(),
            ErrorKind::WouldBlock | ErrorKind::TimedOut
        ));
        stream.set_read_timeout(None).unwrap();
        assert_eq!(stream.read(&mut [0]).unwrap(), 1);
    });
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut client = std::pin::pin!(client);
    timeout(Duration::from_millis(200), &mut client)
        .await
        .unwrap_err();
    stream.write_all(b"1").await.unwrap();
    timeout(Duration::from_secs(30), client)
        .await
        .unwrap()
        .unwrap();
}

/// It tries until somebody listens.
pub(crate) async fn tries_again() {
    let free = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = free.local_addr().unwrap();
    drop(free);
    rt::spawn(async move { serve(TcpListener::bind(address).await.unwrap()).await });
    while net::TcpStream::connect(address).is_err() {
        sleep(Duration::from_millis(10)).await;
    }
    rt::task::spawn_blocking(move || ask(address, 5))
        .await
        .unwrap();
}
