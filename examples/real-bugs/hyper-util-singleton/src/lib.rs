//! Callers that share one connection, as over HTTP/2.
//!
//! Whoever calls first connects, and the others wait for that connection. Connecting takes a while;
//! one of the callers has no patience, and gives up.
//!
//! The bug, in hyper-util 0.1.20: if the caller who connects is the one who gives up, the attempt is
//! dropped with it, and all who wait for it are told that it was canceled. Fixed in 0.1.21, where
//! another one goes on with it, by <https://github.com/hyperium/hyper-util/pull/299>.

use cct_executor::spawn;
use cct_executor::time::{sleep, timeout};
use hyper_util::client::pool::singleton::Singleton;
use std::convert::Infallible;
use std::future::poll_fn;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;
use tower_service::Service;

type Port = u16;
type Connection = u32;

/// Connects to a port of the one host.
#[derive(Clone)]
struct Connector;

impl Service<Port> for Connector {
    type Response = Connection;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Connection, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, _: Port) -> Self::Future {
        Box::pin(async {
            sleep(Duration::from_millis(10)).await;
            Ok(7)
        })
    }
}

/// Gets the connection, or none in time.
async fn call(mut pool: Singleton<Connector, Port>, patience: Duration) -> bool {
    let connect = async {
        poll_fn(|cx| pool.poll_ready(cx)).await?;
        pool.call(443).await
    };
    match timeout(patience, connect).await {
        Ok(connected) => {
            connected.expect("the host is up");
            true
        }
        Err(_) => false,
    }
}

/// Who has patience gets the connection.
pub async fn scenario() {
    let pool = Singleton::new(Connector);
    let [patient, also_patient, impatient] = [100, 100, 5]
        .map(Duration::from_millis)
        .map(|patience| spawn(call(pool.clone(), patience)));
    for caller in [patient, also_patient] {
        assert!(caller.await.expect("a caller does not panic"));
    }
    assert!(!impatient.await.expect("a caller does not panic"));
}
