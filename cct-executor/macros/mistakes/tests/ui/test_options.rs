//! Values that do not fit their option.

#[cct_executor::test(iterations = "500")]
async fn integer_in_quotes() {}

#[cct_executor::test(iterations = 0)]
async fn no_iterations() {}

#[cct_executor::test(iterations = -1)]
async fn negative() {}

#[cct_executor::test(iterations = 10_000 * 2)]
async fn computed() {}

#[cct_executor::test(max_tasks = 5_000_000_000)]
async fn too_many() {}

#[cct_executor::test(time_budget = 10)]
async fn duration_without_unit() {}

#[cct_executor::test(time_budget = "10 seconds")]
async fn unknown_unit() {}

#[cct_executor::test(max_time = "none")]
async fn unlimited_time() {}

#[cct_executor::test(strategy = pct)]
async fn strategy_without_quotes() {}

#[cct_executor::test(seed = "9f2c")]
async fn short_seed() {}

#[cct_executor::test(clock = "racing")]
async fn racing_without_slack() {}

#[cct_executor::test(granularity = "fine")]
async fn unknown_granularity() {}

#[cct_executor::test(isolation = "fiber")]
async fn unknown_isolation() {}

#[cct_executor::test(fail_on_leak = "true")]
async fn boolean_in_quotes() {}

#[cct_executor::test(flavor = "basic_scheduler")]
async fn unknown_flavor() {}

#[cct_executor::test(crate = "not a path")]
async fn not_a_path() {}

#[cct_executor::test(iterations = 100_000_000_000_000_000_000)]
async fn more_iterations_than_there_can_be() {}

fn main() {}
