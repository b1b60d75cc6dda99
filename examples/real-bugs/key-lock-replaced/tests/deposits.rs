//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test]
async fn no_deposit_is_lost() {
    scenario::scenario().await
}
