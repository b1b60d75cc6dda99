//! Ours.

use cct_executor::time::{Duration, sleep};
pub(crate) use cct_net::io::{Interest, Ready};
pub(crate) use cct_net::unix::unlink;
pub(crate) use cct_net::*;
pub(crate) use futures::io::{AsyncRead, AsyncWrite};
use futures::io::{AsyncReadExt, AsyncWriteExt};
use std::io;
use std::path::Path;

/// Time passes when everything that was sent has arrived.
pub(crate) async fn settle() {
    sleep(Duration::from_millis(1)).await;
}

pub(crate) async fn read<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> io::Result<usize> {
    s.read(buf).await
}

pub(crate) async fn read_exact<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> io::Result<()> {
    s.read_exact(buf).await
}

pub(crate) async fn write<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> io::Result<usize> {
    s.write(buf).await
}

pub(crate) async fn write_all<S: AsyncWrite + Unpin>(s: &mut S, buf: &[u8]) -> io::Result<()> {
    s.write_all(buf).await
}

pub(crate) async fn shutdown<S: AsyncWrite + Unpin>(s: &mut S) -> io::Result<()> {
    s.close().await
}

/// Where the sockets of one script have their names; each world has its own.
pub(crate) struct Directory;

impl Directory {
    pub(crate) fn new() -> Directory {
        Directory
    }

    pub(crate) fn path(&self) -> &Path {
        Path::new("/run")
    }
}
