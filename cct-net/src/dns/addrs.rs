//! What can be turned into socket addresses.

use crate::host::hosts;
use cct_executor::shim::{Access, OpKind};
use sealed::{Query, Resolve};
use std::future::poll_fn;
use std::io::{self, ErrorKind};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};
use std::panic::Location;

/// What stands for one or more socket addresses: addresses, names with ports, and lists. Sealed, as
/// tokio's.
pub trait ToSocketAddrs: Resolve {}

pub(crate) mod sealed {
    use std::io;
    use std::net::SocketAddr;

    /// What is asked for.
    #[derive(Debug)]
    pub enum Query {
        One(SocketAddr),
        Many(Vec<SocketAddr>),
        Name(String, u16),
        Invalid(io::Error),
    }

    pub trait Resolve {
        #[doc(hidden)]
        fn query(&self) -> Query;
    }
}

/// The addresses that a query stands for.
pub(super) async fn resolve(
    query: Query,
    site: &'static Location<'static>,
) -> io::Result<Vec<SocketAddr>> {
    let (name, port) = match query {
        Query::One(addr) => return Ok(vec![addr]),
        Query::Many(all) => return Ok(all),
        Query::Invalid(error) => return Err(error),
        Query::Name(name, port) => (name, port),
    };
    let hosts = hosts()?;
    poll_fn(|_| hosts.point(OpKind::Get, Access::Read, site)).await;
    let found = hosts.resolve(&name)?;
    Ok(found
        .into_iter()
        .map(|ip| SocketAddr::new(ip, port))
        .collect())
}

/// Tries one address after the other until something works.
pub(crate) async fn each<T, F: Future<Output = io::Result<T>>>(
    query: Query,
    site: &'static Location<'static>,
    attempt: impl Fn(SocketAddr) -> F,
) -> io::Result<T> {
    if let Query::One(addr) = query {
        return attempt(addr).await;
    }
    let mut last = None;
    for addr in resolve(query, site).await? {
        match attempt(addr).await {
            Ok(done) => return Ok(done),
            Err(error) => last = Some(error),
        }
    }
    Err(last.unwrap_or_else(|| {
        io::Error::new(
            ErrorKind::InvalidInput,
            "could not resolve to any address: the list is empty",
        )
    }))
}

fn named(name: &str, port: u16) -> Query {
    match name.parse::<IpAddr>() {
        Ok(ip) => Query::One(SocketAddr::new(ip, port)),
        Err(_) => Query::Name(name.to_owned(), port),
    }
}

impl<T: ToSocketAddrs + ?Sized> ToSocketAddrs for &T {}

impl<T: ToSocketAddrs + ?Sized> Resolve for &T {
    fn query(&self) -> Query {
        (**self).query()
    }
}

macro_rules! one_address {
    ($($Type:ty),*) => {
        $(
            impl ToSocketAddrs for $Type {}

            impl Resolve for $Type {
                fn query(&self) -> Query {
                    Query::One(SocketAddr::from(*self))
                }
            }
        )*
    };
}

one_address!(
    SocketAddr,
    SocketAddrV4,
    SocketAddrV6,
    (IpAddr, u16),
    (Ipv4Addr, u16),
    (Ipv6Addr, u16)
);

impl ToSocketAddrs for &[SocketAddr] {}

impl Resolve for &[SocketAddr] {
    fn query(&self) -> Query {
        Query::Many(self.to_vec())
    }
}

impl ToSocketAddrs for str {}

impl Resolve for str {
    fn query(&self) -> Query {
        if let Ok(addr) = self.parse() {
            return Query::One(addr);
        }
        let invalid = |text| Query::Invalid(io::Error::new(ErrorKind::InvalidInput, text));
        match self.rsplit_once(':') {
            None => invalid(format!(
                "invalid socket address `{self}`: expected NAME:PORT"
            )),
            Some((name, port)) => match port.parse() {
                Ok(port) => named(name, port),
                Err(_) => invalid(format!("invalid port value `{port}` in `{self}`")),
            },
        }
    }
}

impl ToSocketAddrs for String {}

impl Resolve for String {
    fn query(&self) -> Query {
        self.as_str().query()
    }
}

impl ToSocketAddrs for (&str, u16) {}

impl Resolve for (&str, u16) {
    fn query(&self) -> Query {
        named(self.0, self.1)
    }
}

impl ToSocketAddrs for (String, u16) {}

impl Resolve for (String, u16) {
    fn query(&self) -> Query {
        named(&self.0, self.1)
    }
}
