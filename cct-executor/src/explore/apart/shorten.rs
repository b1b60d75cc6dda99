//! Shortening where each iteration has a process of its own: so has each attempt.
//!
//! It comes before the replay that tells the failure, which is the first thing that runs in this process: what is
//! copied for an attempt is still one in which the program has not run.

use super::answer::{End, Names};
use crate::execution::fork::{Ended, Forked};
use crate::explore::board::Found;
use crate::explore::campaign::Campaign;
use crate::explore::result::Shortened;
use crate::explore::shrink::{self, Departure, Given, Tried};
use crate::words::{FailureKind, ReplayToken, WorldConfig};
use std::sync::Arc;

impl Campaign {
    /// Puts a shorter schedule into the place of the one that was found, if there is one: where that departs from
    /// the plain one, and what it came from.
    pub(super) fn shorten_apart(
        self: &Arc<Self>,
        found: &mut Found,
    ) -> Option<(Vec<Departure>, Shortened)> {
        if !self.checker.shrink {
            return None;
        }
        let (index, name) = (found.index, &self.checker.name);
        let (trace, hash) = (found.trace.clone(), found.schedule_hash);
        let token = ReplayToken::new(name, &self.world(index), trace, hash);
        let tries = |given: Given| self.attempt_apart(index, &given);
        let whole = tries(Given::along(&token))?;
        let (best, how) = shrink::shorter(Box::new(tries), whole, &token)?;
        // The failure is told by a replay, of which there is only one here.
        let again = self.again_apart(index, best.trace.clone(), &mut Names::default());
        if again.ok()?.end != End::Failed {
            return None;
        }
        (found.trace, found.schedule_hash) = (best.trace, best.schedule_hash);
        Some((best.departures, how))
    }

    /// How the plain schedule of this world fails in such a process, if it does. Where threads of the program take part, how
    /// fast those are decides that as well, and another failure than the one that was found says so.
    pub(in crate::explore) fn in_order_apart(
        self: &Arc<Self>,
        world: &WorldConfig,
    ) -> Option<FailureKind> {
        if !self.checker.gives_way {
            return None;
        }
        let plain = self.in_a_copy(world, &Given::with(&[]))?;
        plain.kind().cloned()
    }

    /// Where the schedule of a token departs from the plain one, if it fails in a way that can be shortened.
    pub(in crate::explore) fn departures_apart(
        self: &Arc<Self>,
        token: &ReplayToken,
    ) -> Option<Vec<Departure>> {
        if !self.checker.shrink {
            return None;
        }
        let mut world = self.checker.world.clone();
        token.configure(&mut world);
        let tried = self.in_a_copy(&world, &Given::along(token))?;
        tried.kind()?;
        Some(tried.departures)
    }

    fn attempt_apart(self: &Arc<Self>, index: u64, given: &Given) -> Option<Tried> {
        let world = WorldConfig {
            stop_after: given.steps_max,
            ..self.world(index)
        };
        self.in_a_copy(&world, given)
    }

    fn in_a_copy(self: &Arc<Self>, world: &WorldConfig, given: &Given) -> Option<Tried> {
        let process = Forked::begin(|| {
            let tried = shrink::try_it(self, world, false, given.clone());
            tried.map_or_else(Vec::new, |tried| {
                let (trace, hash) = (tried.trace.clone(), tried.schedule_hash);
                tried.to_bytes(&ReplayToken::new(&self.checker.name, world, trace, hash))
            })
        });
        match process.ok()?.wait().ok()? {
            Ended::Said(bytes) => Tried::from_bytes(&bytes),
            Ended::Exited(_) | Ended::Killed(_) => None,
        }
    }
}
