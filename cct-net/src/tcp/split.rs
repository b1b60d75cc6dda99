//! The two directions of a connection, apart.

use super::TcpStream;
use crate::stream::{peek_methods, stream_halves};
use std::net::SocketAddr;

stream_halves!(TcpStream, SocketAddr, peek_methods!(););
