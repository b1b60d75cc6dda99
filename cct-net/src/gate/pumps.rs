//! Threads that block in the kernel, and hand on what comes.

use crate::raw::{For, wait_for};
use crate::stream::carried::{Receiver, Sender};
use cct_executor::shim::block_on;
use std::io::{self, ErrorKind, Read as _, Write as _};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::{AsFd, OwnedFd};
use std::thread;

/// A stream of the kernel's, be it one of TCP or a Unix stream: to the calls that are made here they are all the same.
/// Somebody else may have it, too, for whom it must not block.
pub(super) struct Kernels(TcpStream);

impl<S: Into<OwnedFd>> From<S> for Kernels {
    fn from(stream: S) -> Kernels {
        Kernels(TcpStream::from(stream.into()))
    }
}

impl Kernels {
    /// Where its other end is, unless that is at a path.
    pub(super) fn peer(&self) -> Option<SocketAddr> {
        self.0.peer_addr().ok()
    }

    /// Does it once that does not block.
    fn patiently<R>(
        &mut self,
        what: For,
        mut act: impl FnMut(&mut TcpStream) -> io::Result<R>,
    ) -> io::Result<R> {
        loop {
            match act(&mut self.0) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => {
                    wait_for(self.0.as_fd(), what);
                }
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                done => return done,
            }
        }
    }
}

/// Hands on in both directions, until both are over, or one fails.
pub(super) fn pump(mut stream: Kernels, send: Sender, mut recv: Receiver) -> io::Result<()> {
    let reading = Kernels(stream.0.try_clone()?);
    start(move || receive(reading, send))?;
    send_on(&mut stream, &mut recv)
}

/// What comes from the kernel goes to the world.
fn receive(mut stream: Kernels, mut send: Sender) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = stream.patiently(For::Reading, |stream| stream.read(&mut bytes))?;
        if count == 0 || !block_on(send.send(&bytes[..count])) {
            return Ok(());
        }
    }
}

/// What comes from the world goes to the kernel.
fn send_on(stream: &mut Kernels, recv: &mut Receiver) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = block_on(recv.recv(&mut bytes));
        if count == 0 {
            return stream.0.shutdown(Shutdown::Write);
        }
        let mut left = &bytes[..count];
        while !left.is_empty() {
            let written = stream.patiently(For::Writing, |stream| stream.write(left))?;
            left = &left[written..];
        }
    }
}

/// A thread that counts as the test's. What it fails for, both sides learn by the connection's end.
pub(super) fn start(body: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name("cct-gate".to_owned());
    builder.spawn(body).map(drop)
}
