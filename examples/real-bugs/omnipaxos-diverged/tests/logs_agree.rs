//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn decided_logs_agree() {
    scenario::scenario().await
}
