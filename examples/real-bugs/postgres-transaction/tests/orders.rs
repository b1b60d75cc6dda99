//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn what_was_written_outside_transactions_is_kept() {
    scenario::scenario().await
}
