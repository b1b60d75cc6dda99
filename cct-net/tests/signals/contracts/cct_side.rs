//! Ours.

pub(crate) use cct_executor::time::timeout;
pub(crate) use cct_net::signal;
pub(crate) use cct_net::signal::raise;

pub(crate) async fn pause() {
    cct_executor::time::sleep(std::time::Duration::from_millis(20)).await;
}
