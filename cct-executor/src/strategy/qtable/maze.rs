//! Small worlds for tests of learners: states with actions, and nothing else.

use crate::strategy::model::publish::action;
use crate::strategy::{Flow, StepEvent, Strategy};
use crate::words::action::Action;
use crate::words::enabled::{EnabledActions, EnabledSet, Values};
use crate::words::fingerprint::mix;
use crate::words::{
    Fingerprint, Iteration, IterationEnd, Outcome, SchedulingPoint, Seed, StateParts,
};

/// A world in which a learner can walk.
pub(in crate::strategy) trait Maze {
    /// Back to the start.
    fn reset(&mut self);
    /// The state, as far as it can be seen.
    fn state(&self) -> u64;
    /// The actions possible now, or none at the end.
    fn actions(&self) -> Vec<u32>;
    /// Does one of them.
    fn act(&mut self, action: u32);
    /// The highest waypoint that holds.
    fn waypoint(&self) -> u32 {
        0
    }
    /// How many waypoints there are.
    fn waypoints(&self) -> u32 {
        0
    }
    /// Whether actions are values of a data choice.
    fn is_data(&self) -> bool {
        false
    }
    /// The penalty of the last action.
    fn penalty(&self) -> u32 {
        0
    }
    /// An outcome other than passing.
    fn outcome(&self) -> Outcome {
        Outcome::Passed
    }

    /// Walks to the end; returns the actions.
    fn run(&mut self, strategy: &mut dyn Strategy, seed: Seed, index: u64) -> Vec<u32> {
        let seed = seed.iteration(index);
        assert_eq!(
            strategy.begin(&Iteration {
                index,
                seed,
                max_steps: 100_000,
            }),
            Flow::Continue
        );
        self.reset();
        let mut taken = Vec::new();
        let mut table: Vec<Action> = Vec::new();
        loop {
            let keys = self.actions();
            let chosen = match keys.len() {
                0 => break,
                1 => keys[0],
                n => {
                    let most = keys.iter().max().copied().unwrap_or(0);
                    (table.len() as u32..=most).for_each(|key| table.push(action(key)));
                    table.iter_mut().for_each(|a| a.position = Action::NOWHERE);
                    let positions = (0..).zip(&keys);
                    positions.for_each(|(at, &key)| table[key as usize].position = at);
                    let set = if self.is_data() {
                        EnabledSet::Values(Values {
                            count: n as u32,
                            weights: &[],
                            label: "maze",
                        })
                    } else {
                        EnabledSet::Actions(EnabledActions {
                            keys: &keys,
                            actions: &table,
                            fresh: &Vec::new(),
                        })
                    };
                    let point = self.point(taken.len() as u64);
                    keys[strategy.pick(&point, &set).0 as usize]
                }
            };
            self.act(chosen);
            if self.penalty() > 0 {
                let amount = self.penalty();
                let name = "maze";
                strategy.observe(&StepEvent::Penalty { name, amount });
            }
            taken.push(chosen);
        }
        strategy.end(&IterationEnd {
            outcome: self.outcome(),
            steps: taken.len() as u64,
            decisions: taken.len() as u64,
            schedule_hash: 0,
            fingerprint: Fingerprint(self.state()),
            parts: StateParts::default(),
            waypoint: self.waypoint(),
            waypoints: self.waypoints(),
        });
        taken
    }

    fn point(&self, step: u64) -> SchedulingPoint {
        SchedulingPoint {
            step,
            time_ns: 0,
            fingerprint: Fingerprint(self.state()),
            parts: StateParts::default(),
            waypoint: self.waypoint(),
            waypoints: self.waypoints(),
            current: None,
            can_continue: false,
            yielded: false,
            may_cancel: false,
        }
    }
}

/// The cube world of the OOPSLA 2024 paper: six cubes with doors in the middle. There they have 10 x
/// 10 x 6 cells, and an iteration 80 steps; here they are smaller, so that fewer
/// iterations tell as much.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct Cubes {
    at: [u32; 4],
    left: u32,
    pub(in crate::strategy) horizon: u32,
    /// Cells seen, in all iterations.
    pub(in crate::strategy) seen: Vec<bool>,
}

const CUBES: u32 = 6;
const SIDE: u32 = 6;
const DEPTH: u32 = 3;
const DOOR: u32 = SIDE / 2;

impl Default for Cubes {
    fn default() -> Self {
        Cubes {
            at: [0; 4],
            left: 0,
            horizon: 48,
            seen: vec![false; (CUBES * SIDE * SIDE * DEPTH) as usize],
        }
    }
}

impl Cubes {
    fn cell(&self) -> usize {
        let [cube, x, y, z] = self.at;
        (((cube * SIDE + x) * SIDE + y) * DEPTH + z) as usize
    }

