//! What of `tokio::net`, `tokio::fs` and `tokio::signal` needs neither file descriptors nor tokio's own traits, with its
//! signatures: one text that must compile against tokio and against ours. What the names do is the
//! business of the contracts.

#![expect(
    clippy::duplicate_mod,
    reason = "both sides compile the same questions"
)]
#![allow(
    dead_code,
    clippy::unit_arg,
    reason = "nothing here runs: types are asked for"
)]

#[path = "surface"]
mod on_tokio {
    pub(crate) mod rt {
        #[cfg(unix)]
        pub(crate) use tokio::signal;
        pub(crate) use tokio::{fs, io, net};
    }

    mod ask;
    mod fs;
    mod net;
    #[cfg(unix)]
    mod signal;
}

#[path = "surface"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_net as net;
        #[cfg(unix)]
        pub(crate) use cct_net::signal;
        pub(crate) use cct_net::{fs, io};
    }

    mod ask;
    mod fs;
    mod net;
    #[cfg(unix)]
    mod signal;
}
