//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn who_gives_up_does_so_for_himself() {
    scenario::scenario().await
}
