//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test(clock = "racing(5ms)")]
async fn no_item_is_lost() {
    scenario::scenario().await
}
