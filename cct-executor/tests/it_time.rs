//! Time, sets of tasks, task-locals and handles. What tokio has too is one text, run against tokio
//! on its paused clock and against `cct_executor` under many schedules.

use cct_executor::{Checker, Granularity};

/// Each test twice: `subject` is tokio in one of them and `cct_executor` in the other.
macro_rules! both {
    ($(async fn $name:ident() $body:block)*) => {
        mod with_tokio {
            #[allow(unused_imports)]
            use super::*;
            use ::tokio as subject;
            $(#[test] fn $name() { crate::on_tokio(async $body) })*
        }
        mod with_cct {
            #[allow(unused_imports)]
            use super::*;
            use ::cct_executor as subject;
            $(#[test] fn $name() { crate::on_cct(stringify!($name), || async $body) })*
        }
    };
}

fn on_tokio(scenario: impl Future<Output = ()>) {
    let mut builder = tokio::runtime::Builder::new_current_thread();
    builder
        .enable_time()
        .start_paused(true)
        .build()
        .expect("a runtime")
        .block_on(scenario);
}

fn checker(name: &str) -> Checker {
    let checker = Checker::new()
        .name(name)
        .use_environment(false)
        .iterations(60);
    checker.start_paused(true).fail_on_limit(true)
}

fn on_cct<F: Future<Output = ()> + 'static>(
    name: &str,
    scenario: impl Fn() -> F + Send + Sync + Clone + 'static,
) {
    for granularity in [Granularity::Await, Granularity::Op, Granularity::Sync] {
        for strategy in ["random", "round-robin", "pct:d=3"] {
            checker(name)
                .granularity(granularity)
                .strategy_text(strategy)
                .run(scenario.clone())
                .assert_passed();
        }
    }
}

/// What a panicking closure said.
fn panic_text<R>(f: impl FnOnce() -> R) -> String {
    let payload = std::panic::catch_unwind(std::panic::AssertUnwindSafe(f)).err();
    let payload = payload.expect("a panic");
    match payload.downcast_ref::<&str>() {
        Some(text) => (*text).to_owned(),
        None => payload.downcast_ref::<String>().expect("a text").clone(),
    }
}

/// Polls a future once, with the waker of the task.
async fn poll_once<F: Future + Unpin>(future: &mut F) -> std::task::Poll<F::Output> {
    std::future::poll_fn(|cx| std::task::Poll::Ready(std::pin::Pin::new(&mut *future).poll(cx)))
        .await
}

mod it_time {
    mod auto_traits;
    mod clock;
    mod handle;
    mod interval;
    mod join_set;
    mod local;
    mod sleep;
    mod timeout;
}
