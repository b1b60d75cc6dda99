//! Strategies of a user's own that do what they must not: the run says whose fault it is.

use crate::checker;
use cct_executor::strategy::{Flow, Interests, StepEvent, Strategy};
use cct_executor::words::{EnabledSet, Iteration, Pick, SchedulingPoint};
use cct_executor::{Isolation, nondet, spawn, task::yield_now};

#[derive(Clone, Copy, PartialEq)]
enum Wrong {
    Picks,
    Panics,
    PanicsToldOf,
    Asks,
    Begins,
}

impl Strategy for Wrong {
    fn describe(&self) -> String {
        "wrong:d=3".to_owned()
    }

    fn interests(&self) -> Interests {
        Interests {
            forced: true,
            ..Interests::default()
        }
    }

    fn begin(&mut self, iteration: &Iteration) -> Flow {
        match (*self, iteration.index) {
            (Wrong::Begins, _) => Flow::Exhausted,
            _ => Flow::Continue,
        }
    }

    fn pick(&mut self, _: &SchedulingPoint, enabled: &EnabledSet<'_>) -> Pick {
        match self {
            Wrong::Picks => enabled.pick(99),
            Wrong::Panics => panic!("no idea"),
            Wrong::Asks => enabled.pick(usize::from(nondet::boolean())),
            Wrong::PanicsToldOf | Wrong::Begins => enabled.pick(0),
        }
    }

    fn observe(&mut self, _: &StepEvent<'_>) {
        assert!(*self != Wrong::PanicsToldOf, "not so");
    }
}

fn error(wrong: Wrong, isolation: Isolation) -> String {
    let report = checker("a strategy of one's own")
        .strategy(move || wrong)
        .isolation(isolation)
        .iterations(10)
        .run(|| async {
            let all = [0, 1].map(|_| spawn(async { yield_now().await }));
            for one in all {
                one.await.expect("no panic");
            }
        });
    assert!(!report.passed() && report.failure().is_none());
    report.error().expect("an error").to_owned()
}

#[test]
fn a_strategy_that_panics_is_no_failure_of_the_scenario() {
    for isolation in [Isolation::None, Isolation::Thread] {
        for (wrong, why) in [
            (Wrong::Picks, "pick 99 of 3 choices"),
            (Wrong::Panics, "no idea"),
            (Wrong::PanicsToldOf, "not so"),
            (Wrong::Asks, "a strategy must not ask the world"),
        ] {
            let error = error(wrong, isolation);
            let whose = "outside the scenario (a bug of strategy `wrong:d=3`, or of cct): ";
            assert!(error.contains(whose) && error.contains(why), "{error}");
        }
    }
}

#[test]
fn a_strategy_without_iterations_shows_nothing() {
    let error = error(Wrong::Begins, Isolation::None);
    assert!(
        error.contains("`wrong:d=3` has nothing to explore"),
        "{error}"
    );
}
