//! A scenario without its type. What runs one is compiled once, with this crate, and not again for each test.

use crate::task::body::ScenarioResult;
use crate::task::is_large;
use std::pin::Pin;
use std::sync::Arc;

/// A scenario of any type; an `Err` is a failure's text.
#[derive(Clone)]
pub(crate) struct AnyScenario(Arc<dyn Fn() -> Running + Send + Sync>);

type Running = Pin<Box<dyn Future<Output = Result<(), String>>>>;

impl AnyScenario {
    pub(crate) fn new<F, Fut>(scenario: F) -> AnyScenario
    where
        F: Fn() -> Fut + Send + Sync + 'static,
        Fut: Future + 'static,
        Fut::Output: ScenarioResult,
    {
        // It is called by the task's first poll: what it does before its future, it does in the world.
        let scenario = Arc::new(scenario);
        AnyScenario(Arc::new(move || {
            let scenario = scenario.clone();
            match is_large::<Fut>() {
                true => Box::pin(async move { on_the_heap(&*scenario).await.into_result() }),
                false => Box::pin(async move { scenario().await.into_result() }),
            }
        }))
    }

    pub(crate) fn start(&self) -> Running {
        (self.0)()
    }
}

/// What the scenario makes, without a copy on the stack of whoever polls it.
#[inline(never)]
fn on_the_heap<Fut>(scenario: &impl Fn() -> Fut) -> Pin<Box<Fut>> {
    Box::pin(scenario())
}
