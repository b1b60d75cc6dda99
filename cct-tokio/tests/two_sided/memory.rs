//! Streams in memory, and what is always ready.

use super::Log;
use super::rt;
use rt::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf};
use std::future::poll_fn;
use std::io::IoSlice;
use std::pin::Pin;
use std::task::Poll;

pub(crate) async fn there_and_back(log: Log) {
    let (mut one, mut other) = rt::io::duplex(64);
    let echo = rt::spawn(async move {
        let mut word = [0; 4];
        other.read_exact(&mut word).await.unwrap();
        other.write_all(&word).await.unwrap();
    });
    one.write_all(b"ping").await.unwrap();
    let mut answer = String::new();
    log.result("read", one.read_to_string(&mut answer).await);
    log.note(answer);
    echo.await.unwrap();
    log.result("read at the end", one.read(&mut [0; 4]).await);
    log.os("write to nobody", one.write(b"more").await);
}

pub(crate) async fn little_room(log: Log) {
    let (mut one, mut other) = rt::io::duplex(4);
    let writer = rt::spawn(async move {
        one.write_all(b"ten bytes.").await.unwrap();
        one.shutdown().await.unwrap();
        one.write(b"more").await.map_err(|error| error.kind())
    });
    let mut all = Vec::new();
    let mut longest = 0;
    loop {
        let mut part = [0; 8];
        let count = other.read(&mut part).await.unwrap();
        if count == 0 {
            break;
        }
        longest = longest.max(count);
        all.extend_from_slice(&part[..count]);
    }
    log.note(String::from_utf8(all).unwrap());
    log.note(longest <= 4);
    log.note(format!("{:?}", writer.await.unwrap()));
}

pub(crate) async fn one_direction(log: Log) {
    let (mut read, mut write) = rt::io::simplex(8);
    let parts = [IoSlice::new(b"vec"), IoSlice::new(b"tored, cut")];
    log.result("written", write.write_vectored(&parts).await);
    log.note(write.is_write_vectored());
    let mut word = [0; 16];
    log.result("read", read.read(&mut word).await);
    write.shutdown().await.unwrap();
    log.result("read at the end", read.read(&mut word).await);
    log.os("write after that", write.write(b"x").await);
}

/// How many one-byte reads are ready in one poll.
async fn reads_in_a_poll(mut from: impl AsyncRead + Unpin) -> usize {
    let mut count = 0;
    poll_fn(|cx| {
        while Pin::new(&mut from)
            .poll_read(cx, &mut ReadBuf::new(&mut [0]))
            .is_ready()
        {
            count += 1;
        }
        Poll::Ready(())
    })
    .await;
    count
}

/// How many one-byte writes are ready in one poll.
async fn writes_in_a_poll(mut to: impl AsyncWrite + Unpin) -> usize {
    let mut count = 0;
    poll_fn(|cx| {
        while Pin::new(&mut to).poll_write(cx, b"x").is_ready() {
            count += 1;
        }
        Poll::Ready(())
    })
    .await;
    count
}

pub(crate) async fn budget(log: Log) {
    let (mut one, other) = rt::io::duplex(1000);
    one.write_all(&[7; 1000]).await.unwrap();
    rt::task::yield_now().await;
    log.note(format!("duplex: {}", reads_in_a_poll(other).await));
    rt::task::yield_now().await;
    let (to, _from) = rt::io::duplex(1000);
    log.note(format!("to duplex: {}", writes_in_a_poll(to).await));
    rt::task::yield_now().await;
    log.note(format!("empty: {}", reads_in_a_poll(rt::io::empty()).await));
    rt::task::yield_now().await;
    log.note(format!(
        "repeat: {}",
        reads_in_a_poll(rt::io::repeat(1)).await
    ));
    rt::task::yield_now().await;
    log.note(format!("sink: {}", writes_in_a_poll(rt::io::sink()).await));
}
