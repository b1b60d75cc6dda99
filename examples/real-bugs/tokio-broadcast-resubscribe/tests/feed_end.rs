//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn every_viewer_sees_the_end() {
    scenario::scenario().await
}
