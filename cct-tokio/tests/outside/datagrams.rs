//! Datagrams between a test and threads that have runtimes of their own.

use super::rt;
use rt::net::UdpSocket;
use rt::runtime::Builder;
use rt::time::{Duration, timeout};
use std::future::Future;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};

/// Runs it on a thread, which has a runtime of its own.
fn on_a_thread<F>(make: impl FnOnce() -> F + Send + 'static) -> JoinHandle<()>
where
    F: Future<Output = ()>,
{
    thread::spawn(move || {
        let runtime = Builder::new_current_thread().enable_all().build();
        runtime.unwrap().block_on(make());
    })
}

/// Sends back so many datagrams, to where they came from. Returns the port.
fn server(at: &'static str, count: usize) -> (u16, JoinHandle<()>) {
    let (send, port) = mpsc::channel();
    let thread = on_a_thread(move || async move {
        let socket = UdpSocket::bind((at, 0)).await.unwrap();
        send.send(socket.local_addr().unwrap().port()).unwrap();
        let mut data = [0; 1000];
        for _ in 0..count {
            let (n, from) = socket.recv_from(&mut data).await.unwrap();
            assert!(from.ip().is_loopback());
            assert_eq!(socket.send_to(&data[..n], from).await.unwrap(), n);
        }
    });
    (port.recv().unwrap(), thread)
}

async fn within<T>(future: impl Future<Output = T>) -> T {
    let soon = timeout(Duration::from_secs(5), future).await;
    soon.expect("no answer")
}

/// One is bound to loopback, one to all addresses; who is connected hears from the other alone.
pub(crate) async fn thread_answers() {
    for at in ["127.0.0.1", "0.0.0.0"] {
        let (port, server) = server(at, 20);
        let there = SocketAddr::from((Ipv4Addr::LOCALHOST, port));
        let connected = UdpSocket::bind("127.0.0.1:0").await.unwrap();
        connected.connect(there).await.unwrap();
        let free = UdpSocket::bind("0.0.0.0:0").await.unwrap();
        let mut data = [0; 1000];
        for round in 0..10_u8 {
            connected.send(&[round; 700]).await.unwrap();
            assert_eq!(within(connected.recv(&mut data)).await.unwrap(), 700);
            assert_eq!(data[..700], [round; 700]);
            free.send_to(&[round], there).await.unwrap();
            let answer = within(free.recv_from(&mut data)).await.unwrap();
            assert_eq!((answer, data[0]), ((1, there), round));
        }
        server.join().unwrap();
        // It is gone, and who is connected learns of it; at once, unless a process that is being started has it still.
        let error = loop {
            let mut told = connected.send(b"?").await;
            if told.is_ok() {
                let answer = timeout(Duration::from_millis(200), connected.recv(&mut data));
                let Ok(answer) = answer.await else { continue };
                told = answer;
            }
            if let Err(error) = told {
                break error;
            }
        };
        assert_eq!(error.kind(), ErrorKind::ConnectionRefused);
    }
}

/// Several threads ask a server of the test's, each with a runtime of its own, and each gets its own answers in order.
pub(crate) async fn threads_ask() {
    let server = UdpSocket::bind("127.0.0.1:0").await.unwrap();
    let there = server.local_addr().unwrap();
    let clients = [1, 2, 3].map(|client: u8| {
        on_a_thread(move || async move {
            let socket = UdpSocket::bind("127.0.0.1:0").await.unwrap();
            socket.connect(there).await.unwrap();
            for round in 0..5 {
                socket.send(&[client, round]).await.unwrap();
            }
            for round in 0..5 {
                let mut data = [0; 8];
                let n = within(socket.recv(&mut data)).await.unwrap();
                assert_eq!(data[..n], [client, round]);
            }
        })
    });
    let mut data = [0; 8];
    for _ in 0..15 {
        let (n, from) = within(server.recv_from(&mut data)).await.unwrap();
        server.send_to(&data[..n], from).await.unwrap();
    }
    let joined = rt::task::spawn_blocking(|| clients.map(|client| client.join().unwrap()));
    joined.await.unwrap();
}
