//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test(clock = "racing(10ms)")]
async fn one_fetch_at_a_time() {
    scenario::scenario().await
}
