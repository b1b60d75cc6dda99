//! The real one.

use std::io;
use std::time::Duration;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
pub(crate) use tokio::io::{Interest, Ready};
pub(crate) use tokio::net::*;
pub(crate) use tokio::task::{spawn_blocking, yield_now};
pub(crate) use tokio::time::timeout;

pub(crate) fn spawn<F>(future: F) -> tokio::task::JoinHandle<F::Output>
where
    F: Future + Send + 'static,
    F::Output: Send + 'static,
{
    tokio::spawn(future)
}

pub(crate) async fn read<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> io::Result<usize> {
    s.read(buf).await
}

pub(crate) async fn read_exact<S: AsyncRead + Unpin>(s: &mut S, n: usize) -> io::Result<String> {
    let mut buf = vec![0; n];
    s.read_exact(&mut buf).await?;
    Ok(String::from_utf8(buf).unwrap())
}

pub(crate) async fn read_to_end<S: AsyncRead + Unpin>(s: &mut S) -> io::Result<String> {
    let mut buf = Vec::new();
    s.read_to_end(&mut buf).await?;
    Ok(String::from_utf8(buf).unwrap())
}

pub(crate) async fn write<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> io::Result<usize> {
    s.write(buf).await
}

pub(crate) async fn write_all<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> io::Result<()> {
    s.write_all(buf).await
}

pub(crate) async fn shutdown<S: AsyncWrite + Unpin>(s: &mut S) -> io::Result<()> {
    s.shutdown().await
}

pub(crate) async fn pause() {
    tokio::time::sleep(Duration::from_millis(20)).await;
}

/// A path that nobody uses.
pub(crate) fn path(name: &str) -> std::path::PathBuf {
    let path = std::env::temp_dir().join(format!("cct-net-{}-{name}", std::process::id()));
    let _ = std::fs::remove_file(&path);
    path
}

pub(crate) fn unlink(path: &std::path::Path) -> io::Result<()> {
    std::fs::remove_file(path)
}

pub(crate) async fn poll_peek(socket: &UdpSocket, n: usize) -> io::Result<usize> {
    let mut buf = vec![0; n];
    let mut buf = tokio::io::ReadBuf::new(&mut buf);
    std::future::poll_fn(|cx| socket.poll_peek(cx, &mut buf)).await?;
    Ok(buf.filled().len())
}
