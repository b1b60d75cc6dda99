//! Observations and waypoints: what user code says about the state.
//!
//! Predicates are user code, so they run while the tables are free; what they read is taken out
//! meanwhile.

use super::core::Core;
use super::harvest::SometimesKey;
use super::world::{Running, World};
use crate::words::Observations;

/// A predicate on the way to where the interesting states are.
#[derive(Clone, Copy)]
pub(crate) struct Waypoint {
    key: SometimesKey,
    holds: fn(&Observations) -> bool,
    held: bool,
}

impl Core {
    /// Notes what user code observed; it counts until it is observed anew.
    pub(crate) fn observe(
        &mut self,
        key: &'static str,
        instance: u64,
        value: u64,
        number: Option<i64>,
    ) {
        let change = self.observations.put(key, instance, value, number);
        self.point.fingerprint.shift(change);
        if self.interests.parts {
            let observed = &mut self.point.parts.observed;
            *observed = observed.wrapping_add(change);
        }
        self.add_state(self.point.fingerprint.0);
    }

    /// Adds a waypoint behind those that exist; the same one again changes nothing.
    pub(crate) fn add_waypoint(&mut self, key: SometimesKey, holds: fn(&Observations) -> bool) {
        if self.waypoints.iter().all(|waypoint| waypoint.key != key) {
            self.waypoints.push(Waypoint {
                key,
                holds,
                held: false,
            });
            self.point.waypoints = self.waypoints.len() as u32;
        }
    }
}

impl World {
    /// Runs `look` on the observations, as no task.
    pub(crate) fn look_at_observations<R>(&self, look: impl FnOnce(&Observations) -> R) -> R {
        let observations = self.with(|core, _| std::mem::take(&mut core.observations));
        let running = self.running.replace(Running::NOBODY);
        let result = look(&observations);
        self.running.set(running);
        self.with(|core, _| core.observations = observations);
        result
    }

    /// Finds out which waypoints hold now.
    pub(crate) fn look_at_waypoints(&self) {
        let (observations, mut waypoints) = self.with(|core, _| {
            (
                std::mem::take(&mut core.observations),
                std::mem::take(&mut core.waypoints),
            )
        });
        // A predicate is no task's: it passes no points.
        let running = self.running.replace(Running::NOBODY);
        let mut highest = 0;
        for (i, waypoint) in waypoints.iter_mut().enumerate() {
            waypoint.held = (waypoint.holds)(&observations);
            if waypoint.held {
                highest = i as u32 + 1;
            }
        }
        self.running.set(running);
        self.with(|core, _| {
            for waypoint in &waypoints {
                let seen = core.harvest.sometimes.entry(waypoint.key).or_default();
                seen.evaluated += 1;
                seen.reached += u64::from(waypoint.held);
            }
            core.observations = observations;
            core.point.waypoints = waypoints.len() as u32; // a predicate's own are dropped
            core.waypoints = waypoints;
            core.point.waypoint = highest;
        });
    }
}
