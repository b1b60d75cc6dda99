//! Six cubes of 10 x 10 x 6 cells in a row, a door in the middle of each (section 2.4 of the
//! paper): a test of learners in which nothing is random but the learner.
//!
//! Differs from the source: its program is not public but for a two-dimensional one, and the paper
//! gives no figures: its pictures show that BonusMaxRL covers more than random choice, and that
//! WaypointRL covers nearly all of cube 3 (600 cells).

use super::super::{Probe, Scenario, Standing, Subject};
use super::row;
use cct_executor::{Clock, Granularity, nondet, observe, waypoint};

const CUBES: u8 = 6;
const WIDTH: u8 = 10;
const DEPTH: u8 = 6;
const DOOR: (u8, u8) = (5, 5);
const HORIZON: u32 = 80;
const TARGET: u8 = 3;

/// All cells.
pub(crate) const CUBE_WORLD: Subject = Subject {
    name: "cube-world",
    about: "six cubes with doors, 3,600 cells in all",
    targets: &[],
    ..CUBE_3
};

pub(crate) const CUBE_3: Subject = Subject {
    name: "cube-world-3",
    about: "six cubes with doors; the target is the fourth, cube 3 (600 cells)",
    standing: Standing::Model,
    workers: 1,
    max_steps: 200,
    granularity: Granularity::Op,
    clock: Clock::Strict,
    scenario: walk,
    fixed: None,
    targets: &["cube 3"],
    published: row!(in "cubes"; "WP": f64::NAN),
};

#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
struct Cell {
    cube: u8,
    x: u8,
    y: u8,
    depth: u8,
}

impl Cell {
    fn moved(self, action: u32) -> Cell {
        let mut next = self;
        match action {
            0 => next.y = (self.y + 1).min(WIDTH - 1),
            1 => next.y = self.y.saturating_sub(1),
            2 => next.x = self.x.saturating_sub(1),
            3 => next.x = (self.x + 1).min(WIDTH - 1),
            4 => next.depth = self.depth.saturating_sub(1),
            5 => next.depth = (self.depth + 1).min(DEPTH - 1),
            6 if (self.x, self.y) == DOOR && self.cube + 1 < CUBES => {
                let cube = self.cube + 1;
                next = Cell {
                    cube,
                    ..Cell::default()
                };
            }
            6 => {}
            _ => next.depth = 0,
        }
        next
    }

    fn publish(self, probe: &Probe) {
        observe::observe("state", self);
        observe::number("cube", i64::from(self.cube));
        let [cube, x, y, depth] = [self.cube, self.x, self.y, self.depth].map(u64::from);
        let id = cube << 24 | x << 16 | y << 8 | depth;
        probe.visit(id);
        if self.cube == TARGET {
            probe.visit_target(0, id);
        }
    }
}

fn walk(probe: Probe) -> Scenario {
    Box::pin(async move {
        waypoint!("cube 1", |w| w.number("cube") >= Some(1));
        waypoint!("cube 2", |w| w.number("cube") >= Some(2));
        waypoint!("cube 3", |w| w.number("cube") == Some(3));
        let mut cell = Cell::default();
        cell.publish(&probe);
        for _ in 0..HORIZON {
            cell = cell.moved(nondet::choose(8));
            cell.publish(&probe);
        }
    })
}
