//! What of `tokio::fs`, `tokio::io` and `tokio::process` takes tokio's I/O traits or is a descriptor.

use super::ask::*;
use super::rt::io::unix::{AsyncFd, AsyncFdReadyGuard, AsyncFdReadyMutGuard, TryIoError};
use super::rt::io::{
    AsyncRead, AsyncSeek, AsyncWrite, Interest, Ready, Stderr, Stdin, Stdout, stderr, stdin, stdout,
};
use super::rt::net::unix::pipe;
use super::rt::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use super::rt::{fs, process};
use std::cell::Cell;
use std::io;
use std::os::fd::{AsFd, AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::process::{ExitStatus, Output, Stdio};

fn everybody<T: Send + Sync + Unpin + std::fmt::Debug>() {}
fn descriptor<T: AsFd + AsRawFd>() {}
fn reads<T: AsyncRead>() {}
fn writes<T: AsyncWrite>() {}
fn becomes_stdio<T: TryInto<Stdio, Error = io::Error>>() {}

pub(crate) fn files() {
    everybody::<fs::File>();
    everybody::<fs::OpenOptions>();
    everybody::<fs::DirBuilder>();
    everybody::<fs::ReadDir>();
    everybody::<fs::DirEntry>();
    descriptor::<fs::File>();
    reads::<fs::File>();
    writes::<fs::File>();
    fn seeks<T: AsyncSeek>() {}
    seeks::<fs::File>();
    fn made<T: From<std::fs::File> + From<OwnedFd> + FromRawFd>() {}
    made::<fs::File>();
    let _ = |file: fs::File| is::<Result<std::fs::File, fs::File>>(file.try_into_std());
    let _ = |file: fs::File| sent::<std::fs::File>(file.into_std());
    let _ = |file: &fs::File| sent::<io::Result<std::fs::Metadata>>(file.metadata());
}

pub(crate) fn streams() {
    everybody::<Stdin>();
    everybody::<Stdout>();
    everybody::<Stderr>();
    descriptor::<Stdin>();
    descriptor::<Stdout>();
    descriptor::<Stderr>();
    reads::<Stdin>();
    writes::<Stdout>();
    writes::<Stderr>();
    let _ = || {
        (
            is::<Stdin>(stdin()),
            is::<Stdout>(stdout()),
            is::<Stderr>(stderr()),
        )
    };
}

struct Owned(
    OwnedFd,
    #[expect(dead_code, reason = "is not `Sync`")] Cell<u8>,
);

impl AsRawFd for Owned {
    fn as_raw_fd(&self) -> RawFd {
        self.0.as_raw_fd()
    }
}

pub(crate) fn descriptors() {
    everybody::<AsyncFd<OwnedFd>>();
    everybody::<AsyncFdReadyGuard<'_, OwnedFd>>();
    everybody::<AsyncFdReadyMutGuard<'_, OwnedFd>>();
    descriptor::<AsyncFd<OwnedFd>>();
    let _ = |fd: &'static AsyncFd<OwnedFd>| {
        sent::<io::Result<AsyncFdReadyGuard<'_, OwnedFd>>>(fd.readable());
        sent::<io::Result<u8>>(fd.async_io(Interest::READABLE, |_| Ok(1)));
        is::<&OwnedFd>(fd.get_ref());
    };
    // Who may go to another thread may wait there, whether or not two threads may see it.
    let _ = |fd: &'static mut AsyncFd<Owned>| {
        sent::<io::Result<AsyncFdReadyMutGuard<'_, Owned>>>(fd.readable_mut());
    };
    let _ = |fd: &'static mut AsyncFd<Owned>| {
        sent::<io::Result<AsyncFdReadyMutGuard<'_, Owned>>>(fd.writable_mut());
    };
    let _ = |guard: &mut AsyncFdReadyGuard<'static, OwnedFd>| {
        is::<Ready>(guard.ready());
        is::<Result<io::Result<u8>, TryIoError>>(guard.try_io(|_| Ok(1)));
        is::<&'static OwnedFd>(guard.get_inner());
    };
}

pub(crate) fn pipes() {
    everybody::<pipe::Sender>();
    everybody::<pipe::Receiver>();
    everybody::<pipe::OpenOptions>();
    descriptor::<pipe::Sender>();
    descriptor::<pipe::Receiver>();
    writes::<pipe::Sender>();
    reads::<pipe::Receiver>();
}

pub(crate) fn processes() {
    everybody::<Command>();
    everybody::<Child>();
    writes::<ChildStdin>();
    reads::<ChildStdout>();
    reads::<ChildStderr>();
    descriptor::<ChildStdin>();
    becomes_stdio::<ChildStdin>();
    becomes_stdio::<ChildStdout>();
    becomes_stdio::<ChildStderr>();
    let _ = |command: &mut Command| {
        sent::<io::Result<ExitStatus>>(command.arg("a").uid(1).status());
        sent::<io::Result<Output>>(command.output());
        is::<io::Result<Child>>(command.spawn());
    };
    let _ = |child: &'static mut Child| sent::<io::Result<ExitStatus>>(child.wait());
    let _ = |child: Child| {
        sent::<io::Result<process::ChildStdin>>(async move { Ok(child.stdin.unwrap()) })
    };
}
