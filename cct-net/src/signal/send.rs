//! Sending signals.

use super::kind::SignalKind;
use super::line::Site;
use super::source::{Signals, Struck, signals};
use cct_executor::node::{NodeId, current};
use cct_executor::shim::{Access, OpKind};
use std::panic::Location;

/// Sends a signal to the process of the running task: its node, or the test itself, which fails if it does
/// not listen and the signal ends it. Not there in tokio: it stands for `kill` of the C library with the
/// process's own number. Does nothing outside a scenario.
///
/// It returns at once; that the signal arrives is an action of its own.
///
/// # Scheduling points
/// One before it is sent, at granularity `sync`.
///
/// # Panics
/// If there is no signal of this number.
#[track_caller]
pub fn raise(kind: SignalKind) {
    send(current(), kind, Location::caller());
}

#[track_caller]
pub(crate) fn send(node: NodeId, kind: SignalKind, site: Site) {
    let number = kind.as_raw_value();
    assert!(
        kind.exists(),
        "there is no signal {number}: expected a number from 1 to 64"
    );
    let Ok(signals) = signals() else {
        return;
    };
    let line = Signals::line(&signals, node, kind, site);
    line.resource.sync_point(OpKind::Send, Access::Write, site);
    signals.send(&line, site);
}

/// A signal arrives at a node that is up, there and then.
pub(crate) fn strike(node: NodeId, kind: SignalKind, site: Site) -> Struck {
    let Ok(signals) = signals() else {
        return Struck::Ignored;
    };
    let line = Signals::line(&signals, node, kind, site);
    signals.strike(&line, site)
}

/// Whether a signal would do anything to a node now.
pub(crate) fn would_act(node: NodeId, kind: SignalKind) -> bool {
    signals().is_ok_and(|signals| signals.would_act(node, kind))
}
