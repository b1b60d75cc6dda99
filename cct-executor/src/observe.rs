//! What user code tells the search: values to tell states apart by, numbers of which more is
//! progress, and what is costly.
//!
//! Nothing here is a scheduling point, and outside of a world nothing happens.
//!
//! ```
//! use cct_executor::{Checker, observe, spawn, waypoint};
//!
//! let report = Checker::new().strategy_text("random").iterations(50).run(|| async {
//!     waypoint!("a leader", |w| w.is("role", "leader"));
//!     waypoint!("two leaders", |w| w.count("role", "leader") == 2);
//!     for server in 0..3_u64 {
//!         observe::each("role", server, "follower");
//!         observe::number_each("term", server, 1);
//!         drop(spawn(async move { observe::each("role", server, "leader") }));
//!     }
//! });
//! report.assert_passed();
//! ```

use crate::execution::core::Core;
use crate::execution::decider::Decider;
use crate::execution::world::WORLD;
use crate::words::fingerprint::hash_of;
use crate::words::{Observations, StepEvent};
use std::hash::Hash;

/// The value now known under `key`.
///
/// States that differ in an observed value count as different, for learners and in the number of
/// distinct states; not so for `ql`, unless it is `ql:state=full` or `state=custom`. A later observation under the same key replaces the earlier one.
pub fn observe(key: &'static str, value: impl Hash) {
    put(key, 0, hash_of(&value), None);
}

/// As [`observe`], for one of several alike: a node, a replica, a worker.
///
/// Who has which value does not matter to the state, only how many have it.
pub fn each(key: &'static str, instance: u64, value: impl Hash) {
    put(key, instance, hash_of(&value), None);
}

/// As [`observe`], for a number that waypoints compare.
pub fn number(key: &'static str, value: i64) {
    put(key, 0, hash_of(&value), Some(value));
}

/// As [`each`], for a number that waypoints compare.
pub fn number_each(key: &'static str, instance: u64, value: i64) {
    put(key, instance, hash_of(&value), Some(value));
}

/// What was chosen last is costly: a failure that the test injects, say. To learners that decision
/// costs `amount` times what another would, and so they put it off (OPT-2 of the QL paper, section
/// 5.2, where the amount is 1000).
pub fn penalty(name: &'static str, amount: u32) {
    tell(&StepEvent::Penalty { name, amount });
}

fn put(key: &'static str, instance: u64, value: u64, number: Option<i64>) {
    WORLD.with(|world| {
        if !world.is_running() {
            return;
        }
        let waypoints = world.with(|core, decider| {
            core.observe(key, instance, value, number);
            if core.interests.observations {
                let fingerprint = core.point.fingerprint;
                decider.observe(&StepEvent::Observed {
                    key,
                    value,
                    fingerprint,
                });
            }
            !core.waypoints.is_empty()
        });
        if waypoints {
            world.look_at_waypoints();
        }
    });
}

fn tell(event: &StepEvent<'_>) {
    with_world(|core, decider| {
        if core.interests.observations || core.interests.rewards {
            decider.observe(event);
        }
    });
}

fn with_world(f: impl FnOnce(&mut Core, &mut dyn Decider)) {
    WORLD.with(|world| {
        if world.is_running() {
            world.with(f);
        }
    });
}

/// What [`sometimes!`](crate::sometimes) does, for a name and a place that are not known at compile
/// time.
pub fn sometimes(reached: bool, name: &'static str, file: &'static str, line: u32) {
    with_world(|core, decider| {
        let seen = core
            .harvest
            .sometimes
            .entry((name, file, line))
            .or_default();
        seen.evaluated += 1;
        seen.reached += u64::from(reached);
        if reached && (core.interests.observations || core.interests.rewards) {
            decider.observe(&StepEvent::Reached { name });
        }
    });
}

/// A `watermark!` was evaluated.
pub(crate) fn watermark(name: &'static str, value: u64, file: &'static str, line: u32) {
    with_world(|core, decider| {
        let mark = core
            .harvest
            .watermarks
            .entry((name, file, line))
            .or_default();
        *mark = value.max(*mark);
        if core.interests.observations || core.interests.rewards {
            decider.observe(&StepEvent::Watermark { name, value });
        }
    });
}

/// A `waypoint!` was reached: its predicate counts from now on.
pub(crate) fn waypoint(
    name: &'static str,
    holds: fn(&Observations) -> bool,
    file: &'static str,
    line: u32,
) {
    WORLD.with(|world| {
        if world.is_running() {
            world.with(|core, _| core.add_waypoint((name, file, line), holds));
            world.look_at_waypoints();
        }
    });
}
