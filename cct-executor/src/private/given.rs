//! Parameters of a test, which an attribute below the test's own gives, as rstest's does. What the attribute expands to
//! asks which way they can be had, which is a matter of their type.
//!
//! Who has clones made is asked first, as its method takes less to be found.

use super::{run_test, run_test_once};
use crate::Checker;
use crate::explore::testcase::TestCase;
use crate::task::body::ScenarioResult;

/// The values of a case.
#[derive(Debug)]
pub struct Given<T>(T);

impl<T> Given<T> {
    /// These.
    pub fn new(values: T) -> Given<T> {
        Given(values)
    }
}

/// Each iteration gets clones.
#[derive(Clone, Copy, Debug)]
pub struct Clones;

/// The one run gets them.
#[derive(Clone, Copy, Debug)]
pub struct Once;

/// Found first, where it is there.
pub trait ByClones {
    /// How it is run.
    fn way(&self) -> Clones {
        Clones
    }
}

impl<T: Clone + Send + Sync + 'static> ByClones for Given<T> {}

/// Found otherwise.
pub trait ByOnce {
    /// How it is run.
    fn way(&self) -> Once {
        Once
    }
}

impl<T> ByOnce for &Given<T> {}

impl Clones {
    /// # Panics
    /// If the test fails.
    #[track_caller]
    pub fn run_test<T, F, Fut>(self, case: TestCase, checker: Checker, given: Given<T>, scenario: F)
    where
        T: Clone + Send + Sync + 'static,
        F: Fn(T) -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
        Fut::Output: ScenarioResult,
    {
        run_test(case, checker, move || scenario(given.0.clone()));
    }
}

impl Once {
    /// # Panics
    /// If the test fails.
    #[track_caller]
    pub fn run_test<T, F, Fut>(self, case: TestCase, checker: Checker, given: Given<T>, scenario: F)
    where
        F: FnOnce(T) -> Fut,
        Fut: Future,
        Fut::Output: ScenarioResult,
    {
        run_test_once(case, checker, async move {
            scenario(given.0).await.into_result()
        });
    }
}
