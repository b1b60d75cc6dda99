//! Plain order is that of tokio's `current_thread` runtime: programs that are drawn note the same on both.
//!
//! What a test does in it is told as what it does on tokio; and a test that is run once runs in it.

#![expect(clippy::duplicate_mod, reason = "both sides compile the same programs")]

use cct_executor::Checker;
use on_tokio::programs::Shape;

#[path = "."]
mod on_tokio {
    use real_tokio as rt;

    pub(crate) mod programs;
}

#[path = "."]
mod on_ours {
    use cct_tokio as rt;

    pub(crate) mod programs;
}

fn on_tokio(number: u64, shape: Shape) -> String {
    let mut builder = real_tokio::runtime::Builder::new_current_thread();
    let runtime = builder.enable_all().start_paused(true).build();
    let runtime = runtime.expect("a runtime");
    runtime.block_on(on_tokio::programs::run(number, shape))
}

fn on_ours(number: u64, shape: Shape) -> String {
    let noted = std::sync::Arc::new(std::sync::Mutex::new(String::new()));
    let notes = noted.clone();
    let checker = Checker::new()
        .name("a program")
        .use_environment(false)
        .strategy_text("round-robin")
        .start_paused(true)
        .lasting_yields(true)
        .determinism_check(false);
    let report = checker.run(move || {
        let notes = notes.clone();
        async move {
            let Shape { yields, test_acts } = shape;
            let shape = on_ours::programs::Shape { yields, test_acts };
            let text = on_ours::programs::run(number, shape).await;
            *notes.lock().unwrap() = text;
        }
    });
    report.assert_passed();
    let noted = noted.lock().unwrap();
    noted.clone()
}

/// How many of these programs note something else.
fn differ(programs: std::ops::Range<u64>, shape: Shape) -> Vec<u64> {
    let differs = |number: &u64| on_tokio(*number, shape) != on_ours(*number, shape);
    programs.filter(differs).collect()
}

#[test]
fn where_nobody_yields() {
    for test_acts in [false, true] {
        let shape = Shape {
            yields: false,
            test_acts,
        };
        assert_eq!(differ(1..400, shape), [], "{shape:?}");
    }
}

#[test]
fn where_tasks_yield() {
    for test_acts in [false, true] {
        let shape = Shape {
            yields: true,
            test_acts,
        };
        assert_eq!(differ(1..400, shape), [], "{shape:?}");
    }
}