    /// How many cells of a cube were seen.
    pub(in crate::strategy) fn seen_in(&self, cube: u32) -> usize {
        let size = (SIDE * SIDE * DEPTH) as usize;
        let cells = self.seen.iter().skip(cube as usize * size).take(size);
        cells.filter(|&&seen| seen).count()
    }

    /// How many cells were seen.
    pub(in crate::strategy) fn seen(&self) -> usize {
        (0..CUBES).map(|cube| self.seen_in(cube)).sum()
    }
}

impl Maze for Cubes {
    fn reset(&mut self) {
        self.at = [0; 4];
        self.left = self.horizon;
    }

    fn state(&self) -> u64 {
        mix(self.cell() as u64)
    }

    fn actions(&self) -> Vec<u32> {
        if self.left == 0 {
            Vec::new()
        } else {
            (0..8).collect()
        }
    }

    fn act(&mut self, action: u32) {
        self.left -= 1;
        let [cube, x, y, z] = self.at;
        self.at = match action {
            0 => [cube, (x + 1).min(SIDE - 1), y, z],
            1 => [cube, x.saturating_sub(1), y, z],
            2 => [cube, x, (y + 1).min(SIDE - 1), z],
            3 => [cube, x, y.saturating_sub(1), z],
            4 => [cube, x, y, (z + 1).min(DEPTH - 1)],
            5 => [cube, x, y, z.saturating_sub(1)],
            6 if (x, y) == (DOOR, DOOR) && cube + 1 < CUBES => [cube + 1, 0, 0, 0],
            6 => self.at,
            _ => [cube, x, y, 0],
        };
        let cell = self.cell();
        self.seen[cell] = true;
    }

    /// Cubes 1 to 3.
    fn waypoint(&self) -> u32 {
        if self.at[0] > 3 { 0 } else { self.at[0] }
    }

    fn waypoints(&self) -> u32 {
        3
    }
}

/// The string matcher of the QL paper's figure 1: tasks 0 and 1 send their numbers for ever, and the
/// receiver compares with a string.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct Matcher {
    pub(in crate::strategy) string: &'static [u32],
    pub(in crate::strategy) data: bool,
    received: usize,
    /// Characters matched, until one did not.
    matched: Option<usize>,
}

impl Matcher {
    pub(in crate::strategy) fn new(string: &'static [u32]) -> Matcher {
        Matcher {
            string,
            data: false,
            received: 0,
            matched: Some(0),
        }
    }

    /// Whether all of it was matched.
    pub(in crate::strategy) fn hit(&self) -> bool {
        self.matched == Some(self.string.len())
    }
}

impl Maze for Matcher {
    fn reset(&mut self) {
        self.received = 0;
        self.matched = Some(0);
    }

    fn state(&self) -> u64 {
        mix(self.matched.map_or(u64::MAX, |matched| matched as u64))
    }

    fn actions(&self) -> Vec<u32> {
        if self.received == self.string.len() {
            Vec::new()
        } else {
            vec![0, 1]
        }
    }

    fn act(&mut self, action: u32) {
        let expected = self.string[self.received];
        self.received += 1;
        self.matched = self
            .matched
            .filter(|_| action == expected)
            .map(|matched| matched + 1);
    }

    fn is_data(&self) -> bool {
        self.data
    }
}

/// Numbered states with given edges; the last state is the end.
#[derive(Clone, Debug)]
pub(in crate::strategy) struct Graph {
    /// Of each state, by action: where it leads. Actions beyond are not enabled.
    pub(in crate::strategy) edges: &'static [&'static [u64]],
    pub(in crate::strategy) waypoints: &'static [u32],
    /// Of action 1.
    pub(in crate::strategy) penalty: u32,
    pub(in crate::strategy) outcome: Outcome,
    at: u64,
    penalised: bool,
}

impl Graph {
    pub(in crate::strategy) fn new(edges: &'static [&'static [u64]]) -> Graph {
        Graph {
            edges,
            waypoints: &[],
            penalty: 0,
            outcome: Outcome::Passed,
            at: 0,
            penalised: false,
        }
    }
}

impl Maze for Graph {
    fn reset(&mut self) {
        self.at = 0;
        self.penalised = false;
    }

    fn state(&self) -> u64 {
        self.at
    }

    fn actions(&self) -> Vec<u32> {
        (0..self.edges[self.at as usize].len() as u32).collect()
    }

    fn act(&mut self, action: u32) {
        self.at = self.edges[self.at as usize][action as usize];
        self.penalised = action == 1;
    }

    fn waypoints(&self) -> u32 {
        self.waypoints.iter().copied().max().unwrap_or(0)
    }

    fn waypoint(&self) -> u32 {
        self.waypoints.get(self.at as usize).copied().unwrap_or(0)
    }

    fn penalty(&self) -> u32 {
        if self.penalised { self.penalty } else { 0 }
    }

    fn outcome(&self) -> Outcome {
        self.outcome.clone()
    }
}
