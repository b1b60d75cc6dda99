//! What became of a node's connections.

use crate::host::hosts;
use crate::stream::state::Told;
use cct_executor::node::NodeId;
use std::fmt;

/// What became of a node's connections so far in this iteration, in its earlier lives too: as its
/// kernel counts it (`netstat -s`), which a crash does not reset here.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
#[non_exhaustive]
pub struct Statistics {
    /// Those it opened.
    pub opened: u64,
    /// Those others opened to it, whether or not they were accepted.
    pub taken: u64,
    /// Attempts of its own that were refused.
    pub refused: u64,
    /// Those that the other side, or a fault, has reset.
    pub reset: u64,
    /// Those that ended, and attempts of its own, because nothing got through.
    pub timed_out: u64,
}

/// What became of a node's connections so far in this iteration. All zero outside a world.
///
/// ```
/// use cct_executor::Checker;
/// use cct_net::{TcpStream, node, tcp};
///
/// let report = Checker::new().iterations(10).run(|| async {
///     let db = node("db").start(|| async {});
///     TcpStream::connect("db:5432").await.unwrap_err();
///     let here = tcp::statistics(cct_executor::node::current());
///     assert_eq!((here.opened, here.refused), (0, 1));
///     assert_eq!(tcp::statistics(db.id()), tcp::Statistics::default());
/// });
/// report.assert_passed();
/// ```
pub fn statistics(node: NodeId) -> Statistics {
    hosts().map_or_else(
        |_| Statistics::default(),
        |hosts| hosts.state.with(|state| state.host(node).statistics),
    )
}

impl Statistics {
    /// A side of a connection was told something.
    pub(crate) fn count(&mut self, told: Told) {
        let counter = match told {
            Told::Opened => &mut self.opened,
            Told::Taken => &mut self.taken,
            Told::Refused => &mut self.refused,
            Told::Reset => &mut self.reset,
            Told::TimedOut => &mut self.timed_out,
        };
        *counter += 1;
    }
}

/// What is not zero; nothing, if all is.
impl fmt::Display for Statistics {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let counts = [
            (self.opened, "opened"),
            (self.taken, "taken"),
            (self.refused, "refused"),
            (self.reset, "reset"),
            (self.timed_out, "timed out"),
        ];
        let counts = counts.iter().filter(|(count, _)| *count > 0);
        let texts: Vec<String> = counts.map(|(n, what)| format!("{n} {what}")).collect();
        f.write_str(&texts.join(", "))
    }
}
