//! `#[cct_executor::test]`, expanded against a crate that only writes down what it is asked for.

use std::cell::RefCell;

thread_local! {
    /// What the last test handed over.
    static LAST: RefCell<Option<Handed>> = const { RefCell::new(None) };
}

struct Handed {
    name: &'static str,
    manifest_dir: &'static str,
    file: &'static str,
    line: u32,
    should_panic: Option<&'static str>,
    calls: Vec<String>,
    passed: bool,
}

/// Stands in for `cct_executor`.
mod recorder {
    use super::{Handed, LAST};
    use std::fmt::Debug;
    use std::time::Duration;

    #[derive(Debug)]
    pub(super) struct Seed(#[allow(dead_code)] pub(super) u64);

    #[derive(Debug)]
    pub(super) enum Clock {
        Strict,
        Racing(#[allow(dead_code)] Duration),
        Adversarial,
    }

    #[derive(Debug)]
    pub(super) enum Granularity {
        Await,
        Op,
        Sync,
    }

    #[derive(Debug)]
    pub(super) enum Isolation {
        Thread,
        None,
    }

    pub(super) trait ScenarioResult {
        fn passed(&self) -> bool;
    }

    impl ScenarioResult for () {
        fn passed(&self) -> bool {
            true
        }
    }

    impl<E> ScenarioResult for Result<(), E> {
        fn passed(&self) -> bool {
            self.is_ok()
        }
    }

    #[derive(Default)]
    pub(super) struct Checker(Vec<String>);

    macro_rules! builder {
        ($($name:ident: $type:ty,)*) => {
            impl Checker {
                pub(super) fn new() -> Checker {
                    Checker::default()
                }

                $(pub(super) fn $name(mut self, value: $type) -> Checker {
                    self.0.push(format!("{} {:?}", stringify!($name), value));
                    self
                })*
            }
        };
    }

    builder! {
        iterations: u64,
        time_budget: Option<Duration>,
        strategy_text: &str,
        seed: Seed,
        workers: usize,
        clock: Clock,
        granularity: Granularity,
        max_steps: u64,
        max_tasks: u32,
        max_time: Duration,
        poll_limit: Duration,
        fail_on_leak: bool,
        fail_on_limit: bool,
        determinism_check: bool,
        await_check: bool,
        shrink: bool,
        isolation: Isolation,
        coop_budget: bool,
        spurious_polls: bool,
        partial_io: bool,
        lasting_yields: bool,
        late_timers: bool,
        start_paused: bool,
        keep_going: bool,
        learnt: &str,
    }

    pub(super) mod __private {
        use super::*;

        pub(in super::super) struct TestCase {
            pub(in super::super) name: &'static str,
            pub(in super::super) manifest_dir: &'static str,
            pub(in super::super) file: &'static str,
            pub(in super::super) line: u32,
            pub(in super::super) should_panic: Option<&'static str>,
            pub(in super::super) of_tokio: bool,
        }

        pub(in super::super) async fn current_thread<F: Future>(scenario: F) -> F::Output {
            scenario.await
        }

        pub(in super::super) async fn multi_thread<F: Future>(scenario: F) -> F::Output {
            scenario.await
        }

        pub(in super::super) async fn on_one_thread<F: Future>(scenario: F) -> F::Output {
            scenario.await
        }

        pub(in super::super) fn run_test<S, F>(case: TestCase, checker: Checker, scenario: S)
        where
            S: Fn() -> F,
            F: Future<Output: ScenarioResult>,
        {
            let TestCase {
                name,
                manifest_dir,
                file,
                line,
                should_panic,
                of_tokio,
            } = case;
            assert!(!of_tokio, "it is cct's own attribute");
            let passed = super::super::super::probe::run(scenario()).passed();
            let calls = checker.0;
            LAST.set(Some(Handed {
                name,
                manifest_dir,
                file,
                line,
                should_panic,
                calls,
                passed,
            }));
        }
    }
}

fn last() -> Handed {
    LAST.take().expect("no test ran")
}

mod subjects {
    use super::recorder;

    #[cct_executor::test(crate = recorder)]
    pub(super) async fn plain() {}

    #[cct_executor::test(crate = "super::recorder", iterations = 0x10, seed = 42)]
    async fn r#match() {}

    pub(super) fn call_match() {
        r#match();
    }

    /// A doc comment.
    #[cct_executor::test(
        iterations = 1_000,
        time_budget = "10s",
        strategy = "pct:d=3",
        seed = "0x9f2c",
        workers = 2,
        clock = "racing(5ms)",
        granularity = "sync",
        max_steps = 7,
        max_tasks = 8,
        max_time = "2h",
        poll_limit = "1m",
        fail_on_leak = true,
        fail_on_limit = false,
        determinism_check = false,
        await_check = false,
        shrink = false,
        isolation = "thread",
        coop_budget = true,
        spurious_polls = false,
        partial_io = true,
        lasting_yields = true,
        late_timers = true,
        start_paused = true,
        keep_going = true,
        learnt = "table",
        flavor = "current_thread",
        crate = recorder,
    )]
    #[allow(non_snake_case)]
    pub(super) async fn Everything() -> Result<(), std::num::ParseIntError> {
        #![allow(unused_variables)]
        let unused: u32 = "1".parse()?;
        async {}.await;
        Ok(())
    }

