//! The clock on the wall, as far as there is one.

#![expect(
    clippy::disallowed_types,
    reason = "a type for dates: its values come from the virtual clock"
)]

use cct_executor::node::{NodeId, current};
use cct_executor::shim;
use std::time::Duration;

pub(crate) use std::time::SystemTime;

/// From 1970 to the beginning of each iteration: the year 2000 begins.
const BEFORE: Duration = Duration::from_secs(946_684_800);

/// What a node's clock shows, as a date.
pub(crate) fn shown(node: NodeId) -> SystemTime {
    SystemTime::UNIX_EPOCH + BEFORE + Duration::from_nanos(shim::node_time_ns(node))
}

/// What the clock of the running task's node shows, as a date: the times of its files are of this
/// clock. Each iteration begins with the year 2000 (UTC), plus what the node's clock is ahead.
///
/// For programs that compare the age of a file with `SystemTime::now`, which shows the real date
/// here as everywhere. Outside a world it is always the beginning of the year 2000.
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
