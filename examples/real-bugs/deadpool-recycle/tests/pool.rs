//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn there_are_no_more_connections_than_allowed() {
    scenario::scenario().await
}
