//! Sockets in the hands of threads that have no runtime: what they do with them, or drop, reaches the others.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream, UdpSocket};
use std::thread;

async fn connected() -> (TcpStream, TcpStream) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).await.unwrap();
    (client, listener.accept().await.unwrap().0)
}

pub(crate) async fn threads_drop() {
    let (mut client, server) = connected().await;
    let thread = thread::spawn(move || drop(server));
    assert_eq!(client.read(&mut [0]).await.unwrap(), 0);
    thread.join().unwrap();
    let (client, mut server) = connected().await;
    let (mut read, write) = client.into_split();
    let thread = thread::spawn(move || drop(write));
    assert_eq!(server.read(&mut [0]).await.unwrap(), 0);
    thread.join().unwrap();
    server.write_all(b"the other way").await.unwrap();
    drop(server);
    let mut text = String::new();
    read.read_to_string(&mut text).await.unwrap();
    assert_eq!(text, "the other way");
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = TcpStream::connect(address).await.unwrap();
    let thread = thread::spawn(move || drop(listener));
    waiting.read(&mut [0]).await.unwrap_err();
    thread.join().unwrap();
    TcpStream::connect(address).await.unwrap_err();
}

pub(crate) async fn threads_write() {
    let (mut client, server) = connected().await;
    server.writable().await.unwrap();
    let thread = thread::spawn(move || {
        assert_eq!(server.try_write(b"one, ").unwrap(), 5);
        assert_eq!(server.try_write(b"two").unwrap(), 3);
        server
    });
    let mut text = [0; 8];
    client.read_exact(&mut text).await.unwrap();
    assert_eq!(&text, b"one, two");
    drop(thread.join().unwrap());
    let one = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let two = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    one.writable().await.unwrap();
    let address = two.local_addr().unwrap();
    let thread = thread::spawn(move || one.try_send_to(b"three", address).unwrap());
    assert_eq!(two.recv(&mut text).await.unwrap(), 5);
    thread.join().unwrap();
}
