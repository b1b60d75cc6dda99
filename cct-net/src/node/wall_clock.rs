//! The clock on the wall, as far as there is one.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the virtual clock"
)]

use cct_executor::node::{NodeId, current};
use cct_executor::shim;

pub(crate) use std::time::SystemTime;

/// What a node's clock shows, as a date.
pub(crate) fn shown(node: NodeId) -> SystemTime {
    SystemTime::UNIX_EPOCH + shim::wall_clock(node)
}

/// What the clock of the running task's node shows, as a date: the times of its files are of this
/// clock. Each iteration begins with November 2026 (UTC), plus what the node's clock is ahead.
///
/// It is what `SystemTime::now` shows where the standard library's clocks are virtual, as on Linux;
/// elsewhere, programs that look at the age of files ask here. Outside a world it is always the
/// beginning of that year.
///
/// ```
/// use cct_executor::{Checker, time};
/// use cct_net::{fs, node};
/// use std::time::Duration;
///
/// let report = Checker::new().iterations(10).run(|| async {
///     fs::write("/lock", "").await.unwrap();
///     time::sleep(Duration::from_secs(90)).await;
///     let made = fs::metadata("/lock").await.unwrap().modified().unwrap();
///     let age = node::system_time().duration_since(made).unwrap();
///     assert_eq!(age.as_secs(), 90);
/// });
/// report.assert_passed();
/// ```
pub fn system_time() -> SystemTime {
    shown(current())
}
