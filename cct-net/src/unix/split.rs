//! The two directions of a connection, apart.

use super::{SocketAddr, UnixStream};
use crate::stream::stream_halves;

stream_halves!(UnixStream, SocketAddr,);
