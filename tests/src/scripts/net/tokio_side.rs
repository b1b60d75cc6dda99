//! The real one, over loopback.

pub(crate) use cct_tests::fuzz::settle_on_tokio as settle;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};
pub(crate) use tokio::io::{AsyncRead, AsyncWrite};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
pub(crate) use tokio::io::{Interest, Ready};
pub(crate) use tokio::net::*;

pub(crate) async fn read<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> io::Result<usize> {
    s.read(buf).await
}

pub(crate) async fn read_exact<S: AsyncRead + Unpin>(s: &mut S, buf: &mut [u8]) -> io::Result<()> {
    s.read_exact(buf).await.map(drop)
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

/// Where the sockets of one script have their names; gone when this is dropped.
pub(crate) struct Directory(PathBuf);

impl Directory {
    pub(crate) fn new() -> Directory {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let name = format!("cct-fuzz-{}-{number}", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::create_dir_all(&path).expect("a directory for sockets");
        Directory(path)
    }

    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Directory {
    fn drop(&mut self) {
        // What is left of it is in nobody's way.
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn unlink(path: &Path) -> io::Result<()> {
    std::fs::remove_file(path)
}
