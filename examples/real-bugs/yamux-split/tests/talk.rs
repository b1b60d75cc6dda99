//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn both_sides_come_to_an_end() {
    scenario::scenario().await
}
