//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn every_accepted_job_is_done_at_shutdown() {
    scenario::scenario().await
}
