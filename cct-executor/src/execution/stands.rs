//! Closures that wait for time to pass while tokio's clock is frozen.
//!
//! As long as a closure of `spawn_blocking` runs, tokio moves a paused clock for no timer. So one that sleeps, or waits for
//! somebody no longer than a time, goes on before any timer fires: when nothing else can happen, whoever waits less first.
//! What passes meanwhile passes on the system's clocks alone.

use super::core::Core;
use super::waker::Waiter;
use crate::words::NodeId;
use std::time::Duration;

struct Stand {
    key: u32,
    /// What the system's clocks show when its time is over.
    until_ns: u64,
    /// Who goes on then; nobody once it has.
    waiter: Option<Waiter>,
}

/// They stand in the order in which they came.
#[derive(Default)]
pub(super) struct Stands(Vec<Stand>);

impl Stands {
    pub(super) fn reset(&mut self) {
        self.0.clear();
    }
}

impl Core {
    /// Whether the time of a task that waits as a thread does is none of tokio's.
    pub(super) fn clock_stands_for(&self, key: u32) -> bool {
        let subject = self.actions[key as usize].subject;
        self.looks.frozen && self.tasks[subject as usize].blocking
    }

    /// A closure waits no longer than this.
    pub(super) fn stands(&mut self, key: u32, time: Duration, waiter: Waiter) {
        let ns = u64::try_from(time.as_nanos()).unwrap_or(u64::MAX);
        let now_ns = self.system_clock_of(NodeId(0));
        self.stands.0.push(Stand {
            key,
            until_ns: now_ns.saturating_add(ns),
            waiter: Some(waiter),
        });
    }

    /// Whether its time is over, and what was to be woken if not. `None` if it was none of these.
    pub(super) fn stands_no_more(&mut self, key: u32) -> Option<(bool, Option<Waiter>)> {
        let at = self.stands.0.iter().position(|stand| stand.key == key)?;
        let waiter = self.stands.0.remove(at).waiter;
        Some((waiter.is_none(), waiter))
    }

    /// Nothing else can happen before time passes: the time of whoever waits least is over. Returns whether there was one.
    #[inline]
    pub(super) fn stand_ends(&mut self) -> bool {
        !self.stands.0.is_empty() && self.first_stand_ends()
    }

    #[cold]
    fn first_stand_ends(&mut self) -> bool {
        let waits = self.stands.0.iter_mut().filter(|it| it.waiter.is_some());
        let Some(first) = waits.min_by_key(|stand| stand.until_ns) else {
            return false;
        };
        let (until_ns, waiter) = (first.until_ns, first.waiter.take());
        let now_ns = self.system_clock_of(NodeId(0));
        self.looks.go_on(until_ns.saturating_sub(now_ns));
        waiter.into_iter().for_each(|waiter| self.due(waiter));
        true
    }
}
