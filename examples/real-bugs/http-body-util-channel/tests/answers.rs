//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test]
async fn an_answer_is_whole() {
    scenario::scenario().await
}
