//! How much streams between two ends on one machine hold before anybody reads.

use super::Log;
use super::rt;
use futures::FutureExt as _;
use rt::io::{AsyncRead, AsyncReadExt as _, AsyncWrite, AsyncWriteExt as _};
use rt::net::{TcpListener, TcpStream, UnixStream};

/// All of `fits` is written before anything is read, and arrives; `too_much` more is not written.
async fn write_then_read(
    log: &Log,
    [fits, too_much]: [usize; 2],
    mut one: impl AsyncWrite + Unpin,
    mut other: impl AsyncRead + Unpin,
) {
    let mut data = vec![7; fits];
    one.write_all(&data).await.unwrap();
    let written = one.write_all(&vec![7; too_much]).now_or_never();
    log.note(written.is_some());
    log.note(other.read_exact(&mut data).await.unwrap());
}

pub(crate) async fn of_connections(log: Log) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let client = TcpStream::connect(address).await.unwrap();
    let (server, _) = listener.accept().await.unwrap();
    write_then_read(&log, [2 << 20, 8 << 20], client, server).await;
}

pub(crate) async fn of_unix_streams(log: Log) {
    let (one, other) = UnixStream::pair().unwrap();
    write_then_read(&log, [180_000, 100_000], one, other).await;
}
