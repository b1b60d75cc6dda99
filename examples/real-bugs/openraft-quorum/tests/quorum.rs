//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn committed_entries_are_on_a_quorum_of_disks() {
    scenario::scenario().await
}
