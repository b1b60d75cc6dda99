//! Data choices: values the program leaves open, decided by the strategy like everything else.
//!
//! Each call is one decision, recorded in the trace, replayed and counted. Outside a world every
//! call returns the first value.
//!
//! ```
//! use cct_executor::{Checker, nondet};
//!
//! let report = Checker::new().strategy_text("exhaustive").run(|| async {
//!     let retries = nondet::choose(3);
//!     let cached = nondet::boolean();
//!     assert!(retries < 3 || cached);
//! });
//! report.assert_passed();
//! ```

use crate::execution::world::WORLD;
use crate::words::fingerprint::mix2;
use crate::words::seed::Generator;
use crate::words::{Access, Op, OpKind, Seed};
use std::panic::Location;
use std::task::Poll;

/// As many values as a choice can have, and one more: what an entry of a trace has room for.
const MANY: u32 = 1 << 30;

#[track_caller]
fn draw(count: u32, weights: &[u32], label: &'static str) -> u32 {
    assert!(
        count < MANY,
        "nondet::{label} among {count} values: there must be fewer than 2^30; for a number that is not \
         worth searching, take nondet::rng()"
    );
    let site = Location::caller();
    WORLD.with(|world| world.choose(count, weights, (label, Some(site))))
}

/// True or false.
#[track_caller]
pub fn boolean() -> bool {
    draw(2, &[], "boolean") == 1
}

/// A number below `count`.
///
/// # Panics
/// If `count` is 0, or 2^30 or more.
#[track_caller]
pub fn choose(count: u32) -> u32 {
    assert!(
        count > 0,
        "nondet::choose(0): there must be at least one value"
    );
    draw(count, &[], "choose")
}

/// One of the items.
///
/// # Panics
/// If there are none, or 2^30 or more.
#[track_caller]
pub fn pick<T>(items: &[T]) -> &T {
    assert!(
        !items.is_empty(),
        "nondet::pick of nothing: there must be at least one item"
    );
    let count = u32::try_from(items.len()).unwrap_or(u32::MAX);
    &items[draw(count, &[], "pick") as usize]
}

/// An index into `weights`, in proportion to them where the strategy draws at random. A weight of
/// 0 makes an index rare, not impossible: strategies that enumerate try it too.
///
/// # Panics
/// If there are no weights, or their sum is 0 or does not fit in a `u32`.
#[track_caller]
pub fn weighted(weights: &[u32]) -> usize {
    let sum = weights
        .iter()
        .try_fold(0_u32, |sum, &weight| sum.checked_add(weight));
    assert!(
        sum.is_some_and(|sum| sum > 0),
        "nondet::weighted({weights:?}): the sum must be above 0 and fit in 32 bits"
    );
    draw(weights.len() as u32, weights, "weighted") as usize
}

/// A generator for noise that is not worth searching: jitter, payloads, sample data.
///
/// What it yields is not recorded decision by decision; it derives from the iteration's noise seed
/// (part of every token) and from the task that asks and how often it has asked before. Under a
/// systematic strategy (`exhaustive`, `ses` and the like) all iterations have one noise seed.
pub fn rng() -> Generator {
    let seed = WORLD.with(|world| {
        if !world.is_running() {
            return Seed(0);
        }
        let key = world.running.get().key;
        world.with(|core, _| Seed(mix2(core.config.noise.0, core.new_id(key, 0x6e6f_6973).0)))
    });
    seed.stream("nondet")
}

/// A scheduling point that user code places, say between two plain memory accesses.
///
/// It does not say which memory, so strategies that look for operations which race (`pos`, `surw`) see no race between
/// two of these, and are no better there than a random walk: try `random`, `urw` or `pct`.
///
/// # Scheduling points
/// One, at every granularity but `await`.
#[track_caller]
pub fn point() {
    let site = Location::caller();
    let op = Op {
        kind: OpKind::User,
        access: Access::Write,
        resource: 0,
        site,
    };
    let _: Poll<()> = WORLD.with(|world| world.point(op.kind, op.access, op.resource, op.site));
}

/// A mark for strategies that look for marks ([`StepEvent::UserOp`]); nothing to all others.
///
/// [`StepEvent::UserOp`]: crate::words::StepEvent::UserOp
pub fn mark(name: &'static str) {
    WORLD.with(|world| {
        if world.is_running() {
            world.with(|core, decider| {
                if core.interests.observations {
                    decider.observe(&crate::words::StepEvent::UserOp(name));
                }
            });
        }
    });
}
