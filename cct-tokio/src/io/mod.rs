//! `tokio::io`: its own traits and utilities. Streams in memory have scheduling points besides.

mod always;
mod memory;

pub use always::{Empty, Repeat, Sink, empty, repeat, sink};
pub use cct_net::io::{Interest, Ready};
pub use memory::{DuplexStream, SimplexStream, duplex, simplex};
pub use real_tokio::io::*;
