//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test(granularity = "sync")]
async fn a_connection_ends_once_nobody_uses_it() {
    scenario::scenario().await
}
