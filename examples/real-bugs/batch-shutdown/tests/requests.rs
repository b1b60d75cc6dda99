//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn no_request_is_lost() {
    scenario::scenario().await
}
