//! Listening for signals.

use super::kind::{NUMBER_MAX, RESERVED, SignalKind};
use super::line::{Ear, Line, Site};
#[cfg(unix)]
use super::outside;
use super::source::{Signals, signals};
use crate::errno::Errno;
use cct_executor::node::current;
use cct_executor::shim::{Access, Looks, OpKind};
use cct_executor::task::coop;
use std::fmt;
use std::future::poll_fn;
use std::io;
use std::panic::Location;
use std::sync::Arc;
use std::task::{Context, Poll, ready};

/// Hears of the signals of a kind that arrive at the node of the task that made it, from then on.
///
/// Signals are merged: however many arrive before it looks, it hears of one. Any number of listeners
/// hear of each signal, and dropping them does not bring back what the signal does by default.
#[must_use = "streams do nothing unless polled"]
pub struct Signal {
    line: Arc<Line>,
    ear: Ear,
    /// The last poll returned `Pending`, so that a direct poll goes on with an operation whose
    /// scheduling point was passed.
    looks: Looks,
}

/// Listens for signals of this kind that are sent to the running task's node. From now on, and until the
/// node's process ends, such signals no longer do what they do by default.
///
/// # Scheduling points
/// One before it registers, at granularity `sync`.
///
/// # Errors
/// As on Linux, for SIGILL, SIGFPE, SIGKILL, SIGSEGV and SIGSTOP, and for numbers that are no signal's.
/// Outside a scenario it is `Unsupported`.
///
/// # Differences from tokio
/// Of signals from outside the test it hears only where the test is run once, as it asks for what is the machine's.
///
/// It does not panic where no runtime is there. A runtime that was built without `enable_io` has signals
/// too.
#[track_caller]
pub fn signal(kind: SignalKind) -> io::Result<Signal> {
    listen(kind, Location::caller())
}

pub(super) fn listen(kind: SignalKind, site: Site) -> io::Result<Signal> {
    let signals = signals()?;
    let number = kind.as_raw_value();
    if number <= 0 || SignalKind::FORBIDDEN.contains(&number) {
        return Err(io::Error::other(format!(
            "Refusing to register signal {number}"
        )));
    }
    if number > NUMBER_MAX {
        return Err(io::Error::other("signal too large"));
    }
    if RESERVED.contains(&number) {
        return Err(Errno::EINVAL.into());
    }
    let line = Signals::line(&signals, current(), kind, site);
    line.resource.sync_point(OpKind::Init, Access::Write, site);
    #[cfg(unix)]
    outside::look_for(&line, site)?;
    let ear = line.register();
    Ok(Signal {
        line,
        ear,
        looks: Looks::new(),
    })
}

impl Signal {
    /// Waits for a signal. It never is `None`.
    ///
    /// # Scheduling points
    /// One, before it looks.
    ///
    /// # Cancel safety
    /// Safe: a signal that nobody has heard of is heard of by the next call.
    #[track_caller]
    pub fn recv(&mut self) -> impl Future<Output = Option<()>> + Send + use<'_> {
        self.recv_at(Location::caller())
    }

    pub(super) async fn recv_at(&mut self, site: Site) -> Option<()> {
        let mut started = false;
        poll_fn(|cx| {
            if !std::mem::replace(&mut started, true) {
                ready!(self.point(site));
            }
            self.poll_next(cx, site)
        })
        .await
    }

    /// As [`recv`](Self::recv), for hand-written futures. The last waker polled with is woken.
    ///
    /// # Scheduling points
    /// One before looking, unless the last call returned `Pending` in an earlier poll of the task.
    #[track_caller]
    pub fn poll_recv(&mut self, cx: &mut Context<'_>) -> Poll<Option<()>> {
        let site = Location::caller();
        if !self.looks.have_begun() {
            ready!(self.point(site));
        }
        self.poll_next(cx, site)
    }

    fn point(&mut self, site: Site) -> Poll<()> {
        self.looks = Looks::new();
        self.line.resource.point(OpKind::Recv, Access::Read, site)
    }

    fn poll_next(&mut self, cx: &mut Context<'_>, site: Site) -> Poll<Option<()>> {
        if self.looks.are_again() {
            ready!(self.point(site));
        }
        self.looks.note();
        let coop = ready!(coop::poll_proceed(cx));
        if self.line.hear(&mut self.ear, cx) {
            coop.made_progress();
            self.looks = Looks::new();
            return Poll::Ready(Some(()));
        }
        let resource = &self.line.resource;
        resource.blocked(OpKind::Recv, site);
        resource.remark(|| self.line.kind.text());
        Poll::Pending
    }
}

impl Drop for Signal {
    fn drop(&mut self) {
        self.line.leave(&self.ear);
    }
}

impl fmt::Debug for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signal")
            .field("kind", &self.line.kind)
            .finish_non_exhaustive()
    }
}
