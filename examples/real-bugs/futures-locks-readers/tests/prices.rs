//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test(clock = "racing(5ms)")]
async fn the_list_is_renewed_to_the_end() {
    scenario::scenario().await
}
