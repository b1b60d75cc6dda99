//! How UDP works in a world.

use crate::host::hosts;

/// How UDP works in the running world.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether any datagram may be lost, as a choice of the strategy. Off by default.
    pub loss: bool,
    /// Whether any datagram may arrive twice, as a choice of the strategy. Off by default.
    pub duplication: bool,
    /// How many bytes a socket holds that were not received; what finds no room is lost. 208 KiB by
    /// default.
    pub recv_buffer: usize,
    /// Whether datagrams between sockets of one node arrive when they are sent and in that order, as on Linux, and
    /// not when the strategy says so; of those to several nodes, the ones to the node itself. Tasks know of them at
    /// once (those of tokio's that share one thread, between polls). Where the node's link to itself is cut, held or
    /// takes time, or a rule says something of them, that comes first. Off by default: what is to run on several
    /// machines may be tested on one node.
    pub at_once: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            loss: false,
            duplication: false,
            recv_buffer: 208 << 10,
            at_once: false,
        }
    }
}

impl Options {
    /// As on Linux between two sockets of one machine, whose kernel has put a datagram into the receiver's buffer
    /// when the call that sends it returns: [`at_once`](Self::at_once).
    pub fn loopback() -> Options {
        Options {
            at_once: true,
            ..Options::default()
        }
    }
}

/// Has the running world's UDP work like this from now on, unless it was [configured](configure) or presumed
/// before. Does nothing outside a world.
pub fn presume(options: Options) {
    if let Ok(hosts) = hosts() {
        hosts.state.with(|state| {
            state.udp.get_or_insert(options);
        });
    }
}

/// Changes how UDP works in the running world from now on. Does nothing outside a world.
pub fn configure(change: impl FnOnce(&mut Options)) {
    if let Ok(hosts) = hosts() {
        let mut options = hosts.state.with(|state| state.udp());
        change(&mut options);
        hosts.state.with(|state| state.udp = Some(options));
    }
}
