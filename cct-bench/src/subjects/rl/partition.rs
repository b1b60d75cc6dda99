//! Episodes in the environment of the paper's section 3, which is `cct_net`'s: the search decides on
//! partitions of the network, on crashes and on when requests come.

use super::super::{Probe, Scenario};
use cct_executor::words::Observations;
use cct_executor::{observe, waypoint};
use cct_net::fault::colours::Environment;
pub(super) use cct_net::fault::colours::{Envelope, Rules, System, Wire};

/// Nodes of every system.
pub(super) const NODES: usize = 3;
/// Nodes that make a majority.
pub(super) const QUORUM: u32 = 2;

/// A predicate on the way to a target; the last one is the target.
pub(super) type Waypoint<S> = (&'static str, fn(&S) -> bool);

/// The highest waypoint that holds is published as a number. It is a function of the colours (but
/// for rounds beyond the abstraction's bounds), so learners see no state they would not see
/// without.
const LEVEL: &str = "waypoint";
const AT_LEAST: [fn(&Observations) -> bool; 4] = [
    is_at_least::<1>,
    is_at_least::<2>,
    is_at_least::<3>,
    is_at_least::<4>,
];

fn is_at_least<const N: i64>(observations: &Observations) -> bool {
    observations.number(LEVEL) >= Some(N)
}

/// One episode as the body of an iteration.
pub(super) fn episode<S: System + 'static>(
    make: impl FnOnce() -> S + 'static,
    rules: Rules,
    waypoints: &'static [Waypoint<S>],
    probe: Probe,
) -> Scenario {
    Box::pin(async move {
        for (&(name, _), holds) in waypoints.iter().zip(AT_LEAST) {
            waypoint!(name, holds);
        }
        let environment = Environment::new(make(), rules);
        let mut environment = environment.expect("rules by which something can happen");
        let mut seen = Seen::new(waypoints, probe);
        seen.look(&environment);
        for _ in 0..rules.horizon {
            environment.step();
            if environment.system().is_over() {
                break;
            }
            seen.look(&environment);
        }
    })
}

/// What was covered in an episode.
struct Seen<S: 'static> {
    waypoints: &'static [Waypoint<S>],
    level: Option<i64>,
    reached: bool,
    probe: Probe,
}

impl<S: System> Seen<S> {
    fn new(waypoints: &'static [Waypoint<S>], probe: Probe) -> Self {
        Seen {
            waypoints,
            level: None,
            reached: false,
            probe,
        }
    }

    /// Tells the search where it is, and the probe what was covered.
    fn look(&mut self, environment: &Environment<S>) {
        environment.observe();
        let covered = environment.covered();
        self.probe.visit(covered);
        if self.waypoints.is_empty() {
            return;
        }
        let system = environment.system();
        let highest = self.waypoints.iter().rposition(|(_, holds)| holds(system));
        let level = highest.map_or(0, |index| index as i64 + 1);
        if self.level != Some(level) {
            self.level = Some(level);
            observe::number(LEVEL, level);
        }
        self.reached |= level == self.waypoints.len() as i64;
        if self.reached {
            self.probe.visit_target(0, covered);
        }
    }
}
