//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn members_probe_each_other() {
    scenario::scenario().await
}
