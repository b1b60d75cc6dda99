//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test]
async fn whoever_waits_for_the_page_gets_it() {
    scenario::scenario().await
}
