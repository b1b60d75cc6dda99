//! Nodes with addresses and names.
//!
//! [`node`] makes a node as [`cct_executor::node::node`] does, and enters it in the network: its name
//! stands for the addresses it was given, or for its automatic IPv4 address. Nodes made by the
//! executor alone have addresses too, but no name in the table. The test itself, node 0, is at
//! 10.255.255.253.
//!
//! ```
//! use cct_executor::Checker;
//! use cct_net::{TcpListener, TcpStream, node};
//! use futures::io::{AsyncReadExt, AsyncWriteExt};
//!
//! let report = Checker::new().iterations(20).run(|| async {
//!     let db = node("db-1").start(|| async {
//!         let listener = TcpListener::bind("0.0.0.0:5432").await.unwrap();
//!         loop {
//!             let (mut stream, _) = listener.accept().await.unwrap();
//!             let mut name = [0; 5];
//!             if stream.read_exact(&mut name).await.is_ok() {
//!                 stream.write_all(b"hello ").await.unwrap();
//!                 stream.write_all(&name).await.unwrap();
//!             }
//!         }
//!     });
//!     let mut stream = loop {
//!         // It may not listen yet.
//!         match TcpStream::connect("db-1:5432").await {
//!             Ok(stream) => break stream,
//!             Err(error) => assert_eq!(error.kind(), std::io::ErrorKind::ConnectionRefused),
//!         }
//!         cct_executor::task::yield_now().await;
//!     };
//!     stream.write_all(b"world").await.unwrap();
//!     let mut answer = Vec::new();
//!     stream.read_to_end(&mut answer).await.unwrap();
//!     assert_eq!(answer, b"hello world");
//!     cct_net::node::kill(&db);
//! });
//! report.assert_passed();
//! ```

pub(crate) mod wall_clock;

pub use cct_executor::node::{NodeId, find, name_of};
pub use wall_clock::system_time;

use crate::fabric::{CrashStyle, network};
use crate::host::hosts;
use crate::signal;
use crate::signal::unix::SignalKind;
use cct_executor::node::{self as executor, Node, current};
use std::net::IpAddr;
use std::panic::Location;
use std::sync::Arc;
use std::time::Duration;

/// A node about to be made.
#[derive(Clone, Debug)]
#[must_use = "call start"]
pub struct Builder {
    name: String,
    inner: executor::Builder,
    addresses: Vec<IpAddr>,
    style: CrashStyle,
}

/// Names a new node.
pub fn node(name: impl Into<String>) -> Builder {
    let name = name.into();
    Builder {
        inner: executor::node(name.clone()),
        name,
        addresses: Vec::new(),
        style: CrashStyle::default(),
    }
}

impl Builder {
    /// Gives it an address. With several it has them all; of the version that none is of it keeps
    /// its automatic one, from 10.0.0.0/8 or fd00::/8 by its number.
    pub fn address(mut self, address: IpAddr) -> Builder {
        self.addresses.push(address);
        self
    }

    /// What a crash looks like from outside, unless it says so itself; silent by default. A panic
    /// is the end of the process alone, whatever is said here.
    pub fn on_crash(mut self, style: CrashStyle) -> Builder {
        self.style = style;
        self
    }

    /// By how much the node's clock is ahead of the world's.
    pub fn clock_ahead(mut self, by: Duration) -> Builder {
        self.inner = self.inner.clock_ahead(by);
        self
    }

    /// By how many parts in a million the node's clock runs fast (negative: slow).
    ///
    /// # Panics
    /// If it is not between -100,000 and 100,000.
    #[track_caller]
    pub fn clock_drift_ppm(mut self, drift: i32) -> Builder {
        self.inner = self.inner.clock_drift_ppm(drift);
        self
    }

    /// A panic in one of its tasks crashes the node, which then restarts, instead of failing the
    /// test. It ends the node's process as [`kill`] does: files keep what was written to them.
    pub fn restart_on_panic(mut self) -> Builder {
        self.inner = self.inner.restart_on_panic();
        self
    }

    /// The node's process ends when its main task has returned, as that of a program does with its `main`:
    /// its other tasks are dropped, whatever they are about, its connections are closed, and files keep what
    /// was written to them, what is still to be written in the background included. Otherwise the other
    /// tasks go on.
    ///
    /// # Differences from tokio
    /// Destructors of what is dropped reach nobody, as in every crash, and blocking closures that have begun
    /// come to their end without effect on others.
    pub fn ends_with_main(mut self) -> Builder {
        self.inner = self.inner.ends_with_main();
        self
    }

    /// Makes the node and starts its main task. An `Err` that it returns fails the test.
    ///
    /// # Panics
    /// Outside a world, when there is a node of this name already, when an address is taken or
    /// cannot be a node's, or beyond 65,535 nodes.
    #[track_caller]
    pub fn start<F, Fut>(self, main: F) -> Node
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + Send + 'static,
        Fut::Output: cct_executor::ScenarioResult,
    {
        let Builder {
            name,
            inner,
            addresses,
            style,
        } = self;
        if let Ok(hosts) = hosts() {
            if let Err(why) = hosts.check(&addresses) {
                panic!("node `{name}`: {why}");
            }
        }
        let entry = Arc::new((name, addresses, style));
        let ours = entry.clone();
        let node = inner.start(move || {
            // Its main task may run before `start` returns.
            enter(current(), &ours);
            main()
        });
        enter(node.id(), &entry);
        node
    }
}

#[track_caller]
fn enter(node: NodeId, (name, addresses, style): &(String, Vec<IpAddr>, CrashStyle)) {
    if let (Ok(hosts), Ok(net)) = (hosts(), network()) {
        net.set_crash_style(node, *style);
        if let Err(why) = hosts.enter(node, name, addresses) {
            panic!("node `{name}`: {why}");
        }
    }
}

/// Crashes a node silently, as in a power cut: what is sent to it gets no answer until it restarts.
///
/// # Panics
/// If the node is one of another scenario.
#[track_caller]
pub fn power_off(node: &Node) {
    crash(node, CrashStyle::Silent);
}

/// Kills a node's process: its connections are closed, or reset where data was not read, and new
/// ones are refused. Its disk keeps what was written, synced or not.
///
/// # Panics
/// If the node is one of another scenario.
#[track_caller]
pub fn kill(node: &Node) {
    crash(node, CrashStyle::Kill);
}

/// Sends a signal to a node's process, as `kill` does. It returns at once; that the signal arrives is an
/// action of its own, and what it does there [`crate::signal`] says.
///
/// # Scheduling points
/// One before it is sent, at granularity `sync`.
///
/// # Panics
/// If the node is one of another scenario, or there is no signal of this number.
#[track_caller]
pub fn signal(node: &Node, kind: SignalKind) {
    signal::send(node.expect_here(), kind, Location::caller());
}

#[track_caller]
fn crash(node: &Node, style: CrashStyle) {
    let id = node.expect_here();
    if let Ok(net) = network() {
        net.set_next_crash(id, style);
    }
    node.crash();
}

/// A node's addresses, those of version 4 first. Empty outside a world.
///
/// # Panics
/// If the node is one of another scenario.
#[track_caller]
pub fn addresses(node: &Node) -> Vec<IpAddr> {
    let id = node.expect_here();
    hosts().map_or_else(|_| Vec::new(), |hosts| hosts.addresses_of(id))
}

/// The addresses of the running task's node. Empty outside a world.
pub fn own_addresses() -> Vec<IpAddr> {
    hosts().map_or_else(|_| Vec::new(), |hosts| hosts.addresses_of(current()))
}
