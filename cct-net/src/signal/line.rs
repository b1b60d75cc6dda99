//! One signal of one node: whether its process listens, and who is to be told.
//!
//! 1. A line outlives the processes of its node; what a process registered does not. `process` counts
//!    them, so that a listener of an earlier one hears nothing.
//! 2. At most one signal of a kind is pending: another one is merged with it.
//! 3. Waiters are dropped and woken while the cell is free.

use super::kind::SignalKind;
use cct_executor::node::NodeId;
use cct_executor::shim::{self, Resource, Shared, SourceAction, Waiter};
use cct_executor::words::fingerprint::mix2;
use std::panic::Location;
use std::task::Context;

pub(super) type Site = &'static Location<'static>;

/// The signals of one kind that are sent to one node.
pub(super) struct Line {
    pub(super) node: NodeId,
    pub(super) kind: SignalKind,
    pub(super) resource: Resource,
    /// Its arrival.
    pub(super) action: SourceAction,
    state: Shared<State>,
}

#[derive(Default)]
struct State {
    /// How many processes of the node came to their end.
    process: u64,
    /// The process has registered: what happens by default happens no more.
    caught: bool,
    /// Where the signal was sent that has not arrived.
    pending: Option<Site>,
    /// How many signals the process was told of.
    told: u64,
    /// How many listeners there were.
    listeners: u64,
    /// Signals that really come are looked for.
    #[cfg(unix)]
    is_watched: bool,
    /// Listeners that wait, and whom to wake; in order of arrival.
    waiters: Vec<(u64, Waiter)>,
}

/// What a listener knows.
#[derive(Debug)]
pub(super) struct Ear {
    process: u64,
    listener: u64,
    /// How many signals it was told of, or came too late for.
    heard: u64,
}

impl State {
    /// `None` if it takes a waiter to go on.
    fn hear(
        &mut self,
        ear: &mut Ear,
        cx: &Context<'_>,
        waiter: &mut Option<Waiter>,
    ) -> Option<bool> {
        if self.process != ear.process {
            return Some(false);
        }
        if self.told != ear.heard {
            ear.heard = self.told;
            return Some(true);
        }
        let ours = |(one, _): &&mut (u64, Waiter)| *one == ear.listener;
        match self.waiters.iter_mut().find(ours) {
            Some((_, known)) if known.will_wake(cx) => {}
            Some((_, known)) => std::mem::swap(known, waiter.as_mut()?),
            None => self.waiters.push((ear.listener, waiter.take()?)),
        }
        Some(false)
    }
}

impl Line {
    pub(super) fn new(
        (node, kind): (NodeId, SignalKind),
        resource: Resource,
        action: SourceAction,
    ) -> Line {
        Line {
            node,
            kind,
            resource,
            action,
            state: Shared::new(State::default()),
        }
    }

    /// The process listens from now on.
    pub(super) fn register(&self) -> Ear {
        let ear = self.state.with(|state| {
            state.caught = true;
            state.listeners += 1;
            Ear {
                process: state.process,
                listener: state.listeners,
                heard: state.told,
            }
        });
        self.publish();
        ear
    }

    /// Whether this is the first who is to look for signals that really come.
    #[cfg(unix)]
    pub(super) fn is_to_be_watched(&self) -> bool {
        self.state
            .with(|state| !std::mem::replace(&mut state.is_watched, true))
    }

    /// Whether there is a signal that the listener has not heard of; then it has now.
    pub(super) fn hear(&self, ear: &mut Ear, cx: &Context<'_>) -> bool {
        // Made, and dropped when it replaced another, outside of the cell.
        let mut waiter = None;
        loop {
            let heard = self.state.with(|state| state.hear(ear, cx, &mut waiter));
            match heard {
                Some(heard) => return heard,
                None => waiter = Some(Waiter::from_context(cx)),
            }
        }
    }

    /// A listener is gone. The process goes on to be one that has registered.
    pub(super) fn leave(&self, ear: &Ear) {
        let waiter = self.state.with(|state| {
            let ours = |(one, _): &(u64, Waiter)| *one == ear.listener;
            let at = state.waiters.iter().position(ours);
            let same = state.process == ear.process;
            at.filter(|_| same).map(|at| state.waiters.remove(at))
        });
        drop(waiter);
    }

    pub(super) fn is_caught(&self) -> bool {
        self.state.with(|state| state.caught)
    }

    pub(super) fn is_pending(&self) -> bool {
        self.state.with(|state| state.pending.is_some())
    }

    /// A signal was sent, from this place, and has not arrived.
    pub(super) fn sent(&self, site: Site) {
        self.state.with(|state| {
            state.pending.get_or_insert(site);
        });
        self.publish();
    }

    /// None is pending any more. Returns from where the one was sent that was.
    pub(super) fn take_pending(&self) -> Option<Site> {
        let site = self.state.with(|state| state.pending.take());
        self.publish();
        site
    }

    /// Tells all listeners.
    pub(super) fn tell(&self) {
        let mut waiters = self.state.with(|state| {
            state.told += 1;
            std::mem::take(&mut state.waiters)
        });
        self.publish();
        // tokio spreads waiting listeners over several lists at random.
        if let Ok(count @ 2..) = u32::try_from(waiters.len()) {
            waiters.rotate_left(shim::choose(count, "signal: first listener woken") as usize);
        }
        waiters.into_iter().for_each(|(_, waiter)| waiter.wake());
    }

    /// The process is over. What it registered and what was sent to it means nothing to the next one.
    pub(super) fn forget_process(&self) {
        let waiters = self.state.with(|state| {
            state.process += 1;
            state.caught = false;
            state.pending = None;
            std::mem::take(&mut state.waiters)
        });
        self.publish();
        drop(waiters);
    }

    fn publish(&self) {
        let state = self.state.with(|state| {
            let flags = u64::from(state.caught) | u64::from(state.pending.is_some()) << 1;
            mix2(state.told, flags)
        });
        self.resource.set_state(state);
    }
}
