//! Threads that block in the kernel, and hand on what comes.

use crate::tcp::bridge::{Receiver, Sender};
use cct_executor::shim::block_on;
use std::io::{self, Read as _, Write as _};
use std::net::{Shutdown, TcpStream};
use std::thread;

/// Hands on in both directions, until both are over, or one fails.
pub(super) fn pump(mut stream: TcpStream, mut send: Sender, mut recv: Receiver) -> io::Result<()> {
    let mut reading = stream.try_clone()?;
    start(move || receive(&mut reading, &mut send))?;
    send_on(&mut stream, &mut recv)
}

/// What comes from the kernel goes to the world.
fn receive(stream: &mut TcpStream, send: &mut Sender) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = stream.read(&mut bytes)?;
        if count == 0 || !block_on(send.send(&bytes[..count])) {
            return Ok(());
        }
    }
}

/// What comes from the world goes to the kernel.
fn send_on(stream: &mut TcpStream, recv: &mut Receiver) -> io::Result<()> {
    let mut bytes = vec![0; 8 * 1024];
    loop {
        let count = block_on(recv.recv(&mut bytes));
        if count == 0 {
            return stream.shutdown(Shutdown::Write);
        }
        stream.write_all(&bytes[..count])?;
    }
}

/// A thread that counts as the test's. What it fails for, both sides learn by the connection's end.
pub(super) fn start(body: impl FnOnce() -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let builder = thread::Builder::new().name("cct-gate".to_owned());
    builder.spawn(body).map(drop)
}
