//! What clients that are tokio's are given by servers that know the kernel's sockets alone.

use super::rt;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags, EpollTimeout};
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::time::{Duration, timeout};
use std::io::{ErrorKind, Read, Write};
use std::net::{self, SocketAddr};
use std::os::fd::AsFd;
use std::thread;

fn listening() -> (net::TcpListener, SocketAddr) {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    (listener, address)
}

/// Sends back what one client sends, after a while, and its count first.
fn serve(listener: &net::TcpListener) {
    let (mut stream, _) = listener.accept().unwrap();
    let mut sent = Vec::new();
    stream.read_to_end(&mut sent).unwrap();
    thread::sleep(Duration::from_millis(20));
    let count = u32::try_from(sent.len()).unwrap();
    stream.write_all(&count.to_be_bytes()).unwrap();
    stream.write_all(&sent).unwrap();
}

/// Sends so many bytes, and gets them back.
async fn ask(server: SocketAddr, count: usize) {
    let mut stream = TcpStream::connect(server).await.unwrap();
    let sent: Vec<u8> = (0..count).map(|i| i.to_le_bytes()[1]).collect();
    stream.write_all(&sent).await.unwrap();
    stream.shutdown().await.unwrap();
    let mut answer = Vec::new();
    stream.read_to_end(&mut answer).await.unwrap();
    let (told, back) = answer.split_at(4);
    assert_eq!(told, u32::try_from(count).unwrap().to_be_bytes());
    assert!(back == sent);
}

pub(crate) async fn thread_serves() {
    let (listener, address) = listening();
    let server = thread::spawn(move || (0..3).for_each(|_| serve(&listener)));
    for count in [1, 0, 3 << 20] {
        timeout(Duration::from_secs(20), ask(address, count))
            .await
            .unwrap();
    }
    server.join().unwrap();
    // The listener is gone with its thread.
    let error = TcpStream::connect(address).await.unwrap_err();
    assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
}

pub(crate) async fn blocking_task_serves() {
    let (listener, address) = listening();
    let server = rt::task::spawn_blocking(move || (0..2).for_each(|_| serve(&listener)));
    let clients = [5, 100_000].map(|count| rt::spawn(ask(address, count)));
    for client in clients {
        client.await.unwrap();
    }
    server.await.unwrap();
}

/// The server asks again and again whether anybody has connected.
pub(crate) async fn thread_looks() {
    let (listener, address) = listening();
    listener.set_nonblocking(true).unwrap();
    thread::spawn(move || {
        let mut stream = loop {
            match listener.accept() {
                Ok((stream, _)) => break stream,
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    thread::sleep(Duration::from_millis(1));
                }
                Err(error) => panic!("{error}"),
            }
        };
        stream.set_nonblocking(false).unwrap();
        stream.write_all(b"hello").unwrap();
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert_eq!(answer, "hello");
}

/// A thread asks the kernel to be told who connects, and another one serves them with a runtime of its own.
async fn told_by(wait: impl FnOnce(&net::TcpListener) + Send + 'static) {
    let (listener, address) = listening();
    listener.set_nonblocking(true).unwrap();
    let (send, mut accepted) = rt::sync::mpsc::unbounded_channel::<net::TcpStream>();
    thread::spawn(move || {
        let mut builder = rt::runtime::Builder::new_current_thread();
        builder.enable_all().build().unwrap().block_on(async move {
            while let Some(stream) = accepted.recv().await {
                stream.set_nonblocking(true).unwrap();
                let mut stream = TcpStream::from_std(stream).unwrap();
                stream.write_all(b"hello").await.unwrap();
                let _ = stream.read(&mut [0]).await;
            }
        });
    });
    thread::spawn(move || {
        wait(&listener);
        let _ = send.send(listener.accept().unwrap().0);
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = [0; 5];
    let read = stream.read_exact(&mut answer);
    let within = timeout(Duration::from_secs(10), read).await;
    within.unwrap().unwrap();
    assert_eq!(&answer, b"hello");
}

pub(crate) async fn thread_polls() {
    told_by(|listener| {
        let mut asked = [PollFd::new(listener.as_fd(), PollFlags::POLLIN)];
        poll(&mut asked, PollTimeout::NONE).unwrap();
    })
    .await;
}

pub(crate) async fn thread_is_told() {
    told_by(|listener| {
        let epoll = Epoll::new(EpollCreateFlags::empty()).unwrap();
        let event = EpollEvent::new(EpollFlags::EPOLLIN, 0);
        epoll.add(listener, event).unwrap();
        let mut events = [EpollEvent::empty()];
        epoll.wait(&mut events, EpollTimeout::NONE).unwrap();
    })
    .await;
}

/// Who waits longer for an answer than it takes has it, and who does not, not.
pub(crate) async fn limits() {
    let (listener, address) = listening();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        let mut asked = [0];
        while stream.read_exact(&mut asked).is_ok() {
            thread::sleep(Duration::from_millis(150));
            stream.write_all(&asked).unwrap();
        }
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut answer = [0];
    stream.write_all(b"1").await.unwrap();
    let read = timeout(Duration::from_secs(10), stream.read_exact(&mut answer)).await;
    read.unwrap().unwrap();
    stream.write_all(b"2").await.unwrap();
    let read = timeout(Duration::from_millis(20), stream.read_exact(&mut answer)).await;
    read.unwrap_err();
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"2");
}

/// What is accepted by one side, and then by the other.
pub(crate) async fn is_taken_over() {
    let (listener, address) = listening();
    let first = rt::spawn(ask(address, 3));
    let server = rt::task::spawn_blocking(move || {
        serve(&listener);
        listener
    });
    first.await.unwrap();
    let listener = server.await.unwrap();
    // In the kernel's queue when it is taken over.
    let early = rt::task::spawn_blocking(move || {
        let mut stream = net::TcpStream::connect(address).unwrap();
        stream.write_all(b"early").unwrap();
        stream
    });
    let mut early = early.await.unwrap();
    listener.set_nonblocking(true).unwrap();
    let listener = TcpListener::from_std(listener).unwrap();
    let mut asked = [0; 5];
    let (mut stream, _) = listener.accept().await.unwrap();
    stream.read_exact(&mut asked).await.unwrap();
    assert_eq!(&asked, b"early");
    stream.write_all(b"late").await.unwrap();
    drop(stream);
    let answer = rt::task::spawn_blocking(move || {
        let mut answer = String::new();
        early.read_to_string(&mut answer).map(|_| answer)
    });
    assert_eq!(answer.await.unwrap().unwrap(), "late");
    let (late, accepted) = rt::join!(TcpStream::connect(address), listener.accept());
    late.unwrap();
    accepted.unwrap();
}

/// At a path of the machine, accepted by the test itself.
pub(crate) async fn path_is_served() {
    let name = format!("cct-served-{}", std::process::id());
    let path = std::env::temp_dir().join(name);
    let listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
    let mut stream = rt::net::UnixStream::connect(&path).await.unwrap();
    let (mut accepted, _) = listener.accept().unwrap();
    accepted.write_all(b"hello").unwrap();
    let mut answer = [0; 5];
    stream.read_exact(&mut answer).await.unwrap();
    assert_eq!(&answer, b"hello");
    std::fs::remove_file(&path).unwrap();
}
