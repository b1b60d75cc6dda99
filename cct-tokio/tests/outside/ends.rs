//! Threads with runtimes of their own that end once they have written: what they wrote arrives.

use super::rt;
use rt::io::{AsyncReadExt, AsyncWriteExt};
use rt::net::{TcpListener, TcpStream};
use rt::runtime::Runtime;
use std::io::Read;
use std::net;
use std::thread;
use std::time::Duration;

const SAID: &[u8] = b"the last words";

fn runtime() -> Runtime {
    let mut builder = rt::runtime::Builder::new_current_thread();
    builder.enable_all().build().unwrap()
}

/// What comes to a listener by one connection, to its end.
async fn hear(listener: &TcpListener) -> Vec<u8> {
    let (mut stream, _) = listener.accept().await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    heard
}

pub(crate) async fn connect_and_write() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = thread::spawn(move || {
        runtime().block_on(async {
            let mut stream = TcpStream::connect(address).await.unwrap();
            stream.write_all(SAID).await.unwrap();
        });
    });
    assert_eq!(hear(&listener).await, SAID);
    client.join().unwrap();
}

/// Not even the runtime's thread is left when the connection is accepted.
pub(crate) async fn connect_and_are_gone() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let (tell, told) = rt::sync::oneshot::channel();
    thread::spawn(move || {
        {
            let runtime = Runtime::new().unwrap();
            runtime.block_on(async {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(SAID).await.unwrap();
            });
            runtime.shutdown_background();
        }
        thread::sleep(Duration::from_millis(20));
        tell.send(()).unwrap();
    });
    told.await.unwrap();
    assert_eq!(hear(&listener).await, SAID);
}

/// The thread goes on with another runtime.
pub(crate) async fn go_on_with_another() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = thread::spawn(move || {
        for _ in 0..3 {
            runtime().block_on(async {
                let mut stream = TcpStream::connect(address).await.unwrap();
                stream.write_all(SAID).await.unwrap();
            });
        }
    });
    for _ in 0..3 {
        assert_eq!(hear(&listener).await, SAID);
    }
    client.join().unwrap();
}

/// A stream that the standard library has accepted is taken over by a thread.
pub(crate) async fn take_over_and_write() {
    let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let server = thread::spawn(move || {
        let (stream, _) = listener.accept().unwrap();
        stream.set_nonblocking(true).unwrap();
        runtime().block_on(async move {
            let mut stream = TcpStream::from_std(stream).unwrap();
            stream.write_all(SAID).await.unwrap();
        });
    });
    let mut stream = TcpStream::connect(address).await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    assert_eq!(heard, SAID);
    server.join().unwrap();
}

/// More than fits between the two at once, by a thread that answers and ends.
pub(crate) async fn answer_at_length() {
    const COUNT: usize = 1 << 20;
    let (tell, told) = rt::sync::oneshot::channel();
    let server = thread::spawn(move || {
        runtime().block_on(async {
            let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
            tell.send(listener.local_addr().unwrap()).unwrap();
            let (mut stream, _) = listener.accept().await.unwrap();
            let asked = stream.read_u8().await.unwrap();
            stream.write_all(&vec![asked; COUNT]).await.unwrap();
        });
    });
    let mut stream = TcpStream::connect(told.await.unwrap()).await.unwrap();
    stream.write_u8(7).await.unwrap();
    let mut heard = Vec::new();
    stream.read_to_end(&mut heard).await.unwrap();
    assert!(heard.len() == COUNT && heard.iter().all(|&byte| byte == 7));
    server.join().unwrap();
}

/// The program accepts by itself, when the runtime of who has connected is gone. Both know each other.
pub(crate) async fn are_accepted_by_std() {
    let accepts = thread::spawn(|| {
        let listener = net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let client = runtime().block_on(async {
            let mut client = TcpStream::connect(address).await.unwrap();
            client.write_all(SAID).await.unwrap();
            client
        });
        let (mut stream, from) = listener.accept().unwrap();
        assert_eq!(client.local_addr().unwrap(), from);
        assert_eq!(client.peer_addr().unwrap(), stream.local_addr().unwrap());
        let mut heard = [0; SAID.len()];
        stream.read_exact(&mut heard).unwrap();
        assert_eq!(heard, SAID);
        // It is accepted while there is a runtime, too.
        let other = thread::spawn(move || listener.accept().unwrap().1);
        runtime().block_on(async {
            let client = TcpStream::connect(address).await.unwrap();
            assert_eq!(client.local_addr().unwrap(), other.join().unwrap());
        });
    });
    accepts.join().unwrap();
}