    #[cct_executor::test(crate = recorder, time_budget = "none", clock = "strict", isolation = "none")]
    pub(super) async fn without_budget() {}

    #[cct_executor::test(crate = recorder, flavor = "multi_thread", worker_threads = 4)]
    pub(super) async fn as_in_tokio() {}

    #[cct_executor::test(crate = recorder, flavor = "current_thread", clock = "adversarial")]
    pub(super) async fn one_thread() {}

    #[cct_executor::test(crate = recorder, flavor = "local", name = "a runtime")]
    pub(super) async fn local() {}

    #[cct_executor::test(crate = recorder, seed = "0123456789abcdef", granularity = "op")]
    pub(super) async fn fails() -> Result<(), String> {
        Err("at once".to_owned())
    }
}

#[test]
fn hands_over_name_and_place() {
    subjects::plain();
    let plain = last();
    assert_eq!(plain.name, concat!(module_path!(), "::subjects::plain"));
    assert_eq!(plain.manifest_dir, env!("CARGO_MANIFEST_DIR"));
    assert_eq!(plain.file, file!());
    assert_eq!(
        line_of(plain.line).trim(),
        "#[cct_executor::test(crate = recorder)]"
    );
    assert!(plain.calls.is_empty() && plain.should_panic.is_none());
    subjects::call_match();
    let raw = last();
    assert!(raw.name.ends_with("::subjects::r#match"));
    assert_eq!(raw.calls, ["iterations 16", "seed Seed(42)"]);
}

fn line_of(line: u32) -> &'static str {
    include_str!("attribute.rs")
        .lines()
        .nth(line as usize - 1)
        .expect("a line of this file")
}

#[test]
fn every_option_is_one_call() {
    subjects::Everything();
    let everything = last();
    assert!(everything.passed);
    assert_eq!(
        everything.calls,
        [
            "iterations 1000",
            "time_budget Some(10s)",
            "strategy_text \"pct:d=3\"",
            "seed Seed(40748)",
            "workers 2",
            "clock Racing(5ms)",
            "granularity Sync",
            "max_steps 7",
            "max_tasks 8",
            "max_time 7200s",
            "poll_limit 60s",
            "fail_on_leak true",
            "fail_on_limit false",
            "determinism_check false",
            "await_check false",
            "shrink false",
            "isolation Thread",
            "coop_budget true",
            "spurious_polls false",
            "partial_io true",
            "lasting_yields true",
            "late_timers true",
            "start_paused true",
            "keep_going true",
            "learnt \"table\"",
        ]
    );
}

#[test]
fn other_values() {
    subjects::without_budget();
    assert_eq!(
        last().calls,
        ["time_budget None", "clock Strict", "isolation None"]
    );
    subjects::as_in_tokio();
    assert!(last().calls.is_empty());
    subjects::one_thread();
    assert_eq!(last().calls, ["granularity Await", "clock Adversarial"]);
    subjects::local();
    assert_eq!(last().calls, ["granularity Await"]);
}

#[test]
fn an_error_is_handed_over() {
    subjects::fails();
    let fails = last();
    assert!(!fails.passed);
    assert_eq!(
        fails.calls,
        ["seed Seed(81985529216486895)", "granularity Op"]
    );
}
