//! How long a random walk leaves a future alone that it may cancel.
//!
//! A cancellation stays enabled for as long as the future waits. A walk that takes it as readily as
//! everything else takes it within a few decisions, and what a future does after its first waits is
//! never cut short. So a cancellation that is drawn is put off a number of times, which is drawn from a
//! ladder as those of faults are: a rung, then a number between it and the next. Each length of time has
//! a fair chance, whether it is counted in ones or in hundreds.
//!
//! 1. It is not asked where nothing may be cancelled.
//! 2. A cancellation that is drawn again and again is taken.
//!
//! Measured by `late_waits_are_cut_short_too` below.

use super::draw;
use crate::words::seed::Generator;
use crate::words::{ActionKey, ActionKind, EnabledSet, Pick, Seed};

/// A cancellation is put off fewer times than two to this power.
const RUNGS: u32 = 8;

/// Until when cancellations are put off.
#[derive(Clone, Debug)]
pub(super) struct Patience {
    generator: Generator,
    /// By [`ActionKey::index`]: how often it is put off still, if it was ever drawn.
    left: Vec<Option<u32>>,
}

impl Patience {
    pub(super) fn new() -> Self {
        Patience {
            generator: Seed(0).stream("patience"),
            left: Vec::new(),
        }
    }

    /// An iteration begins.
    pub(super) fn begin(&mut self, seed: Seed) {
        self.generator = seed.stream("patience");
        self.left.clear();
    }

    /// Whether this is a cancellation that is put off.
    #[inline]
    pub(super) fn puts_off(&mut self, enabled: &EnabledSet<'_>, pick: Pick) -> bool {
        match enabled {
            EnabledSet::Actions(actions) => {
                let action = actions.action(pick);
                action.kind() == ActionKind::Cancel && self.puts_off_key(action.key())
            }
            EnabledSet::Values(_) => false,
        }
    }

    #[cold]
    fn puts_off_key(&mut self, key: ActionKey) -> bool {
        if key.index() >= self.left.len() {
            self.left.resize(key.index() + 1, None);
        }
        let left = match self.left[key.index()] {
            Some(left) => left,
            None => self.draw(),
        };
        self.left[key.index()] = Some(left.saturating_sub(1));
        left > 0
    }

    fn draw(&mut self) -> u32 {
        let rung = 1 << draw::below(&mut self.generator, RUNGS);
        rung - 1 + draw::below(&mut self.generator, rung)
    }
}

#[cfg(test)]
mod tests {
    use crate::task::yield_now;
    use crate::{Checker, Seed, cancellable, spawn};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicU64, Ordering};

    /// Which of 64 waits is cut short, as powers of two. With this seed some 400 of 2,000 walks or more cut
    /// short one of the first seven, and some 200 one of the last half.
    #[test]
    fn late_waits_are_cut_short_too() {
        for strategy in ["random", "urw"] {
            let shares: Arc<[AtomicU64; 6]> = Arc::default();
            let seen = shares.clone();
            let scenario = move || {
                let seen = seen.clone();
                async move {
                    let waits = Arc::new(AtomicU64::new(0));
                    let mine = waits.clone();
                    let other = spawn(async {
                        for _ in 0..64 {
                            yield_now().await;
                        }
                    });
                    let work = async move {
                        for _ in 0..64 {
                            mine.fetch_add(1, Ordering::Relaxed);
                            yield_now().await;
                        }
                    };
                    let done = cancellable(work).await;
                    let waits = waits.load(Ordering::Relaxed);
                    if done.is_none() && waits > 0 {
                        seen[waits.ilog2().min(5) as usize].fetch_add(1, Ordering::Relaxed);
                    }
                    other.await.expect("it does not panic");
                }
            };
            let checker = Checker::new().strategy_text(strategy).seed(Seed(1));
            checker.iterations(2_000).run(scenario).assert_passed();
            let shares = shares.each_ref().map(|share| share.load(Ordering::Relaxed));
            let [first, second, third, .., last] = shares;
            assert!(first + second + third > 50, "{strategy}: {shares:?}");
            assert!(last > 50, "{strategy}: {shares:?}");
        }
    }
}
