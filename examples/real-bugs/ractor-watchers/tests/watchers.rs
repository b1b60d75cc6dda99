//! Fails in `buggy/`, passes in `fixed/`.

#[cct_executor::test]
async fn an_actor_stops_for_all_who_wait() {
    scenario::scenario().await
}
