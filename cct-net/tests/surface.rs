//! What of `tokio::net` and `tokio::fs` needs neither file descriptors nor tokio's own traits, with its
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
        pub(crate) use tokio::{fs, io, net};
    }

    mod ask;
    mod fs;
    mod net;
}

#[path = "surface"]
mod on_cct {
    pub(crate) mod rt {
        pub(crate) use cct_net as net;
        pub(crate) use cct_net::{fs, io};
    }

    mod ask;
    mod fs;
    mod net;
}
