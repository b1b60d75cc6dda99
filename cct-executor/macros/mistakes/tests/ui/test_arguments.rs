//! Options that do not exist, are given twice, or contradict each other.

#[cct_executor::test(iteration = 500)]
async fn unknown() {}

#[cct_executor::test(seed = 1, iterations = 5, seed = 2)]
async fn twice() {}

#[cct_executor::test(fail_on_leak)]
async fn no_value() {}

#[cct_executor::test("pct")]
async fn no_name() {}

#[cct_executor::test(iterations(500))]
async fn a_call() {}

#[cct_executor::test(iterations = )]
async fn nothing_after_equals() {}

#[cct_executor::test(iterations = 5 workers = 2)]
async fn no_comma() {}

#[cct_executor::test(flavor = "current_thread", worker_threads = 2)]
async fn workers_of_one_thread() {}

#[cct_executor::test(flavor = "multi_thread", start_paused = true)]
async fn paused_threads() {}

#[cct_executor::test(iterations = 0, clock = "fast", max_time = "1d")]
async fn several_at_once(parameter: u32) {}

fn main() {}
