//! Names of hosts: the table they are looked up in, `lookup_host`, and `ToSocketAddrs`.
//!
//! Every node that [`node`](crate::node()) makes is in the table under its name; `localhost` is the
//! node itself. What is looked up is found at once; an answer that takes time is a `sleep` in the
//! test.

mod addrs;

pub use addrs::ToSocketAddrs;
pub(crate) use addrs::each;

use crate::host::hosts;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::panic::Location;

/// Looks a name up, with a port: `"db-1:5432"`, or `("db-1", 5432)`.
///
/// # Scheduling points
/// One, before a name is looked up; none for an address.
///
/// # Cancel safety
/// Safe: nothing is lost.
///
/// # Errors
/// When there is no such name; `InvalidInput` for a text without port.
#[track_caller]
pub fn lookup_host<T: ToSocketAddrs>(
    host: T,
) -> impl Future<Output = io::Result<impl Iterator<Item = SocketAddr>>> {
    let site = Location::caller();
    let query = host.query();
    async move { Ok(addrs::resolve(query, site).await?.into_iter()) }
}

/// Makes a name stand for these addresses in the running world, whatever it stood for before. Does
/// nothing outside a world.
pub fn insert(name: &str, addresses: &[IpAddr]) {
    if let Ok(hosts) = hosts() {
        hosts.set_name(name, addresses.to_vec());
    }
}

/// Removes a name from the running world's table.
pub fn remove(name: &str) {
    if let Ok(hosts) = hosts() {
        hosts.remove_name(name);
    }
}
