//! What copies: what it asks of a reader and of a writer, in which order, and how much a poll does.

use super::Log;
use super::rt::io::{
    self as tokio_io, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, ReadBuf, copy,
    copy_bidirectional_with_sizes, copy_buf,
};
use std::cell::Cell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::pin::{Pin, pin};
use std::task::{Context, Poll};

/// What a stream does next.
#[derive(Clone, Copy)]
enum Next {
    Bytes(usize),
    Wait,
    Fail(ErrorKind),
}
use Next::{Bytes, Fail, Wait};

/// A stream that does what it is told, notes what it is asked, and is at its end after that.
struct Told<'a> {
    log: &'a Log,
    name: &'static str,
    next: VecDeque<Next>,
}

impl<'a> Told<'a> {
    fn new(log: &'a Log, name: &'static str, next: &[Next]) -> Told<'a> {
        let next = next.iter().copied().collect();
        Told { log, name, next }
    }

    fn answer(&mut self, cx: &mut Context<'_>, otherwise: usize) -> Poll<io::Result<usize>> {
        match self.next.pop_front().unwrap_or(Bytes(otherwise)) {
            Bytes(count) => Poll::Ready(Ok(count)),
            Fail(kind) => Poll::Ready(Err(kind.into())),
            Wait => {
                cx.waker().wake_by_ref();
                Poll::Pending
            }
        }
    }
}

impl AsyncRead for Told<'_> {
    fn poll_read(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buf: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let told = self.get_mut();
        told.log
            .note(format!("{} reads {}", told.name, buf.remaining()));
        told.answer(cx, 0).map_ok(|count| {
            let count = count.min(buf.remaining());
            buf.put_slice(&vec![7; count]);
        })
    }
}

impl AsyncWrite for Told<'_> {
    fn poll_write(
        self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let told = self.get_mut();
        told.log
            .note(format!("{} writes {}", told.name, bytes.len()));
        told.answer(cx, bytes.len())
            .map_ok(|count| count.min(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.log.note(format!("{} flushes", self.name));
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.log.note(format!("{} shuts down", self.name));
        Poll::Ready(Ok(()))
    }
}

fn copied<T: std::fmt::Debug>(log: &Log, result: io::Result<T>) {
    log.note(format!(
        "{:?}",
        result.map_err(|error| (error.kind(), error.to_string()))
    ));
}

pub(crate) async fn order(log: Log) {
    let mut reader = Told::new(
        &log,
        "r",
        &[Bytes(10), Wait, Bytes(5), Wait, Wait, Bytes(9000)],
    );
    let mut writer = Told::new(&log, "w", &[Bytes(4), Wait, Bytes(6), Wait]);
    copied(&log, copy(&mut reader, &mut writer).await);
}

pub(crate) async fn failures(log: Log) {
    use ErrorKind::{Interrupted, InvalidData};
    for (read, write) in [
        (
            &[Bytes(3), Fail(Interrupted), Fail(InvalidData)][..],
            &[][..],
        ),
        (
            &[Bytes(3)],
            &[Fail(Interrupted), Bytes(1), Fail(InvalidData)],
        ),
        (&[Bytes(3)], &[Bytes(0)]),
        (&[Bytes(3), Wait, Fail(InvalidData)], &[Wait]),
    ] {
        let (mut reader, mut writer) = (Told::new(&log, "r", read), Told::new(&log, "w", write));
        copied(&log, copy(&mut reader, &mut writer).await);
        let mut reader = tokio_io::BufReader::new(Told::new(&log, "r", read));
        let mut writer = Told::new(&log, "w", write);
        copied(&log, copy_buf(&mut reader, &mut writer).await);
    }
}

pub(crate) async fn both_ways(log: Log) {
    let mut a = Told::new(&log, "a", &[Bytes(3), Wait, Bytes(2), Wait]);
    let mut b = Told::new(&log, "b", &[Wait, Bytes(3), Bytes(1), Wait]);
    copied(
        &log,
        copy_bidirectional_with_sizes(&mut a, &mut b, 2, 4).await,
    );
    let mut a = Told::new(&log, "a", &[Wait, Fail(ErrorKind::InvalidData)]);
    let mut b = Told::new(&log, "b", &[Bytes(1), Wait]);
    copied(
        &log,
        copy_bidirectional_with_sizes(&mut a, &mut b, 2, 4).await,
    );
}

pub(crate) async fn streams(log: Log) {
    let (mut near, mut a) = tokio_io::duplex(8);
    let (mut b, mut far) = tokio_io::duplex(8);
    let between = async {
        let result = tokio_io::copy_bidirectional(&mut a, &mut b).await;
        log.note(format!("{:?}", result.unwrap()));
    };
    let ends = async {
        near.write_all(b"hello").await.unwrap();
        near.shutdown().await.unwrap();
        let mut text = String::new();
        far.read_to_string(&mut text).await.unwrap();
        far.write_all(b"and a longer answer").await.unwrap();
        drop(far);
        near.read_to_string(&mut text).await.unwrap();
        log.note(text);
    };
    super::rt::join!(between, ends);
}

/// How often an operation that is always ready can be done before it has to give way.
async fn in_a_poll<F: Future>(operation: impl Fn() -> F) -> usize {
    let count = Cell::new(0);
    let mut always = pin!(async {
        loop {
            operation().await;
            count.set(count.get() + 1);
        }
    });
    poll_fn(|cx| {
        let polled: Poll<()> = always.as_mut().poll(cx);
        assert!(polled.is_pending());
        Poll::Ready(())
    })
    .await;
    count.get()
}

pub(crate) async fn budget(log: Log) {
    let copies = in_a_poll(|| async {
        copy(&mut &b"hello"[..], &mut Vec::new()).await.unwrap();
    });
    log.note(copies.await);
    super::rt::task::yield_now().await;
    let copies = in_a_poll(|| async {
        copy_buf(&mut &b"hello"[..], &mut Vec::new()).await.unwrap();
    });
    log.note(copies.await);
    super::rt::task::yield_now().await;
    let copies = in_a_poll(|| async {
        let mut a = tokio_io::join(&b"hello"[..], Vec::new());
        let mut b = tokio_io::join(&b"hello"[..], Vec::new());
        tokio_io::copy_bidirectional(&mut a, &mut b).await.unwrap();
    });
    log.note(copies.await);
}
