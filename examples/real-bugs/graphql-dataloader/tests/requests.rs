//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn a_client_that_goes_away_does_no_harm() {
    scenario::scenario().await
}
