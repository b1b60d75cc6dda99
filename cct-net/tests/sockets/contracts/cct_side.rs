//! Ours.

pub(crate) use cct_executor::task::{spawn_blocking, yield_now};
pub(crate) use cct_executor::time::timeout;
pub(crate) use cct_net::io::{Interest, Ready};
pub(crate) use cct_net::*;
use futures::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use std::time::Duration;

type Result<T> = std::io::Result<T>;

pub(crate) fn spawn<F>(future: F) -> cct_executor::task::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    cct_executor::spawn(future)
}

pub(crate) async fn read<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> Result<usize> {
    s.read(buf).await
}

pub(crate) async fn read_exact<S: AsyncRead + Unpin>(s: &mut S, n: usize) -> Result<String> {
    let mut buf = vec![0; n];
    s.read_exact(&mut buf).await?;
    Ok(String::from_utf8(buf).unwrap())
}

pub(crate) async fn read_to_end<S: AsyncRead + Unpin>(s: &mut S) -> Result<String> {
    let mut buf = Vec::new();
    s.read_to_end(&mut buf).await?;
    Ok(String::from_utf8(buf).unwrap())
}

pub(crate) async fn write<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> Result<usize> {
    s.write(buf).await
}

pub(crate) async fn write_all<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> Result<()> {
    s.write_all(buf).await
}

pub(crate) async fn shutdown<S: AsyncWrite + Unpin>(s: &mut S) -> Result<()> {
    s.close().await
}

pub(crate) async fn pause() {
    cct_executor::time::sleep(Duration::from_millis(20)).await;
}

/// A path that nobody uses.
pub(crate) fn path(name: &str) -> std::path::PathBuf {
    std::path::PathBuf::from("/run").join(name)
}

pub(crate) fn unlink(path: &std::path::Path) -> Result<()> {
    cct_net::unix::unlink(path)
}

pub(crate) async fn poll_peek(socket: &UdpSocket, n: usize) -> std::io::Result<usize> {
    let mut buf = vec![0; n];
    std::future::poll_fn(|cx| socket.poll_peek(cx, &mut buf)).await
}
