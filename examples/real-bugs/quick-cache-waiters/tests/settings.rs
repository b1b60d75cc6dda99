//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn whoever_reads_gets_the_old_value_or_the_new_one() {
    scenario::scenario().await
}
