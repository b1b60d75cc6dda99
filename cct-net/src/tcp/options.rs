//! How TCP works in a world.

use crate::host::hosts;
use cct_executor::shim;
use std::time::Duration;

/// How TCP works in the running world. Connections and listeners have what holds when they are
/// made. Unix streams take short reads and writes from here too.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub struct Options {
    /// Whether a read may return less than is there: a choice of the strategy between all, half
    /// and one byte. Off by default, unless [`partial_io`](cct_executor::Checker::partial_io) is asked for; a read may
    /// come between two packets anyway.
    pub short_reads: bool,
    /// Whether a write may take less than there is room for, in the same way, and with the same
    /// default. Until something has arrived there is no more room then: a kernel takes what it can.
    pub short_writes: bool,
    /// How many bytes a socket holds that have not arrived: 64 KiB by default.
    pub send_buffer: usize,
    /// How many bytes that arrived a socket holds: 64 KiB by default. (Linux lets buffers grow, see
    /// [`loopback`](Self::loopback). Who writes much before anybody reads counts on that, and waits here for ever.)
    pub recv_buffer: usize,
    /// How many bytes a Unix stream holds in each direction: 128 KiB by default.
    pub unix_buffer: usize,
    /// How long an attempt to connect waits for an answer: 127 seconds by default, as on Linux.
    pub connect_timeout: Duration,
    /// For how long data that does not get through is sent again: 924.6 seconds by default, as on
    /// Linux. Afterwards the connection is [`TimedOut`](std::io::ErrorKind::TimedOut).
    pub retransmission_timeout: Duration,
    /// How long nothing is heard on a connection with [keep-alive](super::TcpSocket::set_keepalive)
    /// before it is looked after: two hours by default, as on Linux.
    pub keepalive_time: Duration,
    /// For how long it is then looked after before it is
    /// [`TimedOut`](std::io::ErrorKind::TimedOut): 675 seconds by default, nine times 75, as on Linux.
    pub keepalive_timeout: Duration,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            short_reads: false,
            short_writes: false,
            send_buffer: 64 << 10,
            recv_buffer: 64 << 10,
            unix_buffer: 128 << 10,
            connect_timeout: Duration::from_secs(127),
            retransmission_timeout: Duration::from_millis(924_600),
            keepalive_time: Duration::from_secs(7200),
            keepalive_timeout: Duration::from_secs(675),
        }
    }
}

impl Options {
    /// With buffers as large as on Linux between two sockets of one machine, where nobody has changed anything: 4 MiB
    /// that were written and not read are held for TCP (measured: 4.0 to 4.3 million bytes), and 208 KiB for a Unix
    /// stream (whose kernel counts what it takes to store them: 219,000 to 233,000 bytes of large writes, less of small
    /// ones).
    pub fn loopback() -> Options {
        Options {
            send_buffer: 2560 << 10,
            recv_buffer: 1536 << 10,
            unix_buffer: 208 << 10,
            ..Options::default()
        }
    }
}

impl Options {
    /// These, with what the test or the environment asks of all streams.
    pub(crate) fn as_asked_for(mut self) -> Options {
        if shim::has_partial_io() {
            (self.short_reads, self.short_writes) = (true, true);
        }
        self
    }
}

/// Has the running world's TCP work like this, for sockets made from now on, unless it was
/// [configured](configure) or presumed before. Does nothing outside a world.
pub fn presume(options: Options) {
    if let Ok(hosts) = hosts() {
        hosts.state.with(|state| {
            state.tcp.get_or_insert(options.as_asked_for());
        });
    }
}

/// Changes how TCP works in the running world, for sockets made from now on. Does nothing outside
/// a world.
///
/// ```
/// use cct_executor::Checker;
///
/// let report = Checker::new().iterations(10).run(|| async {
///     cct_net::tcp::configure(|tcp| {
///         tcp.short_reads = true;
///         tcp.recv_buffer = 1024;
///     });
/// });
/// report.assert_passed();
/// ```
pub fn configure(change: impl FnOnce(&mut Options)) {
    if let Ok(hosts) = hosts() {
        let mut options = hosts.state.with(|state| state.tcp());
        change(&mut options);
        options.send_buffer = options.send_buffer.max(1);
        options.recv_buffer = options.recv_buffer.max(1);
        options.unix_buffer = options.unix_buffer.max(1);
        hosts.state.with(|state| state.tcp = Some(options));
    }
}
