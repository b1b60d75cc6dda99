//! Connections of which one side is the kernel's: a client of the standard library, or of C, in the test of a server, and
//! the reverse.
//!
//! To the kernel nobody listens where a world does, and to a world nobody answers where a program accepts by the kernel.
//! In a test that is run once, as threads take part, what is sent on one side goes on at the other, as it does between
//! worlds ([`bridge`](super::bridge)), by threads that are waited for like the test's. In a test that is repeated clients
//! of the kernel's are refused by the world's listeners, and who waits to accept one where nobody could connect fails; it is
//! run once, where it fails for that.
//!
//! Does not: serve other processes, tell a reset from an end, or show either side the other's port.

mod inward;
mod outward;
mod pumps;

pub(super) use inward::{take_queue, watch};
pub(super) use outward::hand_on;
