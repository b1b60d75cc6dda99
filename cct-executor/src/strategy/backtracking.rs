//! The stack of decisions by which a depth-first search goes through all schedules of a program.
//!
//! Owns which alternative is taken where. Does not know what the alternatives are: the strategy
//! that uses it lists them, in an order that is a pure function of the decisions before.
//!
//! 1. The next iteration repeats the last one up to the last decision with an alternative left,
//!    takes that, and the first alternative at every decision after it.
//! 2. A program that behaves differently under the same decisions cannot be searched: the first
//!    difference is noted, the alternative is taken modulo their number, and nothing is claimed.
//! 3. Nor is anything claimed when an iteration was cut.

use crate::words::Outcome;

/// A depth-first search.
#[derive(Clone, Debug, Default)]
pub(super) struct Backtracking {
    /// The decisions of this iteration: repeated below `depth`, or still to be repeated from it on.
    stack: Vec<Branch>,
    /// Decisions taken in this iteration.
    depth: usize,
    schedules: u64,
    cut: u64,
    exhausted: bool,
    diverged: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct Branch {
    taken: u32,
    arity: u32,
}

impl Backtracking {
    /// An iteration begins.
    pub(super) fn begin(&mut self) {
        self.depth = 0;
    }

    /// Which of so many alternatives to take.
    pub(super) fn take(&mut self, arity: u32) -> u32 {
        match self.stack.get_mut(self.depth) {
            None => self.stack.push(Branch { taken: 0, arity }),
            Some(branch) if branch.arity == arity => {}
            Some(branch) => {
                let before = branch.arity;
                *branch = Branch {
                    taken: branch.taken % arity,
                    arity,
                };
                self.stack.truncate(self.depth + 1);
                self.diverge(|| format!("{arity} choices where there were {before}"));
            }
        }
        let taken = self.stack[self.depth].taken;
        self.depth += 1;
        taken
    }

    /// The iteration is over; moves to the next schedule in depth-first order.
    pub(super) fn end(&mut self, outcome: &Outcome) {
        self.cut += u64::from(matches!(outcome, Outcome::Cut(_)));
        if self.depth < self.stack.len() {
            self.stack.truncate(self.depth);
            self.diverge(|| "the iteration ended where it went on before".to_owned());
        }
        self.schedules += 1;
        while let Some(branch) = self.stack.last_mut() {
            branch.taken += 1;
            if branch.taken < branch.arity {
                return;
            }
            self.stack.pop();
        }
        self.exhausted = true;
    }

    /// Starts again from the first schedule; a divergence is not forgotten.
    pub(super) fn restart(&mut self) {
        *self = Backtracking {
            stack: std::mem::take(&mut self.stack),
            diverged: self.diverged.take(),
            ..Backtracking::default()
        };
    }

    /// Whether there is no schedule left.
    pub(super) fn is_exhausted(&self) -> bool {
        self.exhausted
    }

    /// Iterations since the search started.
    pub(super) fn schedules(&self) -> u64 {
        self.schedules
    }

    /// How many of them were cut by a limit.
    pub(super) fn cut(&self) -> u64 {
        self.cut
    }

    /// The number of schedules, if each was run to its end exactly once.
    pub(super) fn explored_all(&self) -> Option<u64> {
        (self.exhausted && self.cut == 0 && self.diverged.is_none()).then_some(self.schedules)
    }

    /// The first difference between two runs under the same decisions.
    pub(super) fn divergence(&self) -> Option<&str> {
        self.diverged.as_deref()
    }

    #[cold]
    fn diverge(&mut self, what: impl FnOnce() -> String) {
        let (schedules, depth) = (self.schedules, self.depth);
        self.diverged.get_or_insert_with(|| {
            format!(
                "diverged at decision {depth} of schedule {schedules}: {}",
                what()
            )
        });
    }
}
