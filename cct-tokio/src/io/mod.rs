//! `tokio::io`: its own traits and utilities.

pub use cct_net::io::{Interest, Ready};
pub use real_tokio::io::*;
