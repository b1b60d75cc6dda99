//! Fails in `buggy/`, passes in `control/`.

#[cct_executor::test]
async fn whoever_has_got_all_letters_has_all_in_the_text() {
    scenario::scenario().await
}
