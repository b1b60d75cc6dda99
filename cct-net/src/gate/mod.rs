//! Connections of which one side is the kernel's: a client or a server of the standard library, of C, or in another
//! process, and the reverse.
//!
//! To the kernel nobody listens where a world does, and to a world nobody answers where a program accepts by the kernel.
//! In a test that is run once, as threads take part, what is sent on one side goes on at the other, as it does between
//! worlds ([`bridge`](crate::tcp::bridge)), by threads that are waited for like the test's:
//! - a listener of the world's that the whole machine could see has one of the kernel's at its address (`listening`), and
//!   in its own process clients are led to the world at once (`inward`);
//! - who connects where nobody of the world listens connects by the kernel (`outward`);
//! - a stream that the standard library has connected or accepted becomes one of the world's (`taken`).
//!
//! In a test that is repeated clients of the kernel's are refused by the world's listeners, and who waits to accept one where
//! nobody could connect fails; it is run once, where it fails for that.
//!
//! Both sides see the same ports, unless somebody else has one of them.
//!
//! Does not: carry datagrams, or tell a reset from an end.

mod inward;
mod listening;
mod outward;
mod pumps;
mod taken;

pub(crate) use inward::watch;
pub(crate) use listening::{Gate, is_own, kernels, listen, serve, serve_path};
pub(crate) use outward::{connect, connect_to_path, hand_on};
pub(crate) use taken::{tcp as take_tcp, unix as take_unix};

use cct_executor::node::{NodeId, current};
use cct_executor::shim::machine_is_open;
use std::net::IpAddr;
use std::time::Duration;

/// A connection inside a machine is there at once, unless the listener has no room for it.
const PATIENCE: Duration = Duration::from_secs(1);

/// Whether a socket of the running task is one of the machine's to everybody else.
pub(crate) fn is_open() -> bool {
    machine_is_open() && current() == NodeId(0)
}

/// Whether such a one at this address is.
fn is_open_at(ip: IpAddr) -> bool {
    (ip.is_loopback() || ip.is_unspecified()) && is_open()
}
