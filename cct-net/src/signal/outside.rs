//! Signals that come from outside, in a test that is run once and in a program that a test has started.

use super::line::{Line, Site};
use super::send;
use crate::raw::signals;
use cct_executor::shim::{machine_is_open, watch_machine};
use std::io;

/// What really comes to the process from now on comes to this line, if the machine is open to the world.
///
/// # Errors
/// Those of installing a handler.
pub(super) fn look_for(line: &Line, site: Site) -> io::Result<()> {
    if !machine_is_open() {
        return Ok(());
    }
    let (node, kind) = (line.node, line.kind);
    let number = kind.as_raw_value();
    signals::count(number)?;
    if line.is_to_be_watched() {
        let mut known = signals::came(number);
        let has_come = move || {
            let before = std::mem::replace(&mut known, signals::came(number));
            known != before
        };
        watch_machine(has_come, move || send::send(node, kind, site));
    }
    Ok(())
}
