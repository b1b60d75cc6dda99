//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn what_is_sent_arrives() {
    scenario::scenario().await
}
