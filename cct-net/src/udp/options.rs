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
}

impl Default for Options {
    fn default() -> Options {
        Options {
            loss: false,
            duplication: false,
            recv_buffer: 208 << 10,
        }
    }
}

/// Changes how UDP works in the running world from now on. Does nothing outside a world.
pub fn configure(change: impl FnOnce(&mut Options)) {
    if let Ok(hosts) = hosts() {
        let mut options = hosts.state.with(|state| state.udp);
        change(&mut options);
        hosts.state.with(|state| state.udp = options);
    }
}
