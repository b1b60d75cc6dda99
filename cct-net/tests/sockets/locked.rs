//! Sockets that are polled under a lock of another make, as h2 does.

use super::worlds::{checker, everywhere};
use cct_executor::{Granularity, spawn};
use cct_net::{TcpListener, TcpStream};
use futures::FutureExt;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite};
use std::future::poll_fn;
use std::pin::Pin;
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

type Shared = Arc<Mutex<TcpStream>>;

/// Sends a letter three times. Nobody else may be made to wait for the lock while a poll has it.
async fn repeat(stream: Shared, letter: u8) {
    for _ in 0..3 {
        let count = poll_fn(|cx| {
            let mut stream = stream.lock().unwrap();
            Pin::new(&mut *stream).poll_write(cx, &[letter])
        });
        assert_eq!(count.await.unwrap(), 1);
    }
}

#[test]
fn a_stream_polled_under_a_lock_suspends_nobody() {
    everywhere("locked", 100, |checker| {
        checker.run(|| async {
            let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
            let stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
            let (mut theirs, _) = listener.accept().await.unwrap();
            let stream = Arc::new(Mutex::new(stream));
            let letters = [b'a', b'b'];
            let writers = letters.map(|letter| spawn(repeat(stream.clone(), letter)));
            let mut all = [0; 6];
            theirs.read_exact(&mut all).await.unwrap();
            for writer in writers {
                writer.await.unwrap();
            }
            let end = poll_fn(|cx| {
                let mut stream = stream.lock().unwrap();
                Pin::new(&mut *stream).poll_close(cx)
            });
            end.await.unwrap();
            assert_eq!(theirs.read(&mut all).await.unwrap(), 0);
            all.sort_unstable();
            assert_eq!(&all, b"aaabbb");
        })
    });
}

/// As with `tokio::io::split`: one task reads and another one writes, each under the lock.
#[test]
fn a_stream_whose_halves_share_a_lock_suspends_nobody() {
    for granularity in [Granularity::Await, Granularity::Op] {
        let checker = checker("halves").granularity(granularity).iterations(300);
        let report = checker.run(|| async {
            let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
            let stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
            let (theirs, _) = listener.accept().await.unwrap();
            let echo = spawn(async move {
                let (from, mut to) = theirs.split();
                futures::io::copy(from, &mut to).await
            });
            let stream = Arc::new(Mutex::new(stream));
            let writer = spawn(repeat(stream.clone(), b'a'));
            let mut read = 0;
            while read < 3 {
                let mut bytes = [0; 3];
                let count = poll_fn(|cx| {
                    let mut stream = stream.lock().unwrap();
                    Pin::new(&mut *stream).poll_read(cx, &mut bytes)
                });
                read += count.await.unwrap();
            }
            writer.await.unwrap();
            drop(stream);
            assert_eq!(echo.await.unwrap().unwrap(), 3);
        });
        report.assert_passed();
    }
}

/// A write that is asked once only is lost where the socket is not ready, which takes no threads.
#[test]
fn a_report_does_not_blame_threads_alone_for_a_stream_that_was_not_ready() {
    let report = checker("asked once").iterations(300).run(|| async {
        let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
        let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
        let (mut theirs, _) = listener.accept().await.unwrap();
        let reader = spawn(async move {
            let mut letter = [0];
            theirs.read_exact(&mut letter).await.unwrap();
        });
        poll_fn(|cx| Pin::new(&mut stream).poll_write(cx, b"a").map(drop))
            .now_or_never()
            .unwrap_or_default();
        reader.await.unwrap();
    });
    assert!(report.failure().is_some(), "{}", report.text());
    let hint =
        "or a read or write of a stream that returns `Pending` once more than it has to (here ";
    assert!(report.text().contains(hint), "{}", report.text());
}

/// As hyper does, which flushes, writes, and flushes again: who finds no room twice in one poll waits for it.
#[test]
fn a_poll_that_tries_twice_in_vain_is_at_rest() {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Spawn] {
        let checker = checker("twice").granularity(granularity).iterations(300);
        let report = checker.run(|| async {
            let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
            let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
            let (_theirs, _) = listener.accept().await.unwrap();
            let polls = Arc::new(AtomicU32::new(0));
            let seen = polls.clone();
            spawn(poll_fn(move |cx| {
                seen.fetch_add(1, SeqCst);
                for _ in 0..2 {
                    let mut byte = [0];
                    let _ = Pin::new(&mut stream).poll_read(cx, &mut byte);
                    while let Poll::Ready(count) =
                        Pin::new(&mut stream).poll_write(cx, &[0; 1 << 16])
                    {
                        count.unwrap();
                    }
                }
                Poll::<()>::Pending
            }));
            cct_executor::time::sleep(Duration::from_secs(1)).await;
            let polls = polls.load(SeqCst);
            assert!(polls <= 20, "{polls} polls, and nobody reads");
        });
        report.assert_passed();
    }
}

/// As tokio's, which asks the kernel and does not wait.
#[test]
fn closing_is_ready_at_once() {
    everywhere("closing", 100, |checker| {
        checker.run(|| async {
            let listener = TcpListener::bind("127.0.0.1:80").await.unwrap();
            let mut stream = TcpStream::connect("127.0.0.1:80").await.unwrap();
            let (mut theirs, _) = listener.accept().await.unwrap();
            let busy = spawn(async { cct_executor::task::yield_now().await });
            let closed = poll_fn(|cx| Pin::new(&mut stream).poll_close(cx)).now_or_never();
            closed.expect("it does not wait").unwrap();
            assert_eq!(theirs.read(&mut [0]).await.unwrap(), 0);
            busy.await.unwrap();
        })
    });
}
