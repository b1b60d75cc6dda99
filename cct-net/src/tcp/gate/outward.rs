//! Clients that are a world's, of listeners that are the kernel's.

use super::pumps::{pump, start};
use crate::tcp::TcpListener;
use crate::tcp::bridge::{carry, pipe};
use cct_executor::task::spawn;
use std::net::{SocketAddr, TcpStream};

/// The program accepts by the kernel. Has each connection to this one, which is in its place, go on there.
pub(in crate::tcp) async fn hand_on(listener: TcpListener, to: SocketAddr) {
    while let Ok((here, _)) = listener.accept().await {
        let (send, theirs) = pipe();
        let (their_send, ours) = pipe();
        let started = start(move || pump(TcpStream::connect(to)?, their_send, theirs));
        if started.is_ok() {
            drop(spawn(carry(here, send, ours)));
        }
    }
}
